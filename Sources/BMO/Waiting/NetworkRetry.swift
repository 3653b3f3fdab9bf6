/// Requests and pushes wait for the network: what failed for the lack of one goes on when it is back.
///
/// A failure counts if the remote was unreachable while the watcher says that there was no network. If there was one, the
/// server is what failed, and ``AvailabilityPolicy`` decides. Remotes of this machine (`localhost`, `127.0.0.1`, `::1`) need
/// no network.
public struct NetworkRetry: Sendable {
    /// Knows whether there is a network.
    public var watcher: any NetworkWatcher
    /// How long a request or a push waits in all, from its first failure on.
    public var limit = Duration.seconds(600)
    /// How long the network has to stay before it counts as back.
    public var settling = Duration.seconds(1)
    /// The longest further pause, whose length is random: so that not all programs ask at the same moment.
    public var jitter = Duration.seconds(2)

    /// Creates the usual settings.
    public init(_ watcher: any NetworkWatcher) { self.watcher = watcher }
}
