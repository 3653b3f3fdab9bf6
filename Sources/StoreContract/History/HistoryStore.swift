public import Mapping
public import Model

/// The runs and what each changed, row by row.
///
/// Everything that is written between ``beginRun(kind:)`` and ``endRun(outcome:summary:always:keeping:)`` is recorded as
/// the run's changes; a run that changes nothing leaves no trace unless asked to. Only one run is open at a time per
/// store; edits, drops and undos are runs of their own, which the store begins and ends itself.
///
/// ```swift
/// try store.beginRun(kind: "sync")
/// // pages
/// let run = try store.endRun(outcome: "finished", summary: nil, always: false, keeping: .usual)
/// if let run { try store.changes(of: run, entity: nil) { print($0.entity, $0.kind) } }
/// ```
///
/// Reports may be read from any thread at any time; a run is begun and ended by the thread that writes its pages.
/// Errors are ``StoreError``; undo throws ``UndoRefusal`` besides.
public protocol HistoryStore: AnyObject, Sendable {
    /// Begins a run; earlier runs that are still open are marked as killed.
    ///
    /// Call it with the database's lock, or with the push lock for the kind `push`.
    func beginRun(kind: String) throws

    /// Ends the run, saves its outcome, and deletes runs that are too old.
    ///
    /// - Parameters:
    ///   - outcome: The outcome, as a word.
    ///   - summary: A summary of its work, as JSON.
    ///   - always: Whether to keep the run even if it changed nothing.
    ///   - retention: The runs to keep; the newest is always kept.
    /// - Returns: The run's ID, if it was kept.
    @discardableResult
    func endRun(outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention) throws -> Int64?

    /// Returns the runs that are kept, newest first.
    ///
    /// - Parameters:
    ///   - id: Returns only this run; nil for all.
    ///   - limit: The maximum number of runs; nil for all.
    func runs(id: Int64?, limit: Int?) throws -> [RunRecord]

    /// Returns the ID of the newest run that changed rows.
    func lastRunWithChanges() throws -> Int64?

    /// Calls `body` with a run's change of each row, by entity and key; `entity` nil stands for all.
    func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws

    /// Returns the sources and changes of a row.
    func history(of entity: Int, key: [StoredValue]) throws -> RowHistory

    /// Reverts a run, in one transaction that is recorded as a run of its own.
    ///
    /// The positions and cursors of the scans that brought its rows are forgotten, so that the next sync imports the
    /// remote's state.
    ///
    /// - Returns: The ID of the run that records the undo.
    /// - Throws: ``UndoRefusal`` if other runs or programs have changed the same rows since; ``StoreError``.
    func undo(run id: Int64) throws -> Int64

    /// Returns the columns not created by bmo, as `Entity.column`, whose values an undo of the run cannot restore.
    func columnsWithoutHistory(undoing id: Int64) throws -> [String]

    /// Returns the ID of the newest recorded change, before a page begins.
    func newestChange() throws -> Int64

    /// Returns what this store's run changed after a recorded change, row by row; call it between two pages.
    ///
    /// - Parameters:
    ///   - number: The number of the change after which to begin.
    ///   - limit: The maximum number of change records to read.
    func changes(after number: Int64, limit: Int) throws -> [RowChange]
}

extension HistoryStore {
    /// Ends the run and keeps the usual history; see ``endRun(outcome:summary:always:keeping:)``.
    @discardableResult
    public func endRun(outcome: String, summary: String?, always: Bool) throws -> Int64? {
        try endRun(outcome: outcome, summary: summary, always: always, keeping: .usual)
    }

    /// Returns the newest runs, newest first.
    public func runs(limit: Int) throws -> [RunRecord] { try runs(id: nil, limit: max(0, limit)) }

    /// Returns a run; empty if it is not kept.
    public func runs(id: Int64) throws -> [RunRecord] { try runs(id: id, limit: nil) }

    /// Calls `body` with a run's change of each row, by entity and key.
    public func changes(of run: Int64, _ body: (RowChange) throws -> Void) throws {
        try changes(of: run, entity: nil, body)
    }

    /// Returns the changes of local edits before a run, of the objects that others changed, by the runs' IDs.
    package func earlierEdits(of changes: [RowChange], than run: Int64) throws -> [Int64: [RowChange]] {
        let keys = Dictionary(grouping: changes, by: \.entity).mapValues { Set($0.map(\.key)) }
        var earlier: [Int64: [RowChange]] = [:]
        for other in try runs(id: nil, limit: nil) where ["edit", "undo"].contains(other.kind) && other.id < run {
            for (entity, keys) in keys {
                try self.changes(of: other.id, entity: entity) { change in
                    if keys.contains(change.key) { earlier[other.id, default: []].append(change) }
                }
            }
        }
        return earlier
    }
}
