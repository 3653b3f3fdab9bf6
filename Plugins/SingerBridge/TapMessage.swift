internal import TextFormats
internal import RecordBatch

/// A line of a tap, parsed as a message of the protocol.
struct TapMessage {
    /// Why a line is not a usable message.
    enum Fault: Error {
        /// The line is not a message, such as the output of a print statement.
        case noMessage
        /// A record that cannot be read, with the reason.
        case unreadableRecord(String)
    }

    let batch: RecordBatch
    let type: String

    /// Parses a line.
    init(_ line: [UInt8]) throws(Fault) {
        guard let text = String(validUTF8: line) else {
            throw Self.looksLikeRecord(line) ? .unreadableRecord("it is not UTF-8") : .noMessage
        }
        do {
            batch = try JSONParser.batch(text)
        } catch {
            throw Self.looksLikeRecord(line) ? .unreadableRecord("\(error)") : .noMessage
        }
        guard let type = batch[0]["type"]?.text else { throw .noMessage }
        self.type = type
    }

    /// Returns whether an invalid line is a record, such as one with NaN, which Python writes and JSON lacks.
    ///
    /// Such a record is rejected without ending the run.
    private static func looksLikeRecord(_ line: [UInt8]) -> Bool {
        let head = String(decoding: line.prefix(200), as: UTF8.self)
        return head.hasPrefix("{") && head.contains("\"RECORD\"")
    }

    /// Returns the stream that an unreadable record names before its content; nil if it does not.
    static func stream(ofUnreadable line: [UInt8]) -> String? {
        let head = String(decoding: line.prefix(1000), as: UTF8.self)
        let start = head.firstRange(of: "\"record\"").map { head[..<$0.lowerBound] } ?? head[...]
        return start.firstMatch(of: /"stream"\s*:\s*"([^"\\]*)"/).map { String($0.1) }
    }

    var stream: String? { batch[0]["stream"]?.text }

    /// Returns the JSON of a member.
    func json(_ name: String) -> String? {
        withExtendedLifetime(batch) { batch[0][name].map { $0.json } }
    }

    func integer(_ name: String) -> Int64? {
        withExtendedLifetime(batch) { batch[0][name]?.integer }
    }
}
