internal import Mapping
internal import StoreContract
internal import StoreRules

/// The runs and the recorded changes as reports read them.
extension PostgreSQLTables {
    /// Returns the recorded changes that meet a condition, oldest first.
    func changes(where condition: String, _ parameters: [SQLParameter], order: String = "id") throws -> [ChangeRecord] {
        try flushChanges()
        let result = try connection.query(
            """
            SELECT id, run, entity, key, change, old, new, bridge, scan, location FROM \(sql.own("bmo_changes"))
            WHERE \(condition) ORDER BY \(order)
            """, parameters, for: "reading recorded changes")
        return try (0..<result.count).map { try ChangeRecord(result, $0) }
    }

    var lastChange: Int64 { counters.lastChange }

    func changes(ofRun run: Int64, after id: Int64, limit: Int?) throws -> [ChangeRecord] {
        try changes(
            where: "run = $1::bigint AND id > $2::bigint", [.bigint(run), .bigint(id)],
            order: "id" + (limit.map { " LIMIT \($0)" } ?? ""))
    }

    func changes(of entity: String, key: String) throws -> [ChangeRecord] {
        try changes(where: "entity = $1::text AND (key = $2::text OR key IS NULL)", [.text(entity), .text(key)])
    }

    func changes(after record: ChangeRecord) throws -> [ChangeRecord] {
        try changes(
            where: "entity = $1::text AND key = $2::text AND id > $3::bigint",
            [.text(record.entity), .text(record.key), .bigint(record.id)], order: "id DESC")
    }

    func hasLinkChanges(of entity: String, after id: Int64) throws -> Bool {
        try !changes(
            where: "entity = $1::text AND id > $2::bigint AND change = 'relinked'", [.text(entity), .bigint(id)],
            order: "id LIMIT 1"
        ).isEmpty
    }

    func lastRunWithChanges() throws -> Int64? {
        try connection.query("SELECT max(run) FROM \(sql.own("bmo_changes"))", for: "reading recorded changes")
            .bigint(0, 0)
    }

    func changeCounts(of runs: [Int64]) throws -> [Int64: RunRecord.Counts] {
        guard !runs.isEmpty else { return [:] }
        let result = try connection.query(
            """
            SELECT run, change, count(*) FROM \(sql.own("bmo_changes")) WHERE run = ANY($1::bigint[]) GROUP BY run, change
            """, [.bigints(runs)], for: "counting recorded changes")
        var counts: [Int64: RunRecord.Counts] = [:]
        for row in 0..<result.count {
            counts[result.bigint(row, 0) ?? 0, default: RunRecord.Counts()].add(
                result.text(row, 1) ?? "", Int(result.bigint(row, 2) ?? 0))
        }
        return counts
    }

    func runs(_ ids: [Int64]?, limit: Int?) throws -> [RunRecord] {
        guard let ids else { return try runs(limit: limit) }
        return try runs(where: "id = ANY($1::bigint[])", [.bigints(ids)], limit: limit)
    }

    /// Returns the runs that meet a condition, newest first.
    func runs(where condition: String = "true", _ parameters: [SQLParameter] = [], limit: Int? = nil) throws
        -> [RunRecord]
    {
        let result = try connection.query(
            """
            SELECT id, kind, started, finished, outcome, summary, undoes FROM \(sql.own("bmo_runs"))
            WHERE \(condition) ORDER BY id DESC \(limit.map { "LIMIT \($0)" } ?? "")
            """, parameters, for: "reading runs")
        return (0..<result.count).map { row in
            RunRecord(
                id: result.bigint(row, 0) ?? 0, kind: result.text(row, 1) ?? "", started: result.text(row, 2) ?? "",
                finished: result.text(row, 3), outcome: result.text(row, 4) ?? "", summary: result.text(row, 5),
                undoes: result.bigint(row, 6))
        }
    }
}
