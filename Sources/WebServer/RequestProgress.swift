/// How much of its only request a connection has received, on the connection's event loop.
final class RequestProgress {
    /// What the next bytes belong to.
    enum Part {
        case head, body, rest
    }

    let limits: ServerLimits
    var part = Part.head
    private(set) var headBytes = 0

    init(_ limits: ServerLimits) { self.limits = limits }

    /// Counts received bytes; the answer is final once the head is complete.
    ///
    /// - Returns: Whether the head may still be within its limit.
    func receive(_ count: Int) -> Bool {
        guard part == .head else { return true }
        headBytes += count
        return headBytes <= limits.headBytes
    }
}
