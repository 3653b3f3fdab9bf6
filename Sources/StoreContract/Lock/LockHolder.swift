/// The holder of a lock.
public struct LockHolder: Sendable, Equatable, CustomStringConvertible {
    /// The process ID.
    public var pid: Int32
    /// The host name, as the file may be on a network share.
    public var host: String
    /// The command that it runs, such as `bmo sync`.
    public var command: String
    /// When it took the lock, as ISO 8601, UTC.
    public var since: String

    /// The holder as shown in errors.
    public var description: String { "\(command) (process \(pid) on \(host)), since \(since)" }

    /// Creates a holder.
    package init(pid: Int32, host: String, command: String, since: String) {
        self.pid = pid
        self.host = host
        self.command = command
        self.since = since
    }
}
