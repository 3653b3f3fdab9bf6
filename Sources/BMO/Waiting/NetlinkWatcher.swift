#if os(Linux)
internal import SystemCalls
#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Watches the routes of Linux (rtnetlink): the network is available while a route leads to one of some addresses, over a
/// link that is up and has a carrier.
///
/// ```swift
/// var options = RequestManager.Options()
/// options.network = NetworkRetry(try NetlinkWatcher())
/// ```
///
/// It sends no packet. A thread of its own waits for the kernel's reports of links, addresses and routes, and ends with the
/// watcher. In a network without a way to the internet, name your servers' addresses instead of the usual ones.
public final class NetlinkWatcher: NetworkWatcher {
    /// Why a watcher cannot be made.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// What failed, and on what.
        public let message: String

        /// The message.
        public var description: String { message }
    }

    /// Addresses of the root servers A and B of the DNS, which no network has of its own.
    public static let usualAddresses = ["198.41.0.4", "2001:503:ba3e::2:30"]

    private let network: NetworkSwitch
    private let thread: NativeThread
    /// The end of a pair of sockets that is closed to end the thread.
    private let end: Int32

    /// Begins to watch the routes to addresses: one route suffices.
    ///
    /// - Throws: ``Failure`` for a text that is not an IP address, and where the system gives no netlink socket.
    public init(addresses: [String] = NetlinkWatcher.usualAddresses) throws(Failure) {
        var parsed: [RouteAddress] = []
        for text in addresses {
            guard let address = RouteAddress(text) else {
                throw Failure(message: "\(text.debugDescription) is not an IP address; write one like 192.0.2.1")
            }
            parsed.append(address)
        }
        let changes: RouteSocket
        let questions: RouteSocket
        let first: NetworkState
        do throws(RouteSocket.Failure) {
            // Changes are heard before the first question, so that none is missed.
            changes = try RouteSocket(hearing: .all)
            questions = try RouteSocket()
            first = try Self.state(parsed, questions)
        } catch {
            throw Self.failure("\(error.call) fails (\(String(cString: strerror(error.number))))")
        }
        var ends: [Int32] = [-1, -1]
        // SOCK_STREAM and SOCK_CLOEXEC, whose types differ between C libraries.
        guard socketpair(AF_UNIX, 1 | O_CLOEXEC, 0, &ends) == 0 else {
            throw Self.failure("socketpair fails (\(String(cString: strerror(errno))))")
        }
        let network = NetworkSwitch(first)
        let stop = ends[0]
        let body: @Sendable () -> Void = { [parsed] in
            Self.follow(changes, questions, parsed, network, until: stop)
            systemClose(stop)
        }
        guard let thread = NativeThread(blocking: .all, body) else {
            for descriptor in ends { systemClose(descriptor) }
            throw Self.failure("the system creates no thread")
        }
        (self.network, self.thread, end) = (network, thread, ends[1])
    }

    deinit {
        systemClose(end)
        thread.join()
        network.close()
    }

    /// Returns the present state, and then each other one as it comes.
    public func states() -> AsyncStream<NetworkState> { network.states() }

    /// The time after a change at which the routes are asked for again: the kernel reports a link before it removes the
    /// link's routes.
    private static let secondLook: Int32 = 250

    private static func follow(
        _ changes: RouteSocket, _ questions: RouteSocket, _ addresses: [RouteAddress], _ network: NetworkSwitch,
        until stop: Int32
    ) {
        var limit: Int32?
        while true {
            switch changes.next(orEndOf: stop, milliseconds: limit) {
            case .stop: return
            case .change: limit = secondLook
            case .timeLimit: limit = nil
            }
            // A question that fails, as for want of memory, leaves the state until the next change.
            if let state = try? state(addresses, questions) { network.state = state }
        }
    }

    private static func state(
        _ addresses: [RouteAddress], _ questions: RouteSocket
    ) throws(RouteSocket.Failure) -> NetworkState {
        for address in addresses where try questions.reaches(address) { return .available }
        return .unavailable
    }

    private static func failure(_ reason: String) -> Failure {
        Failure(message: "the routes of the system cannot be watched: \(reason)")
    }
}
#endif
