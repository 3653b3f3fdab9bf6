internal import Importer
internal import Mapping
internal import Synchronization

/// What the walks of one entity did so far: several may go on at a time.
final class EntityTally: Sendable {
    /// What is told at the end.
    struct State: Sendable {
        var pages = 0
        var resumedAfterPage: Int?
        var counts: ImportCounts
        var warnings: [String] = []
        var parents: SyncReport.Parents?
        var isIncomplete = false
        fileprivate var records = 0
        fileprivate var hasBegun = false
        fileprivate var moreWarnings = 0
        fileprivate var notes: Set<String> = []
    }

    private let entity: String
    private let index: Int
    private let bridge: String
    private let report: @Sendable (SyncEvent) -> Void
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// So many warnings are kept; of walks per parent there may be as many as there are parents.
    private static let mostWarnings = 100

    init(entity: String, index: Int, bridge: String, count: Int, report: @escaping @Sendable (SyncEvent) -> Void) {
        self.entity = entity
        self.index = index
        self.bridge = bridge
        self.report = report
        state = Mutex(State(counts: ImportCounts(entityCount: count)))
    }

    /// What there is to tell.
    var result: State {
        var result = state.withLock { $0 }
        if result.moreWarnings > 0 { result.warnings.append("and \(result.moreWarnings) more warnings") }
        return result
    }

    /// A walk begins, perhaps after so many pages of an interrupted one.
    func began(afterPage page: Int?) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            if state.parents == nil { state.resumedAfterPage = page }
            return !state.hasBegun
        }
        if isFirst { report(.began(entity: entity, bridge: bridge, resumedAfterPage: page)) }
    }

    /// The walk begins at its beginning after all.
    func forgetResumption() { state.withLock { $0.resumedAfterPage = nil } }

    /// A page is in.
    ///
    /// - Parameters:
    ///   - counts: What the walk did so far.
    ///   - before: What it had done before the page.
    ///   - records: The page's records.
    ///   - page: The page's number in the walk; nil where there are many walks.
    func add(_ counts: ImportCounts, since before: ImportCounts, records: Int, total: Int64?, page: Int?) {
        let event = state.withLock { state in
            state.pages += 1
            state.records += records
            state.counts += counts - before
            return SyncEvent.PageEvent(
                entity: entity, page: page ?? state.pages, records: state.records,
                total: state.parents == nil ? total : nil, counts: state.counts[index],
                elapsed: ContinuousClock.now - start)
        }
        report(.page(event))
    }

    /// A listing ended, and its bridge warned that this was not all of it.
    func markIncomplete() { state.withLock { $0.isIncomplete = true } }

    /// Counts what was done after the last page.
    func add(_ sweep: SweepResult) {
        state.withLock { state in
            for (entity, count) in sweep.deleted { state.counts[entity].deleted += count }
        }
    }

    /// Notes something that the user should know.
    func warn(_ words: String) {
        let isKept = state.withLock { state in
            guard state.warnings.count < Self.mostWarnings else {
                state.moreWarnings += 1
                return false
            }
            state.warnings.append(words)
            return true
        }
        if isKept { report(.warning(entity: entity, message: words)) }
    }

    /// Tells something that is of interest and no fault: the same words once, whatever the number of walks.
    func note(_ words: String) {
        let isNew = state.withLock { $0.notes.count < 3 && $0.notes.insert(words).inserted }
        if isNew { report(.note(entity: entity, message: words)) }
    }

    /// Changes what is told of parents.
    func parents(_ change: (inout SyncReport.Parents) -> Void) {
        state.withLock { state in
            var parents = state.parents ?? SyncReport.Parents()
            change(&parents)
            state.parents = parents
        }
    }
}
