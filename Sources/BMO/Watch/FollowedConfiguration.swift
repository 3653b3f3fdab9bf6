package import Model
internal import StoreContract
internal import SystemCalls

/// The configuration of a program that runs for long, whose file may change meanwhile.
///
/// The program goes on with the new configuration, or with the earlier one if the new one cannot be used.
package final class FollowedConfiguration: Sendable {
    /// What ``look(check:)`` has found.
    enum Event: Equatable {
        /// There is nothing to report.
        case none
        /// The new configuration is ready: ``takeNext()``.
        case ready
        /// The new configuration cannot be used, for the given reason.
        case refused(String)
        /// The file is again as it was loaded.
        case restored
    }

    private struct State {
        var content: ConfigurationState
        var next: (workspace: Workspace, content: ConfigurationContent)?
        var fault: String?
        var tried: ContinuousClock.Instant?

        /// Notes why a content cannot be used; returns what to report, or nil if that was reported before.
        mutating func refuse(_ refused: ConfigurationContent?, _ words: String) -> String? {
            if let refused { content.refuse(refused) }
            tried = .now
            defer { fault = words }
            return fault == words ? nil : words
        }
    }

    /// How long after a refusal the same content is tried again: a plugin may have been installed, or the database migrated.
    private static let pause: Duration = .seconds(30)
    /// The pause between two looks at the files.
    static let lookPause: Duration = .seconds(1)

    private let path: String
    private let user: String
    private let learn: @Sendable (ConfigurationFile) async throws -> Void
    private let load: @Sendable (ConfigurationFile) async throws -> Workspace
    private let state: Mutex<State>

    /// - Parameters:
    ///   - path: The configuration's file.
    ///   - user: What uses it, as messages say it.
    ///   - learn: Learns attributes, which may write the file beside it.
    ///   - load: Loads the configuration.
    package init(
        path: String, for user: String = "the watch",
        learn: @escaping @Sendable (ConfigurationFile) async throws -> Void = { _ in },
        load: @escaping @Sendable (ConfigurationFile) async throws -> Workspace
    ) {
        self.path = path
        self.user = user
        self.learn = learn
        self.load = load
        state = Mutex(State(content: ConfigurationState(ConfigurationContent(path: path))))
    }

    /// Loads the configuration for the first time.
    package func start() async throws -> Workspace {
        let (workspace, content) = try await read()
        state.withLock { $0 = State(content: ConfigurationState(content)) }
        return workspace
    }

    private func read() async throws -> (Workspace, ConfigurationContent) {
        // Read before they are loaded: a file that changes meanwhile is loaded once too often.
        let main = ConfigurationContent.read(path)
        let file = ConfigurationFile(path: path)
        try await learn(file)
        let content = ConfigurationContent(
            file: main, learned: ConfigurationContent.read(LearnedAttributes.path(beside: path)))
        return (try await load(file), content)
    }

    /// Whether a new configuration waits for the end of the running round.
    var isReady: Bool { state.withLock { $0.next != nil } }

    /// Why the file cannot be used as it is now; nil if it can.
    var fault: String? { state.withLock { $0.fault } }

    /// Whether the file has a content that was refused.
    var isRefused: Bool { state.withLock { $0.content.isRefused } }

    /// Returns whether work may begin with the configuration as it was loaded.
    package func permits() -> Bool {
        let now = ConfigurationContent(path: path)
        return state.withLock { $0.content.permits(now) }
    }

    /// Returns the new configuration; nil for none.
    ///
    /// A round may have ended long after it was loaded. If the files have changed again meanwhile, it is dropped, and
    /// ``look(check:)`` loads the new content.
    func takeNext() -> Workspace? {
        let now = ConfigurationContent(path: path)
        return state.withLock { state in
            if state.next?.content != now { state.next = nil }
            return state.next?.workspace
        }
    }

    /// Refuses to adapt the database to a new configuration that the files do not have any more.
    func checkNext() throws {
        if isReady, takeNext() == nil { throw OutdatedConfiguration() }
    }

    /// Notes that the watch goes on with the new configuration.
    func accept() {
        state.withLock { state in
            if let next = state.next { state = State(content: ConfigurationState(next.content)) }
        }
    }

    /// Notes that the new configuration cannot be used after all.
    ///
    /// - Returns: What to report; nil if that was reported before.
    func refuse(_ error: any Error) -> String? {
        let words = words(error)
        return state.withLock { state in
            defer { state.next = nil }
            return state.refuse(state.next?.content, words)
        }
    }

    /// Looks at the files, and loads a new content when it has settled.
    ///
    /// - Parameter check: Refuses a configuration that cannot be used, by an error.
    func look(check: (Workspace) async throws -> Void) async -> Event {
        let now = ConfigurationContent(path: path)
        let finding = state.withLock { state in
            let finding = state.content.look(at: now)
            if finding == .restored { state.fault = nil }
            return finding
        }
        switch finding {
        case .same, .unsettled: return .none
        case .restored: return .restored
        case .refused:
            let isDue = state.withLock { $0.tried.map { .now - $0 >= Self.pause } ?? true }
            guard isDue else { return .none }
        case .changed: break
        }
        do {
            let (workspace, content) = try await read()
            try await check(workspace)
            state.withLock { $0.next = (workspace, content) }
            return .ready
        } catch is CancellationError {
            return .none
        } catch {
            let words = words(error)
            return state.withLock { $0.refuse(now, words) }.map { .refused($0) } ?? .none
        }
    }

    /// Follows the file until the task is cancelled, for a program without rounds.
    ///
    /// - Parameters:
    ///   - mayReload: Waits until the program can go on with a new configuration.
    ///   - onReload: Called with each new configuration.
    ///   - report: Called with what a person should know of, and whether it is trouble.
    package func follow(
        mayReload: () async -> Void, onReload: (Workspace) async -> Void,
        report: (_ words: String, _ isTrouble: Bool) -> Void
    ) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.lookPause)
            switch await look(check: { _ in }) {
            case .none, .restored: break
            case .refused(let words): report(words, true)
            case .ready:
                await mayReload()
                guard let next = takeNext() else { break }
                await onReload(next)
                accept()
                report(reloadWords, false)
            }
        }
    }

    /// Waits until the file has a new configuration that can be used, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - check: Refuses a configuration that cannot be used, by an error.
    ///   - report: Called with why a new content cannot be used.
    func waitForNext(check: (Workspace) async throws -> Void, report: (_ words: String) -> Void) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.lookPause)
            guard !Task.isCancelled else { return }
            switch await look(check: check) {
            case .none, .restored: break
            case .refused(let words): report(words)
            case .ready: return
            }
        }
    }

    private func words(_ error: any Error) -> String {
        let reason =
            if let faults = (error as? ConfigurationErrors)?.diagnostics, let first = faults.first {
                "\(first)" + (faults.count > 1 ? "; and \(faults.count - 1) more, which `bmo check` lists" : "")
            } else { "\(error)" }
        return "\(path) has changed, and cannot be used as it is now, so that \(user) goes on as it was configured "
            + "before: \(reason)"
    }

    /// What to report when the program goes on with the new configuration.
    var reloadWords: String { "\(path) has changed; \(user) goes on with the new configuration" }
}
