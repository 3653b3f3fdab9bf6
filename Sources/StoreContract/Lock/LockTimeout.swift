/// How long to wait for a lock that another process holds.
public enum LockTimeout: Sendable, Equatable {
    /// No wait: fails at once.
    case none
    /// A wait of at most this long.
    case atMost(Duration)
    /// A wait until the lock is free.
    case unlimited

    /// Returns whether a wait of this length is long enough.
    func isOver(after waited: Duration) -> Bool {
        switch self {
        case .none: true
        case .atMost(let limit): waited >= limit
        case .unlimited: false
        }
    }
}
