internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import RowFormats

/// Reads a text whose rows are the records, such as CSV or XML, while it arrives.
final class TableReader {
    /// A part of a reply's rows.
    typealias Part = (hasMore: Bool, rejected: [Page.Rejected])

    private let file: ReplyFile
    private let table: TableRule
    private let reader: RowReader
    private let sink: RowSink
    private let report: Report
    let response: HTTPResponse
    private let asked: String
    let location: String
    private var hasBegun = false

    /// The number of rows so far, with those in quarantine.
    var count: Int { sink.total }

    /// What the document has outside its rows; known at its end.
    var surroundings: Surroundings { sink.surroundings }

    /// The bytes that have arrived; nil if they are not counted, or do not yet reach those of an earlier reply.
    var mark: ByteMark? { file.expected == nil ? file.mark : nil }

    /// Whether the text shows by itself where it ends; known once it was begun.
    var endsItself: Bool { table.endsItself || file.isPacked }

    /// The maximum number of rejected rows per batch; the rest follow in the next one.
    private static let maxRejected = 5000
    /// The number of bytes of another reply that are read for its message.
    private static let messageBytes = 1 << 16

    /// Collects what the reader says about the rows.
    private final class Report: RowReport {
        var warnings: [String] = []
        var rejected: [Page.Rejected] = []
        private let redactor: HTTPRedactor

        init(_ redactor: HTTPRedactor) { self.redactor = redactor }

        func warn(_ sentence: String) { warnings.append(sentence) }

        func reject(_ reason: String, representation: String) {
            let text = String(redactor.clean(representation).prefix(4000))
            rejected.append(Page.Rejected(index: nil, reason: redactor.clean(reason), representation: text))
        }
    }

    /// - Parameters:
    ///   - name: The text's name in records and messages.
    ///   - fields: Members to add to each record that has none of that name.
    ///   - keys: The paths of the key in a record; see ``FetchRequest/keyPaths``.
    ///   - read: The members of a record that the host reads; nil for all.
    ///   - skipped: The number of rows that an earlier fetch returned.
    ///   - asked: The request, for messages.
    ///   - location: The place of the text, for messages; nil for the reply's.
    init(
        _ file: ReplyFile, _ response: HTTPResponse, _ table: TableRule, name: String,
        fields: [(name: String, value: String)], keys: [String] = [], read: Set<String>?, limits: RowLimits,
        skipping skipped: Int = 0, asked: String, location: String? = nil
    ) throws {
        self.file = file
        self.table = table
        self.response = response
        self.asked = asked
        self.location = location ?? response.location
        report = Report(response.redactor)
        sink = RowSink(
            response.redactor.clean(name), defaults: fields, keys: keys, fields: read, skipping: skipped,
            writer: RecordBatchWriter(), report: report)
        let charset = Self.known(response.charset)
        if table.encoding == nil, let charset {
            do {
                _ = try TextDecoder(encoding: charset)
            } catch {
                throw BridgeError(
                    .malformed, "\(asked): the reply's charset \"\(charset)\" is not known",
                    remedy: "set encoding", location: self.location)
            }
        }
        reader = RowReader(
            file, as: table.format, encoding: table.encoding ?? charset, undeclared: charset, limits: limits,
            into: sink)
    }

    /// Returns a charset that is not UTF-8 or a part of it.
    private static func known(_ charset: String?) -> String? {
        charset.flatMap { ["utf-8", "utf8", "us-ascii", "ascii"].contains($0) ? nil : $0 }
    }

    /// Writes the next records, and returns whether there may be more.
    ///
    /// Rows that an earlier fetch returned, and an archive that has to arrive as a whole, may take longer than the host
    /// waits for a call: then the part is empty.
    ///
    /// - Parameters:
    ///   - rows: About how many to write at most.
    ///   - time: After which time to return what there is.
    /// - Throws: ``BridgeError`` for a reply of another form, and for one that breaks its own.
    func read(
        into writer: RecordBatchWriter, rows: Int = .max, within time: Duration = RowReader.callTime
    ) throws -> Part {
        let end = ContinuousClock.now + time
        if !hasBegun {
            guard try file.begin(until: end) else { return (true, []) }
            try checkForm()
            hasBegun = true
        }
        var hasMore = true
        do {
            repeat {
                hasMore = try reader.advance(into: writer)
            } while hasMore && writer.byteCount < ReplyLimits.batchBytes && writer.recordCount < rows
                && report.rejected.count < Self.maxRejected && ContinuousClock.now < end
        } catch let fault as FileFault {
            throw malformed("the text \(response.redactor.clean(fault.reason))", fault.remedy)
        }
        // A table without a header, and a document without the elements: to take them for an empty listing would
        // delete all rows.
        if let sentence = report.warnings.first {
            throw malformed(
                response.redactor.clean(sentence),
                "check the request, format and records; if that means that there are no records, let the API answer 204"
            )
        }
        defer { report.rejected = [] }
        return (hasMore, report.rejected)
    }

    private func malformed(_ sentence: String, _ remedy: String?) -> BridgeError {
        BridgeError(.malformed, "\(asked): \(sentence)", remedy: remedy, location: location)
    }

    // MARK: Replies of Another Form

    /// Refuses a login page or an error in JSON in place of the table.
    private func checkForm() throws {
        let start = try file.peek()
        guard !start.isEmpty else {
            if case .csv(let dialect) = table.format, case .firstRow = dialect.header {
                throw malformed(
                    "the reply is empty where \(table.name) was expected",
                    "if that means that there are no records, let the API answer 204, or name the columns in header")
            }
            return
        }
        if let first = start.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }),
            first == UInt8(ascii: "<"), isPage(start)
        {
            throw BridgeError(
                .malformed, "\(asked): the reply is a web page where \(table.name) was expected",
                remedy: "check url, path and auth", location: location,
                remote: RemoteMessage.make(try beginning(), mediaType: response.mediaType, redactor: response.redactor))
        }
        if table.isForeign, JSONStart.isLikely(start) { throw try unexpectedJSON() }
    }

    private func isPage(_ start: [UInt8]) -> Bool {
        let isDeclared = String(decoding: start.prefix(16), as: UTF8.self).contains("<?xml")
        return RemoteMessage.isPage(start, mediaType: isDeclared ? nil : response.mediaType)
    }

    private func beginning() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < Self.messageBytes, let piece = try file.read() { bytes += piece }
        return Array(bytes.prefix(Self.messageBytes))
    }

    private func unexpectedJSON() throws -> BridgeError {
        let body = HTTPExchange.PaddedBody(try beginning())
        let sentence = "\(asked): the reply is JSON where \(table.name) was expected"
        guard let survey = ReplySurvey(body), let failure = DisguisedFailure(survey) else {
            return BridgeError(
                .malformed, sentence, remedy: "check the request, or set format to json", location: location,
                remote: RemoteMessage.make(
                    Array(body.bytes.prefix(body.count)), mediaType: response.mediaType, redactor: response.redactor))
        }
        let said = failure.error(asked: asked, response: response, body: body)
        return BridgeError(
            .remote, "\(sentence): \(failure.path) is \(failure.value)",
            remedy: "if that means that there are no records, say so under responses: "
                + "{when: {path: \(failure.path)}, action: empty}",
            location: location, remote: said.remote)
    }
}
