internal import StoreContract
internal import GRDB

extension LaterRuns {
    /// Reads the runs after a run.
    init(than run: Int64, in db: Database) throws {
        let undos = try Row.fetchAll(
            db, sql: "SELECT id, undoes FROM bmo_runs WHERE id > ? AND undoes IS NOT NULL ORDER BY id DESC",
            arguments: [run])
        self.init(than: run, undos: undos.map { ($0["id"] as Int64, $0["undoes"] as Int64) })
    }

    /// Returns the SQL condition that excludes cancelled runs.
    func condition(_ column: String) -> String {
        cancelled.isEmpty ? "true" : "\(column) NOT IN (\(cancelled.sorted().map(String.init).joined(separator: ", ")))"
    }
}
