internal import Importer
internal import Mapping

/// What a run did to each row: tables `bmo_runs` and `bmo_changes`, written in the page's own transaction.
///
/// Who writes a row calls ``record(_:key:_:old:new:)-(_,JSONText?,_,_,_)`` after ``records(_:)`` has said that it is to be told. A run is
/// begun with ``begin(_:)``, and its row is written with its first change: a run that changes nothing writes nothing.
/// Without a run nothing is recorded.
///
/// The rule that undo goes by: `old` is null where the row was not there before, `new` where it is not there after. Both
/// hold columns by name; a `stubbed` row (`inserted` with an old value) is (was) one that is only referred to.
final class ChangeLog {
    /// What happened to a row.
    enum Change: String, Sendable {
        /// It is new; with an old value, it was a stub before.
        case inserted
        /// Some columns changed: these are in `old` and `new`.
        case updated
        /// It went, with its whole row in `old`; with a new value, it was only marked as gone.
        case deleted
        /// A relationship to many changed: see ``LinkChange``.
        case relinked
        /// It became a stub: a new one without an old value, and a stub that went without a new one.
        case stubbed
        /// The entity's first rows came: one record without a key for all of them.
        case loaded
    }

    /// Whether an entity's table was empty when the run first put a row into it.
    private enum Load {
        case unknown, loading, ordinary
    }

    private struct State {
        /// Of the run, once its row is written.
        var id: Int64?
        // Asked for each row that is written: nothing that counts references lies beside it.
        var loads: [Load] = []
        /// The local edits that the run took out of the outbox before they were sent.
        var dropped: [Int64] = []
    }

    /// Where the records come from that are being imported.
    var source: PageSource? {
        didSet { if source?.bridge != oldValue?.bridge || source?.walk != oldValue?.walk { sourceNumber += 1 } }
    }
    /// Another one whenever the bridge or the walk is another.
    private(set) var sourceNumber = 0
    private var run: RunDescription?
    private var state = State()
    /// As it was when the open page began.
    private var saved = State()
    private let entityCount: Int
    private let runs: RunTable
    private let insertion: RawStatement

    init(on connection: OpaquePointer?, entityCount: Int) throws {
        self.entityCount = entityCount
        runs = try RunTable(on: connection)
        insertion = try RawStatement(
            """
            INSERT INTO bmo_changes (run, entity, key, change, old, new, bridge, walk, location)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
    }

    // MARK: runs

    /// Begins a run; what is written from now on belongs to it.
    func begin(_ run: RunDescription) {
        self.run = run
        state = State(loads: Array(repeating: run.isEdit ? .ordinary : .unknown, count: entityCount))
        saved = state
    }

    /// Records what `body` writes as a run of its own, which is over with the transaction that is open; a run that has
    /// begun goes on afterwards.
    ///
    /// - Returns: The run's number with the result; nil when nothing was recorded.
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

    /// Keeps in the run's summary that a local edit was taken back, or given up for what the remote has, before it was sent:
    /// whoever waits for it is told.
    ///
    /// An import keeps it with its page, for which ``keepDropped()`` is called.
    func noteDropped(_ entry: Int64) throws {
        guard run != nil else { return }
        try runID()
        state.dropped.append(entry)
    }

    /// Keeps what the open page noted as dropped, in its transaction: who waits for an edit does not wait for the run's end.
    func keepDropped() throws {
        guard state.dropped.count > saved.dropped.count, let id = state.id else { return }
        try runs.setSummary(id, droppedText)
    }

    /// `{"dropped":[7,8]}`; of an import, whose summary has members of its own, `{"given_up":[7,8]}`.
    private var droppedText: String? {
        guard !state.dropped.isEmpty else { return nil }
        var text = JSONText()
        text.append("{")
        text.beginMember(run?.isEdit == true ? "dropped" : "given_up")
        text.append(.key(state.dropped.map { StoredValue.integer($0) }))
        text.append("}")
        return text.string
    }

    /// A summary with what was dropped.
    private func complete(_ summary: String?) -> String? {
        guard let dropped = droppedText else { return summary }
        guard let summary, summary.hasPrefix("{"), summary.count > 2 else { return dropped }
        return summary.dropLast() + "," + dropped.dropFirst()
    }

    /// Ends the run with how it ended, and returns its number.
    ///
    /// Call it outside of a page, in a transaction.
    func end(outcome: String, summary: String?) throws -> Int64 {
        let id = try runID()
        try runs.finish(id, outcome: outcome, summary: complete(summary))
        abandon()
        return id
    }

    /// The run's number, which writes its row if that is not there.
    @discardableResult
    func runID() throws -> Int64 {
        if let id = state.id { return id }
        guard let run else { throw StoreError(.internal, "no run has begun") }
        let id = try runs.add(run)
        state.id = id
        return id
    }

    /// Gives the run up: nothing of it was committed.
    func abandon() {
        run = nil
        state = State()
        saved = state
    }

    /// Whether the run has put the first rows into the entity's table.
    func isLoading(_ entity: Int) -> Bool { run != nil && state.loads[entity] == .loading }

    /// The number of the run that is open, if one is.
    func runIDIfAny() throws -> Int64? { run == nil ? nil : try runID() }

    /// Marks runs that still run as interrupted: one process syncs, and one pushes, at a time, so theirs have died.
    func closeDeadRuns(pushes: Bool) throws { try runs.closeDead(pushes: pushes) }

    /// The run's number, once it has a row.
    var currentID: Int64? { state.id }

    /// What the page did is there to stay.
    func pageCommitted() { saved = state }

    /// What the page did is gone, and with it perhaps the run's row.
    func pageRolledBack() { state = saved }

    // MARK: changes

    /// Whether a change of an existing row of the entity is to be recorded: there is a run, and it is not the entity's
    /// first load.
    func records(_ entity: Int) -> Bool {
        run != nil && state.loads[entity] != .loading
    }

    /// Whether a row that is about to be inserted is to be recorded; begins the entity's load if its table is empty.
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

    /// Writes down what happened to a row, with the run's number and the page's source; nothing without a run.
    ///
    /// - Parameters:
    ///   - layout: The entity's.
    ///   - key: The row's key, as ``JSONText/key(_:)-(Sequence<StoredValue>)`` has it; nil for ``Change/loaded`` alone.
    ///   - change: What happened.
    ///   - old: The columns before as an object; nil when there was no row.
    ///   - new: The columns after; nil when there is no row.
    func record(_ layout: EntityLayout, key: JSONText?, _ change: Change, old: JSONText?, new: JSONText?) throws {
        guard run != nil else { return }
        // Before the first value is bound: what fails between binding and running would be found by the next run.
        let run = try runID()
        insertion.bind(run, at: 1)
        insertion.bind(layout.name, at: 2)
        insertion.bind(json: key, at: 3)
        insertion.bind(change.rawValue, at: 4)
        insertion.bind(json: old, at: 5)
        insertion.bind(json: new, at: 6)
        insertion.bind(source?.bridge, at: 7)
        insertion.bind(source?.walk, at: 8)
        insertion.bind(source?.location, at: 9)
        try insertion.run()
    }
}

extension RawStatement {
    fileprivate func bind(json: JSONText?, at index: Int32) {
        if let json { bind(utf8: json.bytes, at: index) } else { bind(nil as String?, at: index) }
    }
}
