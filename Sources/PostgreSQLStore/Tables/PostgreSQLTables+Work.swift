internal import Mapping
internal import StoreContract
internal import StoreRules

/// A unit that a store has claimed.
struct WorkClaim: Sendable, Equatable {
    var unit: String
    var epoch: Int64
}

/// The board of units and workers, in the bookkeeping.
extension PostgreSQLTables {
    /// Between the names in a text.
    private static let separator = "\u{1}"

    /// The server's clock in milliseconds since 1970; not that of the transaction's beginning, as it may have waited.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// Returns the board.
    func board() throws -> WorkBoard {
        var board = WorkBoard(units: [])
        let round = try connection.query(
            "SELECT \(Self.now), number, ended FROM \(sql.own("bmo_round"))", for: "reading the round")
        guard round.count > 0 else {
            throw StoreError(
                .schema, "\(place): the table bmo_round is empty",
                remedy: "restore the database from a backup")
        }
        board.round = round.bigint(0, 1) ?? 0
        board.ended = round.bigint(0, 2)
        let units = try connection.query(
            """
            SELECT name, unit_group, entity, source, task, first_row, last_row, needs, state, owner, epoch, claims
            FROM \(sql.own("bmo_units")) ORDER BY position, name
            """, for: "reading the units")
        board.units = (0..<units.count).compactMap { Self.unit(units, $0) }
        let workers = try connection.query(
            "SELECT id, name, lease_end FROM \(sql.own("bmo_workers"))", for: "reading the workers")
        for row in 0..<workers.count {
            let id = workers.text(row, 0) ?? ""
            board.workers[id] = WorkBoard.Worker(
                id: id, name: workers.text(row, 1) ?? "", until: workers.bigint(row, 2) ?? 0)
        }
        board.instant = round.bigint(0, 0) ?? 0
        return board
    }

    private static func unit(_ rows: QueryResult, _ row: Int) -> WorkUnit? {
        guard let task = WorkUnit.Task(rawValue: rows.text(row, 4) ?? ""),
            let state = WorkUnit.State(rawValue: rows.text(row, 8) ?? "")
        else { return nil }
        var unit = WorkUnit(
            name: rows.text(row, 0) ?? "", group: rows.text(row, 1) ?? "", entity: rows.text(row, 2) ?? "",
            source: rows.text(row, 3) ?? "", task: task,
            needs: (rows.text(row, 7) ?? "").split(separator: separator).map(String.init))
        unit.after = rows.bigint(row, 5) ?? .min
        unit.through = rows.bigint(row, 6) ?? .max
        unit.state = state
        unit.owner = rows.text(row, 9)
        unit.epoch = rows.bigint(row, 10) ?? 0
        unit.claims = Int(rows.bigint(row, 11) ?? 0)
        return unit
    }

    /// The distance between the positions of a plan's units, among which those that they are divided into find room.
    private static let distance: Int64 = 1 << 20

    /// Begins a round: saves its number and its units, in place of all others.
    func saveRound(_ board: WorkBoard) throws {
        noteWritten()
        try connection.query(
            """
            UPDATE \(sql.own("bmo_round")) SET number = $1::bigint, ended = NULL, run = NULL, loading = '', dropped = ''
            """, [.bigint(board.round)], for: "beginning a round")
        try connection.query(
            "DELETE FROM \(sql.own("bmo_units")) WHERE name <> ALL($1::text[])",
            [.texts(board.units.map(\.name))], for: "forgetting units")
        try connection.query(
            "DELETE FROM \(sql.own("bmo_workers")) WHERE lease_end < \(Self.now) - 86400000",
            for: "forgetting workers")
        try save(board.units) { Int64($0) * Self.distance }
    }

    /// Saves units that another one was divided into.
    func add(_ units: [WorkUnit], after name: String) throws {
        guard !units.isEmpty else { return }
        let position = try connection.query(
            "SELECT position FROM \(sql.own("bmo_units")) WHERE name = $1::text", [.text(name)],
            for: "reading a unit"
        ).bigint(0, 0)
        try save(units) { (position ?? 0) + 1 + Int64($0) }
    }

