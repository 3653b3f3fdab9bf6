internal import SystemCalls

/// The open instances of one connection, as many as its bridge's concurrency requires and allows.
///
/// A session that crashed or hangs leaves the pool; the next call opens a new one.
final class SessionPool: Sendable {
    typealias Open = @Sendable () async throws(BridgeFailure) -> any BridgeSession

    /// A session reserved for a fetch.
    struct Lease: Sendable {
        let session: any BridgeSession
        let fetch: UInt32
    }

    private struct Entry {
        let session: any BridgeSession
        /// The fetches that use it.
        var fetches: Set<UInt32> = []
        var isRetired = false
    }

    /// The place of a fetch in the order of those that wait.
    private struct Ticket {
        let number: Int
        let priority: Int
        /// Whether it opens a session, so that no other has to wait for it.
        var isOpening = false

        func precedes(_ other: Ticket) -> Bool {
            (-priority, number) < (-other.priority, other.number)
        }
    }

    private struct State {
        /// The fetches that have no session yet.
        var queue: [Ticket] = []
        var lastTicket = 0
        var entries: [Entry] = []
        /// The retired sessions whose processes still exist.
        var dying: [any BridgeSession] = []
        var opening = 0
        var waiting: [Promise<Void>] = []
        var lastFetch: UInt32 = 0
        var isClosed = false

        mutating func set(_ ticket: Int?, isOpening: Bool) {
            guard let index = queue.firstIndex(where: { $0.number == ticket }) else { return }
            queue[index].isOpening = isOpening
        }

