internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The work that several processes share.
///
/// All changes of the board are made under the lock of transactions that write, and each transaction of a claimed unit
/// reads the claim under that lock: so a page of a worker whose unit was taken over is never committed, and checking it
/// writes nothing.
extension PostgreSQLStore: WorkStore {
    /// What a store has to do with a round.
    struct Work: Sendable {
        var worker: WorkerDescription?
        var claim: WorkClaim?
        /// A claim that could not be given back: without that, its unit would belong to a worker that does not know it.
        var unreleased: WorkClaim?
    }

    private static let noWorker = StoreError(.internal, "the store has not joined a round")
    private static let noClaim = StoreError(.internal, "the store has not claimed a unit")

    /// The error of a transaction whose unit another worker has taken over.
    static func superseded(_ claim: WorkClaim) -> StoreError {
        StoreError(
            .superseded, "another worker has taken over \(claim.unit): this one did not renew its lease",
            remedy: "no data is lost; raise --lease if workers pause for this long")
    }

    /// Joins the open round, or begins one if it is due.
    func joinRound(_ plan: [WorkUnit], as worker: WorkerDescription) throws -> Bool {
        let left = work.claim ?? work.unreleased
        work = Work(worker: worker, unreleased: left)
        try renewLease()
        let isOpen = try keepBooks { tables in
            var board = try tables.board()
            if let left, board.release(left.unit, epoch: left.epoch),
                let unit = board.units.first(where: { $0.name == left.unit })
            {
                try tables.save(unit)
            }
            if board.isOpen {
                guard board.differs(from: plan) else { return true }
                let others = board.workers.values.filter {
                    $0.id != worker.id && board.isAlive($0.id, at: board.instant)
                }
                guard others.isEmpty else {
                    let names = others.map(\.name).sorted().joined(separator: ", ")
                    throw StoreError(
                        .busy, "other workers have a different configuration: \(names)",
                        remedy: "stop them, or give all workers the same configuration")
                }
            } else if let ended = board.ended, board.instant - ended < worker.pause.milliseconds {
                return false
            }
            try tables.closeDeadRuns(pushes: false)
            // No scan that began before can go on: its claim does not count any more.
            try tables.forgetAcknowledged()
            board.begin(plan)
            try tables.saveRound(board)
            return true
        }
        work.unreleased = nil
        return isOpen
    }

    /// Claims a unit.
    func claimUnit() throws -> WorkBoard.Step {
        guard let worker = work.worker else { throw Self.noWorker }
        work.claim = nil
        // Asking needs no lock: a worker that waits does not keep others from writing.
        var glance = try read { try $0.board() }
        let glimpsed = glance.isOpen ? glance.claim(by: worker.id, at: glance.instant) : .over
        guard case .unit = glimpsed else { return glimpsed }
        let step = try keepBooks { tables -> WorkBoard.Step in
            var board = try tables.board()
            guard board.isOpen else { return .over }
            let step = board.claim(by: worker.id, at: board.instant)
            if case .unit(let unit) = step { try tables.save(unit) }
            return step
        }
        guard case .unit(let unit) = step else { return step }
        changeScans { $0 = OpenScans() }
        savedScans = [:]
        let claim = WorkClaim(unit: unit.name, epoch: unit.epoch)
        work.unreleased = claim
        let own = RunState(RunDescription(kind: "sync", started: Clock.now()), entityCount: model.entities.count)
        run = try read { try $0.run(of: claim, own) } ?? own
        (work.claim, work.unreleased) = (claim, nil)
        return step
    }

    /// Ends the claimed unit.
    func endUnit(_ result: String, keeping entity: Int?, adding units: [WorkUnit]) throws {
        guard let claim = work.claim else { throw Self.noClaim }
        let sweep = entity.flatMap { scans.parents[$0] }.map { ParentSweepText.json($0.saved) }
        try keepBooks { tables in
            var board = try tables.board()
            guard board.end(claim.unit, epoch: claim.epoch, adding: units),
                let index = board.units.firstIndex(where: { $0.name == claim.unit })
            else { throw Self.superseded(claim) }
            try tables.save(board.units[index])
            try tables.save(result, sweep: sweep, of: board.units[index])
            try tables.add(Array(board.units[(index + 1)...].prefix(units.count)), after: claim.unit)
        }
        work.claim = nil
    }