    private func save(_ units: [WorkUnit], at position: (Int) -> Int64) throws {
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_units")) (name, position, unit_group, entity, source, task, first_row, last_row,
                needs, state, epoch, claims)
            SELECT n, p, g, e, s, t, f, l, d, 'waiting', c, 0 FROM unnest($1::text[], $2::bigint[], $3::text[],
                $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[], $10::bigint[])
                AS u(n, p, g, e, s, t, f, l, d, c)
            ON CONFLICT (name) DO UPDATE SET position = excluded.position, unit_group = excluded.unit_group,
                entity = excluded.entity, source = excluded.source, task = excluded.task,
                first_row = excluded.first_row, last_row = excluded.last_row, needs = excluded.needs,
                state = 'waiting', owner = NULL, epoch = excluded.epoch, claims = 0, result = NULL, sweep = NULL
            """,
            [
                .texts(units.map(\.name)), .bigints(units.indices.map(position)), .texts(units.map(\.group)),
                .texts(units.map(\.entity)), .texts(units.map(\.source)), .texts(units.map(\.task.rawValue)),
                .bigints(units.map(\.after)), .bigints(units.map(\.through)),
                .texts(units.map { $0.needs.joined(separator: Self.separator) }), .bigints(units.map(\.epoch)),
            ], for: "saving units")
    }

    /// Saves the state of a unit.
    func save(_ unit: WorkUnit) throws {
        noteWritten()
        try connection.query(
            """
            UPDATE \(sql.own("bmo_units")) SET state = $2::text, owner = $3::text, epoch = $4::bigint,
                claims = $5::bigint WHERE name = $1::text
            """,
            [
                .text(unit.name), .text(unit.state.rawValue), .text(unit.owner), .bigint(unit.epoch),
                .bigint(Int64(unit.claims)),
            ], for: "saving a unit")
    }

    /// Saves what an ended unit leaves.
    func save(_ result: String, sweep: String?, of unit: WorkUnit) throws {
        noteWritten()
        try connection.query(
            "UPDATE \(sql.own("bmo_units")) SET result = $2::text, sweep = $3::text WHERE name = $1::text",
            [.text(unit.name), .text(result), .text(sweep)], for: "saving the result of a unit")
        guard unit.task == .close else { return }
        try connection.run("UPDATE \(sql.own("bmo_round")) SET ended = \(Self.now)", for: "ending a round")
    }

    /// Returns the results of ended units, and what their scans of parents found missing.
    func results(of group: String?) throws -> [(unit: WorkUnit, result: String, sweep: String?)] {
        let rows = try connection.query(
            """
            SELECT name, unit_group, entity, source, task, first_row, last_row, needs, state, owner, epoch, claims,
                result, sweep
            FROM \(sql.own("bmo_units")) WHERE state = 'ended' AND ($1::text IS NULL OR unit_group = $1)
            ORDER BY position, name
            """, [.text(group)], for: "reading the results of units")
        return (0..<rows.count).compactMap { row in
            Self.unit(rows, row).map { ($0, rows.text(row, 12) ?? "{}", rows.text(row, 13)) }
        }
    }

    // MARK: - The fence

    /// Returns the round's run as the transaction sees it, if a claim still counts; nil if another worker has the unit.
    func run(of claim: WorkClaim, _ run: RunState) throws -> RunState? {
        let rows = try connection.query(
            """
            SELECT r.run, r.loading, r.dropped FROM \(sql.own("bmo_units")) u CROSS JOIN \(sql.own("bmo_round")) r
            WHERE u.name = $1::text AND u.epoch = $2::bigint AND u.state = 'working'
            """, [.text(claim.unit), .bigint(claim.epoch)], for: "checking the claim of a unit")
        guard rows.count > 0 else { return nil }
        guard run.run != nil else { return run }
        var shared = run
        shared.id = rows.bigint(0, 0)
        for name in (rows.text(0, 1) ?? "").split(separator: Self.separator) {
            if let index = model.index(of: String(name)) { shared.loads[index] = .loading }
        }
        shared.dropped = (rows.text(0, 2) ?? "").split(separator: ",").compactMap { Int64($0) }
        return shared
    }

    /// Saves the round's run, which all workers continue.
    func save(_ run: RunState) throws {
        guard let id = run.id else { return }
        noteWritten()
        let loading = run.loads.indices.filter { run.loads[$0] == .loading }.map { model.entities[$0].name }
        try connection.query(
            "UPDATE \(sql.own("bmo_round")) SET run = $1::bigint, loading = $2::text, dropped = $3::text",
            [
                .bigint(id), .text(loading.joined(separator: Self.separator)),
                .text(run.dropped.map(String.init).joined(separator: ",")),
            ], for: "saving the round's run")
    }
}
