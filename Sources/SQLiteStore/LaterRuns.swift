internal import GRDB

/// The runs after a run that still count: a run that was undone and the run that undid it cancel each other out.
struct LaterRuns {
    private let cancelled: Set<Int64>
    /// The run that undid the run itself, if that still counts.
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

    /// SQL that leaves the others out.
    func condition(_ column: String) -> String {
        cancelled.isEmpty ? "true" : "\(column) NOT IN (\(cancelled.sorted().map(String.init).joined(separator: ", ")))"
    }
}