        mutating func takeWaiting() -> [Promise<Void>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private enum Choice {
        case use(any BridgeSession, fetch: UInt32)
        case open
        case wait(Promise<Void>)
        case closed
    }

    private let bridge: String
    private let fetchesPerSession: Int
    private let most: Int
    private let open: Open
    private let state = Mutex(State())

    /// - Parameters:
    ///   - fetchesPerSession: The number of fetches that one session serves at a time.
    ///   - most: The maximum number of sessions.
    init(bridge: String, fetchesPerSession: Int, most: Int, open: @escaping Open) {
        self.bridge = bridge
        self.fetchesPerSession = fetchesPerSession
        self.most = max(most, 1)
        self.open = open
    }

    deinit {
        // Ends the sessions of a connection that was never closed.
        for entry in state.withLock({ $0.entries }) { entry.session.kill() }
    }

    /// How many fetches have no session yet.
    var waitingFetches: Int { state.withLock { $0.queue.count } }

    /// Waits for a session that can serve another fetch.
    ///
    /// Return it with ``release(_:)``.
    ///
    /// - Parameter priority: The rank among those that wait: the highest goes first, and of equals the oldest.
    func lease(priority: Int = 0) async throws(BridgeFailure) -> Lease {
        let number = state.withLock { state in
            state.lastTicket += 1
            state.queue.append(Ticket(number: state.lastTicket, priority: priority))
            return state.lastTicket
        }
        // The next one may find a place, too.
        defer { leaveQueue(number) }
        let (session, fetch) = try await take(ticket: number)
        return Lease(session: session, fetch: fetch)
    }

    private func leaveQueue(_ ticket: Int) {
        let waiting = state.withLock { state in
            state.queue.removeAll { $0.number == ticket }
            return state.takeWaiting()
        }
        for promise in waiting { promise.fulfil(()) }
    }

    /// Returns a session for a single call, an idle one if possible.
    func session() async throws(BridgeFailure) -> any BridgeSession {
        try await take(ticket: nil).0
    }

    /// Returns a fetch's session to the pool.
    func release(_ lease: Lease) {
        let (dead, waiting) = state.withLock { state -> ((any BridgeSession)?, [Promise<Void>]) in
            guard let index = state.entries.firstIndex(where: { $0.session === lease.session }) else {
                return (nil, state.takeWaiting())
            }
            state.entries[index].fetches.remove(lease.fetch)
            let entry = state.entries[index]
            guard entry.fetches.isEmpty, entry.isRetired || state.isClosed else { return (nil, state.takeWaiting()) }
            state.entries.remove(at: index)
            letGo(of: entry.session, &state)
            return (entry.session, state.takeWaiting())
        }
        dead?.kill()
        for promise in waiting { promise.fulfil(()) }
    }

    /// Keeps a retired session until its process has ended, so that closing the pool can wait for that.
    private func letGo(of session: any BridgeSession, _ state: inout State) {
        guard session.isKillable else { return }
        state.dying.append(session)
        Task { [weak self] in
            await session.close().value
            self?.state.withLock { $0.dying.removeAll { $0 === session } }
        }
    }

    /// Retires the session of a hung fetch; it is killed once no other fetch uses it.
    ///
    /// Call it before releasing the lease: afterwards the session may serve another fetch.
    func abandon(_ lease: Lease) { abandon(lease.session, heldBy: lease.fetch) }

    /// Retires a session with a hung call that is not part of a fetch; it is killed once no fetch uses it.
    func abandon(_ session: any BridgeSession) { abandon(session, heldBy: nil) }

    private func abandon(_ session: any BridgeSession, heldBy fetch: UInt32?) {
        let (kill, waiting) = state.withLock { state -> (Bool, [Promise<Void>]) in
            guard let index = state.entries.firstIndex(where: { $0.session === session }) else { return (true, []) }
            state.entries[index].isRetired = true
            let others = state.entries[index].fetches.contains { $0 != fetch }
            return (!others, state.takeWaiting())
        }
        if kill { session.kill() }
        for promise in waiting { promise.fulfil(()) }
    }

    /// Closes every session, and kills those still open after `grace`.
    func close(grace: Duration) async {
        let (sessions, waiting) = state.withLock { state -> ([any BridgeSession], [Promise<Void>]) in
            state.isClosed = true
            defer { (state.entries, state.dying) = ([], []) }
            return (state.dying + state.entries.map(\.session), state.takeWaiting())
        }
        for promise in waiting { promise.fulfil(()) }
        await withTaskGroup { group in
            for session in sessions { group.addTask { await session.close(grace: grace) } }
        }
    }

    /// - Parameter ticket: The number of a fetch in the queue; nil for a single call.
    private func take(ticket: Int?) async throws(BridgeFailure) -> (any BridgeSession, UInt32) {
        while true {
            if Task.isCancelled { throw .cancelled(bridge) }
            switch choose(ticket) {
            case .use(let session, let fetch): return (session, fetch)
            case .closed: throw BridgeFailure(.cancelled, "the connection is closed", bridge: bridge)
            case .open: try await openSession(ticket)
            case .wait(let promise):
                await withTaskCancellationHandler {
                    await promise.value
                } onCancel: {
                    promise.fulfil(())
                }
            }
        }
    }

    private func choose(_ ticket: Int?) -> Choice {
        state.withLock { state in
            if state.isClosed { return .closed }
            let forFetch = ticket != nil
            if let own = state.queue.first(where: { $0.number == ticket }),
                state.queue.contains(where: { !$0.isOpening && $0.precedes(own) })
            {
                let promise = Promise<Void>()
                state.waiting.append(promise)
                return .wait(promise)
            }
            let isOver = { (entry: Entry) in !entry.session.isUsable && entry.fetches.isEmpty }
            for entry in state.entries where isOver(entry) { letGo(of: entry.session, &state) }
            state.entries.removeAll(where: isOver)
            let usable = state.entries.indices.filter {
                !state.entries[$0].isRetired && state.entries[$0].session.isUsable
            }
            let idlest = usable.min { state.entries[$0].fetches.count < state.entries[$1].fetches.count }
            if let idlest, state.entries[idlest].fetches.count < fetchesPerSession {
                state.lastFetch &+= 1
                if forFetch { state.entries[idlest].fetches.insert(state.lastFetch) }
                return .use(state.entries[idlest].session, fetch: state.lastFetch)
            }
            if usable.count + state.opening < most {
                state.opening += 1
                state.set(ticket, isOpening: true)
                return .open
            }
            // A single call does not need a place of its own: it runs between two calls of a fetch.
            if !forFetch, let idlest { return .use(state.entries[idlest].session, fetch: 0) }
            let promise = Promise<Void>()
            state.waiting.append(promise)
            return .wait(promise)
        }
    }

    private func openSession(_ ticket: Int?) async throws(BridgeFailure) {
        let opened: Result<any BridgeSession, BridgeFailure>
        do {
            opened = .success(try await open())
        } catch {
            opened = .failure(error)
        }
        let (isClosed, waiting) = state.withLock { state -> (Bool, [Promise<Void>]) in
            state.opening -= 1
            state.set(ticket, isOpening: false)
            if case .success(let session) = opened, !state.isClosed { state.entries.append(Entry(session: session)) }
            return (state.isClosed, state.takeWaiting())
        }
        for promise in waiting { promise.fulfil(()) }
        let session = try opened.get()
        if isClosed { session.kill() }
    }
}
