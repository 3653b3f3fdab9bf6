internal import StoreContract

/// Which database it is, and in which state bmo left it.
extension PostgreSQLTables {
    /// Returns a text that another database does not have, nor one that was restored from a backup with its log.
    ///
    /// - Returns: Nil if the role may not ask for it.
    func identity() throws -> String? {
        let functions = ["pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_current_wal_insert_lsn()"]
        let mayAsk = try connection.query(
            "SELECT bool_and(has_function_privilege(f, 'EXECUTE')) FROM unnest($1::text[]) AS u (f)",
            [.texts(functions)], for: "asking for the role's rights")
        guard mayAsk.boolean(0, 0) else { return nil }
        // The first eight digits of a log file's name are the timeline, which begins with a restoration.
        let parts = try connection.query(
            """
            SELECT s.system_identifier::text || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || ' '
                || d.oid::text FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()
            """, for: "asking which database this is")
        return parts.count == 1 ? parts.text(0, 0).map { "\($0) \(sql.schema)" } : nil
    }

    /// A run that has ended.
    struct EndedRun: Equatable {
        var id: String
        var started: String
        var finished: String
    }

    /// Returns the newest run; nil if there is none, or if it has not ended.
    func newestRun() throws -> EndedRun? {
        let newest = try connection.query(
            "SELECT id::text, started, finished FROM \(sql.own("bmo_runs")) ORDER BY bmo_runs.id DESC LIMIT 1",
            for: "reading the newest run")
        guard newest.count == 1, let id = newest.text(0, 0), let started = newest.text(0, 1),
            let finished = newest.text(0, 2)
        else { return nil }
        return EndedRun(id: id, started: started, finished: finished)
    }

    /// Returns whether the database has a run, which ended as it did.
    func hasRun(_ run: EndedRun) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM \(sql.own("bmo_runs"))
                WHERE id::text = $1::text AND started = $2::text AND finished = $3::text)
            """, [.text(run.id), .text(run.started), .text(run.finished)], for: "looking for a run"
        ).boolean(0, 0)
    }
}
