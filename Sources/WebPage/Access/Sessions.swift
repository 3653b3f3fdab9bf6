internal import SystemCalls

/// The sessions, one per browser; they are kept in memory.
package final class Sessions: Sendable {
    /// A session, as a request sees it.
    package struct Session: Sendable, Equatable {
        /// The cookie's value.
        package let id: String
        /// The text that each form of the session carries.
        package let formToken: String
    }

    private struct Record {
        let session: Session
        var used: ContinuousClock.Instant
        var notice: Notice?
    }

    private struct State {
        var loginToken = RandomToken.make()
        var records: [Record] = []
        /// When wrong passwords were sent in the last minute.
        ///
        /// Those of programs are counted apart: a program with an old password must not keep people out.
        var failures: [ContinuousClock.Instant] = []
        var programFailures: [ContinuousClock.Instant] = []
    }

    /// The maximum number of sessions; a further one ends the one whose last use is the oldest.
    private static let maxCount = 16
    /// How long a session lasts after its last request.
    private static let lifetime: Duration = .seconds(12 * 3600)
    /// The number of wrong passwords in a minute after which no further one is compared.
    private static let maxFailures = 10

    private let state = Mutex(State())

    /// Creates an empty set of sessions, with a first token.
    package init() {}

    /// The token of the printed address, which begins one session.
    package var loginToken: String { state.withLock { $0.loginToken } }

    /// Begins a session with the token of the printed address, which becomes invalid.
    package func begin(token: String) -> Session? {
        state.withLock { state in
            guard ConstantTime.equal(state.loginToken, token) else { return nil }
            state.loginToken = RandomToken.make()
            return Self.begin(&state)
        }
    }

    /// The outcome of trying a password.
    package enum Attempt: Sendable, Equatable {
        /// The password is right, and the session began.
        case began(Session)
        /// The password is wrong.
        case wrong
        /// There were too many wrong passwords in the last minute, and this one was not compared.
        case tooMany
    }

    /// Begins a session with a password.
    package func begin(password given: String, is password: String) -> Attempt {
        state.withLock { state in
            guard Self.mayTry(&state.failures) else { return .tooMany }
            guard ConstantTime.equal(password, given) else {
                state.failures.append(.now)
                return .wrong
            }
            return .began(Self.begin(&state))
        }
    }

    /// Returns whether a password is right that a program, such as a monitor, sends without a session.
    package func accepts(password given: String, is password: String) -> Bool {
        state.withLock { state in
            guard Self.mayTry(&state.programFailures) else { return false }
            if ConstantTime.equal(password, given) { return true }
            state.programFailures.append(.now)
            return false
        }
    }

    private static func mayTry(_ failures: inout [ContinuousClock.Instant]) -> Bool {
        let start = ContinuousClock.now - .seconds(60)
        failures.removeAll { $0 < start }
        return failures.count < maxFailures
    }

    private static func begin(_ state: inout State) -> Session {
        if state.records.count >= maxCount,
            let oldest = state.records.indices.min(by: {
                state.records[$0].used < state.records[$1].used
            })
        {
            state.records.remove(at: oldest)
        }
        let session = Session(id: RandomToken.make(), formToken: RandomToken.make())
        state.records.append(Record(session: session, used: .now))
        return session
    }

    /// Returns the session of a cookie; nil if it ended or never began.
    package func session(_ id: String) -> Session? {
        state.withLock { state in
            let now = ContinuousClock.now
            state.records.removeAll { now - $0.used > Self.lifetime }
            var found: Int?
            // Compares all, so that the duration does not show which one is similar.
            for index in state.records.indices where ConstantTime.equal(state.records[index].session.id, id) {
                found = index
            }
            guard let found else { return nil }
            state.records[found].used = now
            return state.records[found].session
        }
    }

    /// Returns whether a session still exists, without prolonging it.
    package func isValid(_ id: String) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            return state.records.contains { ConstantTime.equal($0.session.id, id) && now - $0.used <= Self.lifetime }
        }
    }

    /// Ends a session.
    package func end(_ session: Session) {
        state.withLock { $0.records.removeAll { $0.session == session } }
    }

    /// Ends all sessions.
    package func endAll() { state.withLock { $0.records = [] } }

    /// Keeps a notice for the next page of a session.
    package func leave(_ notice: Notice, for session: Session) {
        state.withLock { state in
            guard let index = state.records.firstIndex(where: { $0.session == session }) else { return }
            state.records[index].notice = notice
        }
    }

    /// Returns the notice for a session's next page, and removes it.
    package func takeNotice(for session: Session) -> Notice? {
        state.withLock { state in
            guard let index = state.records.firstIndex(where: { $0.session == session }) else { return nil }
            defer { state.records[index].notice = nil }
            return state.records[index].notice
        }
    }
}

/// What an action did, to be shown on the next page.
package struct Notice: Sendable, Equatable {
    /// How a notice is shown.
    package enum Kind: String, Sendable {
        case good, warn, bad
    }

    /// How it is shown.
    package var kind: Kind
    /// The text.
    package var text: String

    /// Creates a notice.
    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}
