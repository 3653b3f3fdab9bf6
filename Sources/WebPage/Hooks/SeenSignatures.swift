/// The signatures of webhooks that were received, for as long as their times are accepted.
package struct SeenSignatures: Sendable {
    /// The result of adding a signature.
    package enum Outcome: Sendable {
        /// It was not known, and is now.
        case new
        /// It was received before.
        case known
        /// No further signature can be kept.
        case full
    }

    /// The maximum number of signatures.
    ///
    /// Only the sender, who knows the secret, can add one.
    static let limit = 10_000

    private var ends: [String: Int64] = [:]

    /// Creates an empty memory.
    package init() {}

    /// Adds a signature.
    ///
    /// - Parameters:
    ///   - sent: When the webhook was sent, in seconds since 1970.
    ///   - now: The time here.
    package mutating func add(_ code: String, sent: Int64, now: Int64) -> Outcome {
        if ends[code] != nil { return .known }
        if ends.count >= Self.limit { ends = ends.filter { $0.value >= now } }
        guard ends.count < Self.limit else { return .full }
        ends[code] = sent + HookSignature.tolerance
        return .new
    }
}
