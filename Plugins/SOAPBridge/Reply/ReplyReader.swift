internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// Feeds a reply's bytes through the parser into the reply machine.
///
/// A reply with attachments (MTOM, or SOAP with Attachments) is cut into its parts first; those beside the envelope are
/// kept until its records ask for them. Not thread-safe.
final class ReplyReader {
    private let sink: Sink
    private let parser: XMLPushParser
    private var isAtStart = true
    private var splitter: MultipartSplitter?
    private var part = Part.none
    private let start: String?
    /// The character set that the Content-Type names.
    private let charset: String?
    private var hasRoot = false
    private var forgiven = Forgiveness()

    private final class Sink: XMLEventSink {
        /// In memory of its own: a class's stored property costs a check of exclusive access at each event.
        private let state: UnsafeMutablePointer<ReplyMachine>
        var writer: RecordBatchWriter

        var machine: ReplyMachine {
            _read { yield state.pointee }
            _modify { yield &state.pointee }
        }

        init(machine: ReplyMachine, writer: RecordBatchWriter) {
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
            // Before the writer is looked at, which costs as much as the end of a member.
            if state.pointee.endMember() { return }
            try state.pointee.endElement(writer)
        }
        override func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
            try state.pointee.characters(bytes)
        }
    }

    /// What the bytes of a multipart reply belong to now.
    private enum Part {
        case none, root
        case attachment(names: [String], start: Int, decoder: Base64Decoder?)
    }

    /// - Parameter contentType: Of the reply; nil for one without.
    init(plan: ReplyPlan, contentType: String? = nil) throws(BridgeError) {
        sink = Sink(machine: ReplyMachine(plan: plan), writer: RecordBatchWriter())
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

    /// How many records came so far.
    var recordCount: Int { sink.machine.recordCount }
    /// The number of all records, once the reply told it.
    var total: Int64? { sink.machine.total }
    /// Of the records so far: see ``ReplyMachine/fingerprint``.
    var fingerprint: UInt64 { sink.machine.fingerprint }
    /// The fault that the reply is, once it came.
    var fault: SOAPFault? { sink.machine.fault }
    /// A value of the reply that paging needs, once it came.
    func captured(_ capture: ReplyPlan.Capture) -> String? { sink.machine.captured(capture) }

    /// How many names of the records' path were found so far, from its beginning.
    var recordPathMatch: Int { sink.machine.recordPathMatch }

    /// The first element that stands where records should, and that the schema lacks.
    var stranger: String? {
        let machine = sink.machine
        return machine.stranger.map { machine.names.name($0) }
    }

    /// How many rejected records wait to be taken.
    var rejectedCount: Int { sink.machine.rejected.count }

    /// Takes the records that could not be represented.
    func takeRejected() -> [Page.Rejected] {
        defer { sink.machine.rejected = [] }
        return sink.machine.rejected
    }

    /// What the reply did that it should not, and that was read all the same.
    var forgiveness: Forgiveness {
        var all = forgiven
        all.merge(sink.machine.emitter.forgiveness(sink.machine.names))
        return all
    }

    /// Notes something about the whole reply.
    func forgive(_ rule: Forgiveness.Rule, _ name: String) { forgiven.note(rule, name) }

    /// Parses the next bytes and writes the records that they end.
    func feed(_ bytes: ArraySlice<UInt8>, into writer: RecordBatchWriter) throws(BridgeError) {
        sink.writer = writer
        guard splitter != nil else { return try parse(bytes) }
        let events = try splitter?.feed(bytes) ?? []
        for event in events { try handle(event) }
    }

    private func parse(_ bytes: ArraySlice<UInt8>) throws(BridgeError) {
        guard isAtStart else { return try parser.feed(bytes) }
        // Scripts like to print a line before the XML declaration, which XML forbids.
        let start = bytes.drop(while: LexicalValue.isSpace)
        if start.isEmpty { return }
        isAtStart = false
        // What the document says of itself counts more (RFC 7303, section 3, says otherwise; servers do not know).
        if let charset, !["utf-8", "utf8", "us-ascii"].contains(charset.lowercased()),
            !String(decoding: start.prefix(200), as: UTF8.self).contains("encoding="), start.first ?? 0 < 0x80,
            !start.prefix(2).contains(0)
        {
            parser.setEncoding(charset)
        }
        try parser.feed(start)
    }

    /// Says that the reply is over; records that waited for its end come by ``drain(into:limit:)``.
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

    /// Whether records wait that refer to something further down the reply.
    var hasPending: Bool { sink.machine.deferred.hasPending }

    /// Writes up to `limit` of the records that waited.
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
                if decoder != nil {
                    let decoded = decoder?.feed(bytes) ?? []
                    part = .attachment(names: names, start: start, decoder: decoder)
                    try sink.machine.deferred.append(decoded)
                } else {
                    try sink.machine.deferred.append(bytes)
                }
            case .none: break
            }
        case .endOfPart:
            if case .attachment(let names, let start, _) = part {
                sink.machine.deferred.endPart(names, start: start)
            }
            part = .none
        }
    }

    private func begin(_ fields: [String: String]) throws(BridgeError) -> Part {
        let names = AttachmentName.names(fields)
        // The first part, where the message does not say which (RFC 2387, section 3.2).
        let isRoot = !hasRoot && (start.map { names.contains($0) } ?? true)
        if isRoot {
            hasRoot = true
            let encoding = fields["content-transfer-encoding"]?.lowercased() ?? "binary"
            guard ["binary", "8bit", "7bit"].contains(encoding) else {
                throw BridgeError(.unsupported, "the reply's envelope is encoded as \(encoding), which is not read")
            }
            return .root
        }
        let isBase64 = fields["content-transfer-encoding"]?.lowercased() == "base64"
        return .attachment(
            names: names, start: sink.machine.deferred.beginPart(), decoder: isBase64 ? Base64Decoder() : nil)
    }
}
