internal import BridgeKit
internal import RecordBatch

/// Feeds a reply's bytes through the parser into the reply machine.
///
/// Not thread-safe.
final class ReplyReader {
    private let sink: Sink
    private let parser: XMLPushParser
    private var isAtStart = true

    private final class Sink: XMLEventSink {
        var machine: ReplyMachine
        var writer: RecordBatchWriter

        init(machine: ReplyMachine, writer: RecordBatchWriter) {
            self.machine = machine
            self.writer = writer
        }

        override func startElement(_ element: XMLStartElement) throws(BridgeError) {
            try machine.startElement(element)
        }
        override func endElement() throws(BridgeError) { try machine.endElement(writer) }
        override func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
            try machine.characters(bytes)
        }
    }

    init(plan: ReplyPlan) throws(BridgeError) {
        sink = Sink(machine: ReplyMachine(plan: plan), writer: RecordBatchWriter())
        parser = try XMLPushParser(sink: sink, subject: "the reply")
    }

    /// How many records came so far.
    var recordCount: Int { sink.machine.recordCount }
    /// The number of all records, once the reply told it.
    var total: Int64? { sink.machine.total }
    /// Of the records so far: see ``ReplyMachine/fingerprint``.
    var fingerprint: UInt64 { sink.machine.fingerprint }
    /// The fault that the reply is, once it came.
    var fault: SOAPFault? { sink.machine.fault }

    /// How many rejected records wait to be taken.
    var rejectedCount: Int { sink.machine.rejected.count }

    /// Takes the records that could not be represented.
    func takeRejected() -> [Page.Rejected] {
        defer { sink.machine.rejected = [] }
        return sink.machine.rejected
    }

    /// Parses the next bytes and writes the records that they end.
    func feed(_ bytes: ArraySlice<UInt8>, into writer: RecordBatchWriter) throws(BridgeError) {
        sink.writer = writer
        guard isAtStart else { return try parser.feed(bytes) }
        // Scripts like to print a line before the XML declaration, which XML forbids.
        let start = bytes.drop(while: LexicalValue.isSpace)
        if start.isEmpty { return }
        isAtStart = false
        try parser.feed(start)
    }

    /// Says that the reply is over.
    func finish() throws(BridgeError) {
        guard !isAtStart else { throw BridgeError(.malformed, "the reply is empty") }
        try parser.finish()
        try sink.machine.finish()
    }
}
