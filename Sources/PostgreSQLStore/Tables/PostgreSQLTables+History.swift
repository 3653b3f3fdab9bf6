internal import Mapping
internal import StoreContract
internal import StoreRules

/// The runs and the recorded changes.
extension PostgreSQLTables {
    func addRun(_ run: RunDescription) throws -> Int64 {
        // A local edit holds no lock, ends with its transaction, and does not show whether other runs have died.
        if !run.isEdit { try closeDeadRuns(pushes: run.kind == "push") }
        counters.lastRun += 1
        noteWritten()
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_runs")) (id, kind, started, outcome, undoes)
            VALUES ($1::bigint, $2::text, $3::text, 'running', $4::bigint)
            """, [.bigint(counters.lastRun), .text(run.kind), .text(run.started), .bigint(run.undoes)],
            for: "beginning a run")
        return counters.lastRun
    }

    func hasOpenRuns(pushes: Bool) throws -> Bool {
        try !runs(
            where: "outcome = 'running' AND (kind = 'push') = $1::boolean", [.boolean(pushes)], limit: 1
        ).isEmpty
    }

    func closeDeadRuns(pushes: Bool) throws {
        let closed = try connection.query(
            """
            UPDATE \(sql.own("bmo_runs")) SET outcome = 'killed'
            WHERE outcome = 'running' AND (kind = 'push') = $1::boolean
            """, [.boolean(pushes)], for: "closing dead runs")
        if closed.changed > 0 { noteWritten() }
    }

    func finishRun(_ id: Int64, outcome: String, summary: String?) throws {
        noteWritten()
        try connection.query(
            """
            UPDATE \(sql.own("bmo_runs")) SET finished = $2::text, outcome = $3::text, summary = $4::text
            WHERE id = $1::bigint
            """, [.bigint(id), .text(Clock.now()), .text(outcome), .text(summary)], for: "ending a run")
    }

    func setSummary(_ id: Int64, _ summary: String?) throws {
        noteWritten()
        try connection.query(
            "UPDATE \(sql.own("bmo_runs")) SET summary = $2::text WHERE id = $1::bigint",
            [.bigint(id), .text(summary)],
            for: "writing a run's summary")
    }

    func forgetRuns(before id: Int64) throws {
        let old = try connection.query(
            "SELECT 1 FROM \(sql.own("bmo_runs")) WHERE id < $1::bigint LIMIT 1", [.bigint(id)],
            for: "looking for old runs")
        guard old.count > 0 else { return }
        noteWritten()
        for (table, column) in [("bmo_runs", "id"), ("bmo_changes", "run")] {
            try connection.query(
                "DELETE FROM \(sql.own(table)) WHERE \(column) < $1::bigint", [.bigint(id)], for: "forgetting old runs")
        }
    }

    func append(_ change: ChangeRecord) throws {
        counters.lastChange += 1
        var change = change
        change.id = counters.lastChange
        newChanges.append(change)
        if newChanges.count >= 20_000 { try flushChanges() }
    }

    /// Writes the recorded changes.
    func flushChanges() throws {
        guard !newChanges.isEmpty else { return }
        noteWritten()
        let changes = newChanges
        try connection.send(
            """
            INSERT INTO \(sql.own("bmo_changes"))
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::text[])
            """,
            [
                .bigints(changes.map(\.id)), .bigints(changes.map(\.run)), .texts(changes.map(\.entity)),
                .optionalTexts(changes.map(\.key)), .texts(changes.map(\.change.rawValue)),
                .optionalTexts(changes.map { $0.old?.json.string }),
                .optionalTexts(changes.map { $0.new?.json.string }),
                .optionalTexts(changes.map(\.bridge)), .optionalTexts(changes.map(\.scan)),
                .optionalTexts(changes.map(\.location)),
            ], for: "recording changes")
        newChanges = []
    }

    func renameHistory(of entity: String, from old: String, to new: String) throws {
        try flushChanges()
        noteWritten()
        try connection.query(
            "UPDATE \(sql.own("bmo_changes")) SET key = $3::text WHERE entity = $1::text AND key = $2::text",
            [.text(entity), .text(old), .text(new)], for: "renaming a row")
    }
}
