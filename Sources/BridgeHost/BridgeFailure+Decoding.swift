internal import RecordBatch

extension BridgeFailure {
    /// Decodes an error batch; a malformed one becomes a failure that says so.
    ///
    /// Source: bmo_bridge.h, "error batch".
    static func decode(_ bytes: ForeignBytes?, doing what: String, log: BridgeLog, limit: Int) -> BridgeFailure {
        guard let bytes else {
            return malformed("the bridge failed without saying why (\(what))", log)
        }
        guard bytes.bytes.count <= limit else {
            return malformed("the bridge answered with an error of \(bytes.bytes.count) bytes (\(what))", log)
        }
        do {
            let batch = try bytes.batch()
            defer { withExtendedLifetime(batch) {} }
            guard let record = OwnedRecord(batch) else {
                return malformed("the bridge answered with an error that is not one object (\(what))", log)
            }
            return try decode(record, log)
        } catch {
            let reason = (error as? PluginRefusal)?.reason ?? "\(error)"
            return malformed("the bridge answered with an unreadable error (\(what)): \(reason)", log)
        }
    }

    /// Returns a failure for a bridge's reply that violates the contract.
    static func malformed(_ message: String, _ log: BridgeLog) -> BridgeFailure {
        BridgeFailure(
            .malformed, log.clean(message, limit: 2000), bridge: log.bridge, remedy: "report it to the bridge's author")
    }

    private static func decode(_ record: OwnedRecord, _ log: BridgeLog) throws(PluginRefusal) -> BridgeFailure {
        let code = try text(record, "code") ?? ""
        let message = try text(record, "message") ?? ""
        // Only the host may report `crashed`.
        guard let known = Code(rawValue: code), known != .crashed else {
            throw PluginRefusal(reason: "unknown code `\(code.cut(to: 64))`: \(message)")
        }
        var failure = BridgeFailure(
            known, message.isEmpty ? "failed" : log.clean(message, limit: 2000), bridge: log.bridge)
        failure.remedy = try text(record, "remedy").map { log.clean($0, limit: 1000) }
        failure.location = try text(record, "location").map { log.clean($0, limit: 2000) }
        failure.remote = try text(record, "remote").map { log.clean($0, limit: 1000) }
        switch record["retryable"]?.tag {
        case nil, .null: break
        case .bool: failure.isRetryable = record["retryable"]?.bool ?? false
        default: throw PluginRefusal(reason: "`retryable` is not a bool")
        }
        switch record["retry_after"]?.tag {
        case nil, .null: break
        case .int64:
            let milliseconds = record["retry_after"]?.int64 ?? 0
            // A week is effectively never, and adding it to a clock's time cannot overflow.
            failure.retryAfter = .milliseconds(min(max(milliseconds, 0), 7 * 86_400_000))
        default: throw PluginRefusal(reason: "`retry_after` is not an integer")
        }
        return failure
    }

    private static func text(_ record: OwnedRecord, _ member: String) throws(PluginRefusal) -> String? {
        guard let value = record[member], value.tag != .null else { return nil }
        guard value.tag == .text else { throw PluginRefusal(reason: "`\(member)` is not text") }
        return value.string
    }
}
