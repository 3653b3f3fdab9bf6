internal import StoreContract
internal import GRDB

/// The runs after a run that are still in effect: a run that was undone and its undo cancel each other out.
struct LaterRuns {
    private let cancelled: Set<Int64>
    /// The run that undid this run, if it is still in effect.
    let undoneBy: Int64?

    init(than run: Int64, in db: Database) throws {
        var cancelled: Set<Int64> = []
        var undoneBy: Int64?
        let undos = try Row.fetchAll(
            db, sql: "SELECT id, undoes FROM bmo_runs WHERE id > ? AND undoes IS NOT NULL ORDER BY id DESC",
            arguments: [run])
        for row in undos {
            let (id, undone) = (row["id"] as Int64, row["undoes"] as Int64)
            guard !cancelled.contains(id) else { continue }
            if undone == run {
                undoneBy = undoneBy ?? id
            } else if undone > run {
                cancelled.formUnion([id, undone])
            }
        }
        self.cancelled = cancelled
        self.undoneBy = undoneBy
    }

    /// Returns the SQL condition that excludes cancelled runs.
    func condition(_ column: String) -> String {
        cancelled.isEmpty ? "true" : "\(column) NOT IN (\(cancelled.sorted().map(String.init).joined(separator: ", ")))"
    }
}
