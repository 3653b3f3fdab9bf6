internal import BMO
internal import SystemCalls

/// What is running, for all pages and streams: however many ask, the database is asked at most twice a second.
final class LiveSnapshot: Sendable {
    /// A question to the database.
    private final class Question: Sendable {
        let began = ContinuousClock.now
        let isAnswered = Mutex(false)
        let task = Mutex<Task<LiveProgress.State, Never>?>(nil)
    }

    /// How long an answer is used.
    static let interval: Duration = .milliseconds(500)

    private let workspace: Workspace
    private let readers: StoreReaders
    private let activity: Activity
    private let last = Mutex<Question?>(nil)

    init(_ workspace: Workspace, _ readers: StoreReaders, _ activity: Activity) {
        self.workspace = workspace
        self.readers = readers
        self.activity = activity
    }

    /// Returns what is running.
    func state() async -> LiveProgress.State {
        if let own = LiveProgress.ofPage(activity) { return .running(own) }
        return await question().value
    }

    /// Returns the running question, or one whose answer is young, or else begins one.
    private func question() -> Task<LiveProgress.State, Never> {
        last.withLock { last in
            if let last, let task = last.task.withLock({ $0 }),
                !last.isAnswered.withLock({ $0 }) || ContinuousClock.now - last.began < Self.interval
            {
                return task
            }
            let question = Question()
            let task = Task { [readers, workspace] in
                let state = await LiveProgress.ofOthers(readers, workspace)
                question.isAnswered.withLock { $0 = true }
                return state
            }
            question.task.withLock { $0 = task }
            last = question
            return task
        }
    }
}
