internal import StoreContract
internal import StoreRules
internal import Mapping

/// The record of each run's changes to rows: tables `bmo_runs` and `bmo_changes`, written in the page's transaction.
///
/// Code that writes a row calls ``record(_:key:_:old:new:)-(_,JSONText?,_,_,_)`` if ``records(_:)`` returns true.
/// ``begin(_:)`` begins a run, whose row is written with its first change: a run that changes nothing writes nothing.
/// Nothing is recorded outside a run.
///
/// Undo relies on this rule: `old` is null if the row did not exist before, and `new` is null if it does not exist
/// after. Both contain columns by name; a `stubbed` row is a stub after the change, and an `inserted` row with an old
/// value was one before.
final class ChangeLog {
    /// Whether an entity's table was empty when the run first inserted a row.
    private enum Load {
        case unknown, loading, ordinary
    }

    private struct State {
        /// The run's ID, once its row is written.
        var id: Int64?
        // Read for each row written, so no reference-counted property is next to it.
        var loads: [Load] = []
        /// The local edits that the run removed from the outbox before they were pushed.
        var dropped: [Int64] = []
    }

    /// The source of the records being imported.
    var source: PageSource? {
        didSet { if source?.bridge != oldValue?.bridge || source?.scan != oldValue?.scan { sourceNumber += 1 } }
    }
    /// A number that changes whenever the bridge or the scan changes.
    private(set) var sourceNumber = 0
    private var run: RunDescription?
    private var state = State()
    /// The state at the beginning of the open page.
    private var saved = State()
    private let entityCount: Int
    private let runs: RunTable
    private let insertion: RawStatement

    init(on connection: OpaquePointer?, entityCount: Int) {
        self.entityCount = entityCount
        runs = RunTable(on: connection)
        insertion = RawStatement(
            """
            INSERT INTO bmo_changes (run, entity, key, change, old, new, bridge, walk, location)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
    }

    // MARK: runs

    /// Begins a run; subsequent writes belong to it.
    func begin(_ run: RunDescription) {
        self.run = run
        state = State(loads: Array(repeating: run.isEdit ? .ordinary : .unknown, count: entityCount))
        saved = state
    }

    /// Records the writes of `body` as a separate run, which ends with the open transaction; an outer run continues
    /// afterwards.
    ///
    /// - Returns: The result with the run's ID, which is nil if nothing was recorded.
    func recording<Result>(
        _ kind: String, undoes: Int64? = nil, _ body: () throws -> Result
    ) throws -> (result: Result, run: Int64?) {
        let outer = (run, state, saved, source)
        defer {
            (run, state, saved) = (outer.0, outer.1, outer.2)
            source = outer.3
        }
        source = nil
        begin(RunDescription(kind: kind, started: Clock.now(), undoes: undoes, isEdit: true))
        let result = try body()
        guard let id = state.id else { return (result, nil) }
        try runs.finish(id, outcome: "finished", summary: droppedText)
        return (result, id)
    }

    /// Notes in the run's summary that a local edit was undone, or dropped in favour of the remote, before it was
    /// pushed.
    ///
    /// Code that waits for the edit learns of it from the summary. An import saves the note with its page by calling
    /// ``keepDropped()``.
    func noteDropped(_ entry: Int64) throws {
        guard run != nil else { return }
        try runID()
        state.dropped.append(entry)
    }

    /// Saves the edits dropped in the open page in its transaction, so that waiters need not wait for the end of the
    /// run.
    func keepDropped() throws {
        guard state.dropped.count > saved.dropped.count, let id = state.id else { return }
        try runs.setSummary(id, droppedText)
    }

    private var droppedText: String? { DroppedEdits.text(state.dropped, isEdit: run?.isEdit == true) }

    /// Ends the run with an outcome, and returns its ID.
    ///
    /// Call it outside a page, in a transaction.
    func end(outcome: String, summary: String?) throws -> Int64 {
        let id = try runID()
        try runs.finish(
            id, outcome: outcome, summary: DroppedEdits.adding(state.dropped, to: summary, isEdit: run?.isEdit == true))
        abandon()
        return id
    }

    /// Returns the run's ID, after writing its row if necessary.
    @discardableResult
    func runID() throws -> Int64 {
        if let id = state.id { return id }
        guard let run else { throw StoreError(.internal, "no run has begun") }
        let id = try runs.add(run)
        state.id = id
        return id
    }

    /// Discards the run, which has committed nothing.
    func abandon() {
        run = nil
        state = State()
        saved = state
    }

    /// Returns whether the run inserted the first rows into the entity's table.
    func isLoading(_ entity: Int) -> Bool { run != nil && state.loads[entity] == .loading }

    /// Returns the ID of the open run, if there is one.
    func runIDIfAny() throws -> Int64? { run == nil ? nil : try runID() }

    /// Marks runs that are still open as killed: only one process at a time syncs, and one pushes, so they have
    /// died.
    func closeDeadRuns(pushes: Bool) throws { try runs.closeDead(pushes: pushes) }

    /// The run's ID, once it has a row.
    var currentID: Int64? { state.id }

    /// Keeps the state of a committed page.
    func pageCommitted() { saved = state }

    /// Restores the state before a page that was rolled back, perhaps with the run's row.
    func pageRolledBack() { state = saved }

    // MARK: changes

    /// Returns whether changes of existing rows of the entity are recorded: there is a run, and it is not the entity's
    /// first load.
    func records(_ entity: Int) -> Bool {
        run != nil && state.loads[entity] != .loading
    }

    /// Returns whether an insert is recorded; begins the entity's load if its table is empty.
    func recordsInsert(_ layout: EntityLayout, isEmpty: () throws -> Bool) throws -> Bool {
        guard run != nil else { return false }
        switch state.loads[layout.index] {
        case .loading: return false
        case .ordinary: return true
        case .unknown:
            let isEmpty = try isEmpty()
            if isEmpty { try record(layout, key: nil as JSONText?, .loaded, old: nil, new: nil) }
            state.loads[layout.index] = isEmpty ? .loading : .ordinary
            return !isEmpty
        }
    }

    /// Records a change of a row, with the run's ID and the page's source; does nothing outside a run.
    ///
    /// - Parameters:
    ///   - layout: The entity's layout.
    ///   - key: The row's key, as written by ``JSONText/key(_:)-(Sequence<StoredValue>)``; nil only for
    ///     ``Change/loaded``.
    ///   - change: The kind of change.
    ///   - old: The columns before, as an object; nil if the row did not exist.
    ///   - new: The columns after; nil if the row no longer exists.
    func record(_ layout: EntityLayout, key: JSONText?, _ change: RowChange.Kind, old: JSONText?, new: JSONText?) throws
    {
        guard run != nil else { return }
        // Before the first bind, as the next run of the statement would report a failure between binding and running.
        let run = try runID()
        insertion.bind(run, at: 1)
        insertion.bind(layout.name, at: 2)
        insertion.bind(json: key, at: 3)
        insertion.bind(change.rawValue, at: 4)
        insertion.bind(json: old, at: 5)
        insertion.bind(json: new, at: 6)
        insertion.bind(source?.bridge, at: 7)
        insertion.bind(source?.scan, at: 8)
        insertion.bind(source?.location, at: 9)
        try insertion.run()
    }
}

extension RawStatement {
    fileprivate func bind(json: JSONText?, at index: Int32) {
        if let json { bind(utf8: json.bytes, at: index) } else { bind(nil as String?, at: index) }
    }
}
