internal import Model
package import StoreContract

/// The runs and the recorded changes of a database, as reports read them; see ``DatabaseTables``.
package protocol RunTables: AnyObject {
    /// Returns runs, newest first, without the counts of their changes.
    ///
    /// - Parameters:
    ///   - ids: The runs; nil for all.
    ///   - limit: The maximum number of runs; nil for all.
    func runs(_ ids: [Int64]?, limit: Int?) throws -> [RunRecord]

    /// Returns the numbers of recorded changes of runs; a run without changes may be left out.
    func changeCounts(of runs: [Int64]) throws -> [Int64: RunRecord.Counts]

    /// Returns whether there are runs without an end.
    func hasOpenRuns(pushes: Bool) throws -> Bool

    /// Marks runs that are still open as killed.
    func closeDeadRuns(pushes: Bool) throws

    /// Deletes the runs before one, with their changes; writes nothing without such runs.
    func forgetRuns(before id: Int64) throws

    /// The ID of the newest recorded change; 0 before the first.
    var lastChange: Int64 { get }

    /// Returns the ID of the newest run that changed rows; nil if there is none.
    func lastRunWithChanges() throws -> Int64?

    /// Returns a run's changes after one, oldest first.
    ///
    /// - Parameter limit: The maximum number of changes; nil for all.
    func changes(ofRun run: Int64, after id: Int64, limit: Int?) throws -> [ChangeRecord]

    /// Returns the changes of a row and those of its whole table, oldest first.
    func changes(of entity: String, key: String) throws -> [ChangeRecord]

    /// Returns the changes of a record's row after it, newest first.
    func changes(after record: ChangeRecord) throws -> [ChangeRecord]

    /// Returns whether links of any object of an entity changed after a change.
    func hasLinkChanges(of entity: String, after id: Int64) throws -> Bool
}

extension RunTables {
    /// Deletes the runs that are too old; the newest is always kept.
    func forgetRuns(olderThan retention: HistoryRetention) throws {
        let kept: Int64?
        switch retention {
        case .forever: return
        case .runs(let count): kept = try runs(nil, limit: max(1, count)).last?.id
        case .seconds(let seconds):
            let start = Clock.text(secondsAgo: seconds)
            let all = try runs(nil, limit: nil)
            kept = all.last { $0.started >= start }?.id ?? all.first?.id
        }
        if let kept { try forgetRuns(before: kept) }
    }
}
