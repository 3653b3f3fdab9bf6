internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// Feeds a reply's bytes through the parser to the reply machine.
///
/// A reply with attachments (MTOM or SOAP with Attachments) is first split into its parts; the parts beside the
/// envelope are stored until records need them. Not thread-safe.
final class ReplyReader {
    private let sink: Sink
    private let parser: XMLPushParser
    private var isAtStart = true
    /// The first bytes of a reply in UTF-16, until they reveal its byte order.
    private var opening: [UInt8] = []
    private var splitter: MultipartSplitter?
    private var part = Part.none
    private let start: String?
    /// The character set of the Content-Type.
    private let charset: String?
    private var hasRoot = false
    private var tolerated = ToleratedDeviations()

    private final class Sink: XMLEventSink {
        /// Allocated separately: a class's stored property costs an exclusivity check at each event.
        private let state: UnsafeMutablePointer<ReplyMachine>
        var writer: RecordBatchWriter

        var machine: ReplyMachine {
            _read { yield state.pointee }
            _modify { yield &state.pointee }
        }

        init(machine: consuming ReplyMachine, writer: RecordBatchWriter) {
            state = .allocate(capacity: 1)
            state.initialize(to: machine)
            self.writer = writer
        }

        deinit {
            state.deinitialize(count: 1)
            state.deallocate()
        }

