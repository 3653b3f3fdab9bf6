internal import BridgeContract
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
        let batch: RecordBatch
        do {
            batch = try bytes.batch()
        } catch {
            return malformed("the bridge answered with an unreadable error (\(what)): \(error)", log)
        }
        guard OwnedRecord(batch) != nil else {
            return malformed("the bridge answered with an error that is not one object (\(what))", log)
        }
        do {
            return BridgeFailure(try BridgeError(batch), log)
        } catch {
            return malformed("the bridge answered with an unreadable error (\(what)): \(error.reason)", log)
        }
    }

    /// Returns a failure for a bridge's reply that violates the contract.
    static func malformed(_ message: String, _ log: BridgeLog) -> BridgeFailure {
        BridgeFailure(
            .malformed, log.clean(message, limit: 2000), bridge: log.bridge, remedy: "report it to the bridge's author")
    }

    /// Redacts and limits what a bridge wrote.
    private init(_ error: BridgeError, _ log: BridgeLog) {
        self.init(
            error.code, error.message.isEmpty ? "failed" : log.clean(error.message, limit: 2000), bridge: log.bridge,
            remedy: error.remedy.map { log.clean($0, limit: 1000) },
            location: error.location.map { log.clean($0, limit: 2000) },
            remote: error.remote.map { log.clean($0, limit: 1000) }, isRetryable: error.isRetryable,
            retryAfter: error.retryAfterMilliseconds.map { min(max(.milliseconds($0), .zero), Self.never) })
        startsOver = error.startsOver
        mayHaveArrived = error.mayHaveArrived
    }

    /// The longest pause that a remote can ask for, a century: adding it to a clock's time cannot overflow.
    static let never: Duration = .seconds(36_500 * 86_400)
}