    /// Gives the claimed unit back.
    func releaseUnit() throws {
        guard let claim = work.claim else { throw Self.noClaim }
        try keepBooks { tables in
            var board = try tables.board()
            guard board.release(claim.unit, epoch: claim.epoch),
                let unit = board.units.first(where: { $0.name == claim.unit })
            else { throw Self.superseded(claim) }
            try tables.save(unit)
        }
        work.claim = nil
    }

    /// Says that the worker is alive.
    func renewLease() throws {
        guard let worker = work.worker else { return }
        try apart { connection in
            try connection.query(
                """
                INSERT INTO \(sql.own("bmo_workers")) AS w VALUES ($1::text, $2::text, $3::text,
                    \(PostgreSQLTables.now) + $4::bigint)
                ON CONFLICT (id) DO UPDATE SET lease_end = excluded.lease_end
                """,
                [.text(worker.id), .text(worker.name), .text(Clock.now()), .bigint(worker.lease.milliseconds)],
                for: "renewing a lease")
        }
    }

    /// Forgets the worker.
    func leave() throws {
        guard let worker = work.worker else { return }
        try apart { connection in
            try connection.query(
                "DELETE FROM \(sql.own("bmo_workers")) WHERE id = $1::text", [.text(worker.id)],
                for: "removing a worker")
            try connection.query(
                "DELETE FROM \(sql.own("bmo_shares")) WHERE worker = $1::text", [.text(worker.id)],
                for: "removing a part of the limits")
        }
        work = Work()
    }

    /// Returns the board as it is.
    func workBoard() throws -> WorkBoard? {
        try read { tables in
            guard try Catalog.format(tables.connection, schema: location.schema) >= 2 else { return nil }
            let board = try tables.board()
            return board.round > 0 ? board : nil
        }
    }

    /// Returns the results of a group's ended units.
    func results(of group: String?) throws -> [(unit: WorkUnit, result: String)] {
        try read { try $0.results(of: group) }.map { ($0.unit, $0.result) }
    }

    // MARK: - Parents

    /// Returns row numbers that divide the parents of a scan evenly.
    func parentBounds(
        of entity: Int, where conditions: [LocalCondition], size: Int, atMost count: Int
    ) throws -> [Int64] {
        let layout = model.entities[entity]
        return try read { tables in
            let table = try tables.table(layout.root)
            var condition = SQLCondition(layout, table)
            try condition.addKinds()
            condition.excludeDeleted()
            try condition.add(conditions)
            let rows = try tables.connection.query(
                """
                SELECT n FROM (
                    SELECT t.\(table.numberName) AS n, row_number() OVER (ORDER BY t.\(table.numberName)) AS i,
                        count(*) OVER () AS c
                    FROM \(table.name) t WHERE \(condition.text)
                ) s WHERE i = c OR i % greatest(\(size), (c + \(count - 1)) / \(count)) = 0 ORDER BY n
                """, condition.parameters, for: "dividing parents")
            return (0..<rows.count).compactMap { rows.bigint($0, 0) }
        }
    }

    /// Begins the end of a scan by parents with what its ranges have found missing.
    func gatherParents(of entity: Int, relationship: Int?, group: String) throws {
        let layout = model.entities[entity]
        let root = layout.root
        let gathered = try read { tables in
            var all = ParentSweep<Int64>()
            for unit in try tables.results(of: group) {
                if let sweep = unit.sweep { all.add(try ParentSweepText.saved(sweep)) }
            }
            try all.keepMissing { row, scope in
                guard let key = try tables.key(ofRow: row, in: root), let values = try tables.row(root, key) else {
                    return false
                }
                guard let toOne = relationship.map({ layout.toOne[$0] }) else { return true }
                let parent = values[toOne.firstField..<toOne.firstField + toOne.fieldCount]
                var present = scope
                present.parent = JSONText.key(Array(parent)).string
                return present == scope
            }
            return all
        }
        changeScans { $0.parents[entity] = gathered }
    }
}