        override func startElement(_ element: XMLStartElement) throws(BridgeError) {
            try state.pointee.startElement(element)
        }
        override func endElement() throws(BridgeError) {
            // Before the access to the writer, which costs as much as the end of a member.
            if state.pointee.endMember() { return }
            try state.pointee.endElement(writer)
        }
        override func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
            try state.pointee.characters(bytes)
        }
    }

    private let recordBytes: Int

    /// The destination of the current bytes of a multipart reply.
    private enum Part {
        case none, root
        case attachment(names: [String], start: Int, decoder: PartDecoder)
    }

    /// - Parameters:
    ///   - contentType: The reply's Content-Type; nil if it has none.
    ///   - recordBytes: The memory limit of one record: the option `max_record_bytes`.
    ///   - isExact: Whether records keep everything needed to send them back: see ``RecordEmitter/isExact``.
    init(
        plan: ReplyPlan, contentType: String? = nil, recordBytes: Int = RecordTree.Limits.record, isExact: Bool = false
    ) throws(BridgeError) {
        self.recordBytes = recordBytes
        sink = Sink(
            machine: ReplyMachine(plan: plan, recordBytes: recordBytes, isExact: isExact), writer: RecordBatchWriter())
        parser = try XMLPushParser(sink: sink, subject: "the reply")
        let type = contentType.map(MediaType.init)
        charset = type?.parameters["charset"]
        if let type, type.name.hasPrefix("multipart/") {
            guard let boundary = type.parameters["boundary"], !boundary.isEmpty else {
                throw BridgeError(.malformed, "the reply is \(type.name) without a boundary")
            }
            splitter = MultipartSplitter(boundary: boundary)
            start = type.parameters["start"].map { AttachmentName.names(["content-id": $0])[0] }
        } else {
            start = nil
        }
    }

    /// The number of records so far.
    var recordCount: Int { sink.machine.recordCount }
    /// The number of elements in the list of the records so far that are not records.
    var otherCount: Int { sink.machine.otherCount }
    /// The total number of records, once the reply has given it.
    var total: Int64? { sink.machine.total }
    /// The hash of the records so far: see ``ReplyMachine/fingerprint``.
    var fingerprint: UInt64 { sink.machine.fingerprint }
    /// The reply's fault, once read.
    var fault: SOAPFault? { sink.machine.fault }
    /// The sign of failure in a reply other than a fault, in words; known once it was read.
    ///
    /// Beside records, a code that is not known need not be that of a failure.
    var failureSign: String? {
        FailureSigns.sign(
            success: captured(.success), errors: recordCount == 0 ? values([.error, .detail, .message]) : [],
            message: captured(.message), sink.machine.plan.recordWords)
    }

    /// The sign of failure in content that the schema need not describe, in words.
    ///
    /// Beside records, only a part of the reply that failed and has none is one.
    var notedFailure: String? {
        if let part = sink.machine.failedPart { return part.words }
        guard recordCount == 0,
            let failure = sink.machine.failure ?? notice.flatMap({ $0.weight == .failure ? $0 : nil })
        else { return nil }
        guard let message = captured(.message), message != failure.text else { return failure.words }
        return "\(failure.words): \(message.prefix(300))"
    }

    /// Reads what the reply to a change says outside the object.
    func judgeBody() { sink.machine.judgesBody = true }

    /// The words in which the reply to a change says that it was not carried out, and its message.
    var refusal: (words: String, message: String?)? { sink.machine.refusal.map { ($0.words, sink.machine.message) } }

    /// The words in which the reply to a change says that something failed, and its message: the change may have been
    /// carried out.
    var doubt: (words: String, message: String?)? { sink.machine.doubt.map { ($0.words, sink.machine.message) } }

    /// A flag or a state that says that more records follow, in content that the schema need not describe.
    var promise: ReplyNotice? { sink.machine.promise }

    /// The position of a next page, in content that the schema need not describe.
    var nextPosition: ReplyNotice? { sink.machine.nextPosition }

    /// Whether a flag says that no more records follow, in content that the schema need not describe.
    var deniesMore: Bool { sink.machine.deniesMore }

    /// Content that may be the reason why a reply has no records.
    var notice: ReplyNotice? { sink.machine.notice }

    /// Whether the reply says that it did not fail.
    var saysSuccess: Bool {
        sink.machine.noticesSuccess
            || FailureSigns.saysSuccess(
                captured(.success), errors: values([.error, .detail]), sink.machine.plan.recordWords)
    }

    /// Returns values that may be those of an error, with the names of their elements or attributes.
    private func values(_ captures: [ReplyPlan.Capture]) -> [(name: String, value: String)] {
        captures.compactMap { capture in
            guard let value = captured(capture), let name = sink.machine.plan.captures[capture.rawValue].last else {
                return nil
            }
            return (sink.machine.names.name(name), value)
        }
    }

    /// Returns a value of the reply that paging needs, once read.
    func captured(_ capture: ReplyPlan.Capture) -> String? { sink.machine.captured(capture) }

    /// The longest prefix of the records' path found so far, in names.
    var recordPathMatch: Int { sink.machine.recordPathMatch }

    /// The name of the first element on the records' path that the reply lacks; nil if it has all above a record.
    var missingElement: String? {
        let path = sink.machine.plan.recordPath
        guard recordCount == 0, recordPathMatch < path.count - 1 else { return nil }
        return sink.machine.names.name(path[recordPathMatch])
    }

    /// The number of names on the records' path that the reply lacks.
    var missingLevels: Int { sink.machine.plan.recordPath.count - recordPathMatch }

    /// The first element in place of the records that the schema lacks.
    var unexpectedElement: String? {
        sink.machine.unexpectedElement.map { sink.machine.names.name($0) }
    }

    /// The first element in the list that is neither a record nor in the schema but may be one, and the records' name.
    var strayElement: (name: String, record: String, isDeclared: Bool)? {
        guard let stray = sink.machine.stray else { return nil }
        let names = sink.machine.names
        return (names.name(stray.name), names.name(stray.record), stray.record == sink.machine.plan.recordPath.last)
    }

    /// The body's element if it is xsi:nil and the records would be inside.
    var nilElement: String? { sink.machine.nilElement.map { sink.machine.names.name($0) } }

    /// The number of rejected records to take.
    var rejectedCount: Int { sink.machine.rejected.count }

    /// Removes and returns the records that could not be represented.
    func takeRejected() -> [Page.Rejected] {
        defer { sink.machine.rejected = [] }
        return sink.machine.rejected
    }

    /// The deviations of the reply that were tolerated.
    var deviations: ToleratedDeviations {
        var all = tolerated
        all.merge(sink.machine.emitter.deviations(sink.machine.names))
        return all
    }

    /// Counts a deviation of the whole reply.
    func tolerate(_ rule: ToleratedDeviations.Rule, _ name: String) { tolerated.note(rule, name) }

    /// Parses the next bytes and writes the records they complete.
    func feed(_ bytes: ArraySlice<UInt8>, into writer: RecordBatchWriter) throws(BridgeError) {
        // The tree of a record has the limit of one; a batch has many.
        writer.limit(bytes: RecordBatchWriter.batchBytes(recordBytes: recordBytes))
        sink.writer = writer
        guard splitter != nil else { return try parse(bytes) }
        let events = try splitter?.feed(bytes) ?? []
        for event in events { try handle(event) }
    }

    private func parse(_ bytes: ArraySlice<UInt8>) throws(BridgeError) {
        guard isAtStart else { return try parser.feed(bytes) }
        if charset?.lowercased().hasPrefix("utf-16") == true { return try parseWide(bytes) }
        // Scripts often print a line before the XML declaration, which XML forbids.
        let start = bytes.drop(while: XMLSpace.contains)
        if start.isEmpty { return }
        isAtStart = false
        // The document's own declaration takes precedence. RFC 7303, section 3, says otherwise, but servers do not
        // follow it.
        if let charset, !["utf-8", "utf8", "us-ascii"].contains(charset.lowercased()),
            !String(decoding: start.prefix(200), as: UTF8.self).contains("encoding="), start.first ?? 0 < 0x80,
            !start.prefix(2).contains(0)
        {
            parser.setEncoding(charset)
        }
        try parser.feed(start)
    }

    /// Parses the start of a reply declared as UTF-16.
    ///
    /// The byte order mark gives the order; without one, the position of the zeros does.
    private func parseWide(_ bytes: ArraySlice<UInt8>) throws(BridgeError) {
        opening += bytes
        while opening.count >= 2, Self.isWideSpace(opening) { opening.removeFirst(2) }
        guard opening.count >= 4 else { return }
        isAtStart = false
        let hasMark = opening.starts(with: [0xFF, 0xFE]) || opening.starts(with: [0xFE, 0xFF])
        if !hasMark, opening[0] == 0 || opening[1] == 0 {
            parser.setEncoding(opening[0] == 0 ? "UTF-16BE" : "UTF-16LE")
        }
        try parser.feed(opening[...])
        opening = []
    }

    private static func isWideSpace(_ bytes: [UInt8]) -> Bool {
        bytes[0] == 0 && XMLSpace.contains(bytes[1]) || bytes[1] == 0 && XMLSpace.contains(bytes[0])
    }

    /// Finishes the reply; ``drain(into:limit:bytes:)`` then writes the pending records.
    func finish() throws(BridgeError) {
        if let splitter {
            guard hasRoot else { throw BridgeError(.malformed, "the multipart reply has no part with an envelope") }
            guard splitter.isOver else {
                throw BridgeError(.malformed, "the multipart reply breaks off: its last boundary is missing")
            }
        }
        guard !isAtStart else { throw BridgeError(.malformed, "the reply is empty") }
        try parser.finish()
        try sink.machine.finish()
    }

    /// Whether there are pending records, which referred to a later part of the reply.
    var hasPending: Bool { sink.machine.deferred.hasPending }

    /// Writes up to `limit` pending records.
    func drain(into writer: RecordBatchWriter, limit: Int, bytes: Int) throws(BridgeError) {
        for _ in 0..<limit where writer.byteCount < bytes {
            guard try sink.machine.writePending(writer) else { return }
        }
    }

    // MARK: Parts

    private func handle(_ event: MultipartSplitter.Event) throws(BridgeError) {
        switch event {
        case .part(let fields): part = try begin(fields)
        case .content(let bytes):
            switch part {
            case .root: try parse(bytes[...])
            case .attachment(let names, let start, var decoder):
                let decoded = decoder.feed(bytes)
                part = .attachment(names: names, start: start, decoder: decoder)
                try sink.machine.deferred.append(decoded)
            case .none: break
            }
        case .endOfPart:
            if case .attachment(let names, let start, let decoder) = part {
                try sink.machine.deferred.append(decoder.finish())
                sink.machine.deferred.endPart(names, start: start)
            }
            part = .none
        }
    }

    private func begin(_ fields: [String: String]) throws(BridgeError) -> Part {
        let names = AttachmentName.names(fields)
        // The first part, unless the message names another (RFC 2387, section 3.2).
        let isRoot = !hasRoot && (start.map { names.contains($0) } ?? true)
        if isRoot {
            hasRoot = true
            let encoding = fields["content-transfer-encoding"]?.lowercased() ?? "binary"
            guard ["binary", "8bit", "7bit"].contains(encoding) else {
                throw BridgeError(
                    .unsupported, "the reply's envelope is encoded as \(encoding), which is not supported")
            }
            return .root
        }
        let coding = fields["content-encoding"]?.lowercased() ?? ""
        let isCompressed = !coding.isEmpty && coding != "identity"
        guard !isCompressed, let decoder = PartDecoder(fields) else {
            let encoding = isCompressed ? coding : fields["content-transfer-encoding"] ?? ""
            sink.machine.deferred.refusePart(names, encoding: encoding)
            return .none
        }
        return .attachment(names: names, start: sink.machine.deferred.beginPart(), decoder: decoder)
    }
}
