internal import BridgeHTTP
internal import BridgeKit
internal import CSimdJSON
internal import RecordBatch

/// Reads the JSON of pages, one after the other, into batches.
final class PageReader {
    private let reader: OpaquePointer
    private let section: RESTSection
    private var next: UInt32?
    private var total: UInt32?
    private var pages: UInt32?
    private var body = HTTPExchange.PaddedBody.empty
    /// For messages: what is being read, and where it came from.
    private var asked = ""
    private var response: HTTPResponse?

    /// About how large a batch gets before a page is handed out in several.
    static let batchBytes = 4 << 20

    init(_ section: RESTSection) throws {
        guard let reader = bmo_json_reader_new() else { throw BridgeError(.internal, "no memory for a JSON reader") }
        self.reader = reader
        self.section = section
        _ = (section.records ?? .root).add(to: reader)
        next = section.paging.next?.add(to: reader)
        total = section.paging.total?.add(to: reader)
        pages = section.paging.pages?.add(to: reader)
    }

    deinit { bmo_json_reader_free(reader) }

    /// Begins a page.
    func begin(_ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, asked: String) throws {
        self.body = body
        self.response = response
        self.asked = asked
        let isPage = RemoteWords.isPage(Array(body.bytes.prefix(min(body.count, 512))), mediaType: response.mediaType)
        let isAccepted = body.bytes.withUnsafeBufferPointer {
            bmo_json_begin(reader, $0.baseAddress, body.count, section.records == nil ? 1 : 0) != 0
        }
        if !isAccepted || isPage { throw failure(isPage: isPage) }
    }

    /// Writes the page's next records; whether there are more.
    func read(into writer: RecordBatchWriter) throws -> (hasMore: Bool, rejected: [Page.Rejected]) {
        let status = body.bytes.withUnsafeBufferPointer { _ in
            bmo_json_next(reader, writer.raw, Self.batchBytes)
        }
        if status == BMO_JSON_FAILED { throw failure(isPage: false) }
        let rejected = (0..<bmo_json_rejected_count(reader)).map { index in
            var record = bmo_json_rejected()
            bmo_json_rejected_at(reader, index, &record)
            let end = min(record.offset + record.length, body.count)
            let text = String(decoding: body.bytes[record.offset..<end].prefix(4000), as: UTF8.self)
            return Page.Rejected(
                index: Int(record.index), reason: String(cString: record.reason), representation: text)
        }
        return (status == BMO_JSON_MORE, rejected)
    }

    /// What the page says about the walk; known when it was read to its end.
    func facts() -> PageFacts {
        var facts = PageFacts()
        facts.count = Int(bmo_json_records(reader))
        facts.total = total.flatMap(integer)
        facts.pages = pages.flatMap(integer)
        if let next { facts.next = nextValue(next) }
        if case .linkHeader = section.paging.style, let url = LinkHeader.next(response?.all("link") ?? []) {
            facts.next = .value(url)
        }
        return facts
    }

    /// Gives the page's memory back.
    func end() { body = .empty }

    private func value(_ path: UInt32) -> (kind: bmo_json_kind, text: String) {
        var value = bmo_json_value()
        bmo_json_value_at(reader, path, &value)
        let bytes = UnsafeRawBufferPointer(start: value.text, count: value.length)
        return (value.kind, String(decoding: bytes, as: UTF8.self))
    }

    private func integer(_ path: UInt32) -> Int? {
        let value = value(path)
        guard value.kind == BMO_JSON_NUMBER || value.kind == BMO_JSON_TEXT, let number = Int(value.text) else {
            return nil
        }
        // More than any listing has, and little enough to count with.
        return min(max(number, 0), 1 << 50)
    }

    private func nextValue(_ path: UInt32) -> PageFacts.NextValue {
        let value = value(path)
        switch value.kind {
        case BMO_JSON_MISSING: return .missing
        case BMO_JSON_NULL, BMO_JSON_FALSE: return .none
        case BMO_JSON_TEXT: return value.text.isEmpty ? .none : .value(value.text)
        case BMO_JSON_NUMBER: return .value(value.text)
        case BMO_JSON_TRUE: return .unusable("true")
        case BMO_JSON_ARRAY: return .unusable("an array")
        default: return .unusable("an object")
        }
    }

    private func failure(isPage: Bool) -> BridgeError {
        let location = response?.location
        if isPage {
            let prefix = Array(body.bytes.prefix(min(body.count, 65_536)))
            let words = RemoteWords.make(prefix, mediaType: response?.mediaType)
            let kind = response?.header("content-type") ?? "no content type"
            return BridgeError(
                .malformed, "\(asked): the server sent a web page (\(kind)) where JSON was expected",
                remedy: "check url, path and auth", location: location,
                remote: words.flatMap { text in response?.redactor.clean(text) })
        }
        var error = bmo_json_error()
        bmo_json_failure(reader, &error)
        let message = String(cString: error.message)
        var code = BridgeError.Code.malformed
        var remedy: String?
        var what = "\(asked) is not JSON: \(message), at byte \(error.offset)"
        var remote = excerpt(error.offset)
        switch error.fault {
        case BMO_JSON_EMPTY:
            what = "\(asked): the reply is empty where JSON was expected"
            remedy = "an API without records should answer 204, or an empty list"
            remote = nil
        case BMO_JSON_TOO_DEEP, BMO_JSON_TOO_LARGE, BMO_JSON_MEMORY:
            code = .limit
            what = "\(asked): \(message), at byte \(error.offset)"
        case BMO_JSON_NO_RECORDS, BMO_JSON_NOT_RECORDS, BMO_JSON_AMBIGUOUS:
            let path = section.records?.description ?? "$"
            let found = String(cString: bmo_json_arrays(reader))
            code = error.fault == BMO_JSON_AMBIGUOUS ? .configuration : .malformed
            what =
                switch error.fault {
                case BMO_JSON_NO_RECORDS: "\(asked): the reply has nothing at \(path)"
                case BMO_JSON_NOT_RECORDS: "\(asked): what stands at \(path) is no object or array"
                default: "\(asked): the reply is an object that holds lists, and records does not say which to take"
                }
            remedy = found.isEmpty ? "check records" : "set records to one of: \(found)"
            if error.fault == BMO_JSON_AMBIGUOUS { remedy? += "; or to $ where the object itself is the record" }
            remote = nil
        default: break
        }
        return BridgeError(code, what, remedy: remedy, location: location, remote: remote)
    }

    /// Some text around a byte, without secrets.
    private func excerpt(_ offset: Int) -> String? {
        let from = max(0, min(offset, body.count) - 24)
        let bytes = body.bytes[from..<min(body.count, from + 48)]
        guard !bytes.isEmpty else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return response?.redactor.clean("... \(text) ...")
    }
}
