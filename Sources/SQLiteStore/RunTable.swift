internal import Importer

/// What a run is when it begins.
struct RunDescription: Sendable {
    /// What wrote: a sync, an undo, another try of the quarantine.
    var kind: String
    /// When it began, as ISO 8601.
    var started: String
    /// The run that it undoes.
    var undoes: Int64?
    /// Whether it is one transaction of local edits: each row is recorded, the first of a table too.
    var isEdit = false
}

/// The runs that changed something or had something to tell: table `bmo_runs`.
final class RunTable {
    private let insertion: RawStatement
    private let closing: RawStatement
    private let finishing: RawStatement
    private let noting: RawStatement

    init(on connection: OpaquePointer?) throws {
        insertion = try RawStatement(
            "INSERT INTO bmo_runs (kind, started, outcome, undoes) VALUES (?, ?, 'running', ?)", on: connection)
        closing = try RawStatement(
            "UPDATE bmo_runs SET outcome = 'interrupted' WHERE outcome = 'running' AND (kind = 'push') = ?",
            on: connection)
        finishing = try RawStatement(
            "UPDATE bmo_runs SET finished = ?, outcome = ?, summary = ? WHERE id = ?", on: connection)
        noting = try RawStatement("UPDATE bmo_runs SET summary = ? WHERE id = ?", on: connection)
    }

    /// Writes the row of a run that begins, and returns its number.
    func add(_ run: RunDescription) throws -> Int64 {
        // A local edit has no lock: it is over with its transaction, and says nothing of the runs of others.
        if !run.isEdit { try closeDead(pushes: run.kind == "push") }
        insertion.bind(run.kind, at: 1)
        insertion.bind(run.started, at: 2)
        insertion.bind(optional: run.undoes, at: 3)
        try insertion.run()
        return insertion.lastInsertedRow
    }

    /// A run that still runs when another begins has died: of pushes there is one at a time, and one of all others.
    func closeDead(pushes: Bool) throws {
        closing.bind(pushes ? 1 : 0 as Int64, at: 1)
        try closing.run()
    }

    /// What a run that goes on has to tell so far.
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
