internal import SystemCalls

/// The webhooks that were received lately, which outlive a change of the configuration.
package final class ReceivedWebhooks: Sendable {
    private let signatures = Mutex(SeenSignatures())

    /// Creates an empty memory.
    package init() {}

    /// Adds the signature of a webhook; see ``SeenSignatures/add(_:sent:now:)``.
    func add(_ code: String, sent: Int64, now: Int64) -> SeenSignatures.Outcome {
        signatures.withLock { $0.add(code, sent: sent, now: now) }
    }
}
