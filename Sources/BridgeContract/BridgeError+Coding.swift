package import RecordBatch

/// The members of an error batch, each named once for both directions.
///
/// Source: bmo_bridge.h, "error batch".
private enum Member {
    static let code = "code"
    static let message = "message"
    static let remedy = "remedy"
    static let location = "location"
    static let remote = "remote"
    static let isRetryable = "retryable"
    static let retryAfter = "retry_after"
    static let startsOver = "start_over"
    static let mayHaveArrived = "may_have_arrived"
}

extension BridgeError {
    /// Writes the error as one record.
    package func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.key(Member.code)
            // A bridge cannot report its own crash.
            writer.text((code == .crashed ? .internal : code).rawValue)
            writer.key(Member.message)
            writer.text(message)
            writer.member(Member.remedy, remedy)
            writer.member(Member.location, location)
            writer.member(Member.remote, remote.map { String($0.prefix(1000)) })
            writer.member(Member.isRetryable, isRetryable)
            writer.member(Member.retryAfter, retryAfterMilliseconds.map(Int.init))
            if startsOver { writer.member(Member.startsOver, true) }
            if mayHaveArrived { writer.member(Member.mayHaveArrived, true) }
        }
    }

    /// Reads an error batch as it is: its texts are not redacted, and its message may be empty.
    package init(_ batch: RecordBatch) throws(MessageFault) {
        defer { withExtendedLifetime(batch) {} }
        guard batch.count == 1, batch[0].tag == .object else { throw MessageFault("an error that is not one object") }
        let record = batch[0]
        func text(_ member: String) throws(MessageFault) -> String? {
            guard let value = record[member], value.tag != .null else { return nil }
            guard value.tag == .text else { throw MessageFault("`\(member)` is not text") }
            return value.string
        }
        let code = try text(Member.code) ?? ""
        let message = try text(Member.message) ?? ""
        // Only the host reports a crash.
        guard let known = Code(rawValue: code), known != .crashed else {
            let shown = code.count <= 64 ? code : code.prefix(63) + "…"
            throw MessageFault("unknown code `\(shown)`: \(message)")
        }
        self.init(
            known, message, remedy: try text(Member.remedy), location: try text(Member.location),
            remote: try text(Member.remote))
        func bool(_ member: String) throws(MessageFault) -> Bool {
            switch record[member]?.tag {
            case nil, .null: return false
            case .bool: return record[member]?.bool ?? false
            default: throw MessageFault("`\(member)` is not a bool")
            }
        }
        isRetryable = try bool(Member.isRetryable)
        startsOver = try bool(Member.startsOver)
        mayHaveArrived = try bool(Member.mayHaveArrived)
        switch record[Member.retryAfter]?.tag {
        case nil, .null: break
        case .int64: retryAfterMilliseconds = record[Member.retryAfter]?.int64
        default: throw MessageFault("`\(Member.retryAfter)` is not an integer")
        }
    }
}
