internal import StoreContract
internal import StoreRules

/// The runs that changed or reported something: table `bmo_runs`.
final class RunTable {
    private let insertion: RawStatement
    private let closing: RawStatement
    private let finishing: RawStatement
    private let noting: RawStatement

    init(on connection: OpaquePointer?) {
        insertion = RawStatement(
            "INSERT INTO bmo_runs (kind, started, outcome, undoes) VALUES (?, ?, 'running', ?)", on: connection)
        closing = RawStatement(
            "UPDATE bmo_runs SET outcome = 'killed' WHERE outcome = 'running' AND (kind = 'push') = ?",
            on: connection)
        finishing = RawStatement(
            "UPDATE bmo_runs SET finished = ?, outcome = ?, summary = ? WHERE id = ?", on: connection)
        noting = RawStatement("UPDATE bmo_runs SET summary = ? WHERE id = ?", on: connection)
    }

    /// Inserts the row of a new run, and returns its ID.
    func add(_ run: RunDescription) throws -> Int64 {
        // A local edit holds no lock, ends with its transaction, and does not show whether other runs have died.
        if !run.isEdit { try closeDead(pushes: run.kind == "push") }
        insertion.bind(run.kind, at: 1)
        insertion.bind(run.started, at: 2)
        insertion.bind(optional: run.undoes, at: 3)
        try insertion.run()
        return insertion.lastInsertedRow
    }

    /// Marks runs that are still open as killed: only one push runs at a time, and one other run.
    func closeDead(pushes: Bool) throws {
        closing.bind(pushes ? 1 : 0 as Int64, at: 1)
        try closing.run()
    }

    /// Sets the summary so far of a run that continues.
    func setSummary(_ id: Int64, _ summary: String?) throws {
        noting.bind(summary, at: 1)
        noting.bind(id, at: 2)
        try noting.run()
    }

    func finish(_ id: Int64, outcome: String, summary: String?) throws {
        finishing.bind(Clock.now(), at: 1)
        finishing.bind(outcome, at: 2)
        finishing.bind(summary, at: 3)
        finishing.bind(id, at: 4)
        try finishing.run()
    }
}
