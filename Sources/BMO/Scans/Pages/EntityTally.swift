internal import Importer
internal import Mapping
internal import Model
internal import SystemCalls

/// The progress of the scans of one entity, which may run concurrently.
final class EntityTally: Sendable {
    /// The totals for the report.
    struct State: Sendable {
        var pages = 0
        var resumedAfterPage: Int?
        var counts: ImportCounts
        var warnings: [String] = []
        var parents: SyncReport.Parents?
        var isIncomplete = false
        /// The fields that the records of whole listings had; nil before the first.
        var present: PresentFields?
        fileprivate var records = 0
        fileprivate var hasBegun = false
        /// Whether records may have been counted twice, because a scan read its listing again.
        var hasRepeats = false
        fileprivate var moreWarnings = 0
        fileprivate var notes: Set<String> = []
    }

    private let entity: String
    private let index: Int
    private let bridge: String
    private let report: @Sendable (SyncEvent) -> Void
    private let start = ContinuousClock.now
    private let state: Mutex<State>
    /// How many more records of the scans may be quarantined.
    let quarantine: QuarantineBudget

    /// The limit of kept warnings; scans per parent may cause one for each parent.
    private static let maxWarnings = 100

    init(
        entity: Entity, index: Int, bridge: String, count: Int, report: @escaping @Sendable (SyncEvent) -> Void
    ) {
        quarantine = QuarantineBudget(of: entity)
        self.entity = entity.name
        self.index = index
        self.bridge = bridge
        self.report = report
        state = Mutex(State(counts: ImportCounts(entityCount: count)))
    }

    /// The totals, with a summary of the warnings beyond the limit.
    var result: State {
        var result = state.withLock { $0 }
        if result.moreWarnings > 0 { result.warnings.append("and \(result.moreWarnings) more warnings") }
        return result
    }

    /// Notes the beginning of a scan, possibly after the pages of an interrupted one.
    func began(afterPage page: Int?) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            if state.parents == nil { state.resumedAfterPage = page }
            return !state.hasBegun
        }
        if isFirst { report(.began(entity: entity, bridge: bridge, resumedAfterPage: page)) }
    }

    /// Notes that the scan starts from the beginning instead of resuming.
    func forgetResumption() { state.withLock { $0.resumedAfterPage = nil } }

    /// Notes that a listing is read again, whose records count once more.
    func noteRepeat() { state.withLock { $0.hasRepeats = true } }

    /// Counts an imported page.
    ///
    /// - Parameters:
    ///   - counts: The scan's counts so far.
    ///   - before: The scan's counts before the page.
    ///   - records: The page's records.
    ///   - page: The page's number in the scan; nil where there are many scans.
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

    /// Notes that a listing ended with a warning: it is incomplete, or rows that it lacks had to stay.
    func markIncomplete() { state.withLock { $0.isIncomplete = true } }

    /// Notes the fields that the records of a whole listing had.
    func add(_ present: PresentFields) {
        state.withLock { state in
            if state.present == nil { state.present = present } else { state.present?.merge(present) }
        }
    }

    /// Counts the deletions after the last page.
    func add(_ sweep: SweepResult) {
        state.withLock { state in
            for (entity, count) in sweep.deleted { state.counts[entity].deleted += count }
        }
    }

    /// Counts records that were quarantined although their page was rolled back.
    func addQuarantined(_ count: Int) { state.withLock { $0.counts[index].quarantined += count } }

    /// Adds a warning for the user.
    func warn(_ words: String) {
        let isKept = state.withLock { state in
            guard state.warnings.count < Self.maxWarnings else {
                state.moreWarnings += 1
                return false
            }
            state.warnings.append(words)
            return true
        }
        if isKept { report(.warning(entity: entity, message: words)) }
    }

    /// Reports a note that is not a fault; the same text only once, regardless of the number of scans.
    func note(_ words: String) {
        let isNew = state.withLock { $0.notes.count < 3 && $0.notes.insert(words).inserted }
        if isNew { report(.note(entity: entity, message: words)) }
    }

    /// Reports what is of interest to a verbose log only.
    func detail(_ words: String) { report(.detail(entity: entity, message: words)) }

    /// Changes the outcomes of scans per parent.
    func parents(_ change: (inout SyncReport.Parents) -> Void) {
        state.withLock { state in
            var parents = state.parents ?? SyncReport.Parents()
            change(&parents)
            state.parents = parents
        }
    }
}
