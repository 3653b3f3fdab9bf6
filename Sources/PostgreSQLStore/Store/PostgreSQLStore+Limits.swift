internal import StoreContract

/// The parts of the bridges' limits that the workers of a schema have: the table `bmo_shares`.
///
/// Only the server's clock counts, and parts change under an advisory lock of the schema, which no page takes: a worker
/// never waits for another one's page.
extension PostgreSQLStore {
    /// Renews this worker's part, which may have to become smaller for others, or grows into what others gave up.
    func renewLimits(places: Int?, lowering: (Int) -> Bool) throws -> LimitPart {
        guard let worker = work.worker else { return .none }
        let lease = worker.lease.milliseconds
        var renewed = LimitPart.none
        try apart { connection in
            let seen = try parts(over: connection)
            let own = seen.parts.holders.first { $0.id == worker.id }?.divisor
            // Most calls end here, without having written anything.
            if let left = seen.left[worker.id], left * 3 > lease * 2,
                seen.parts.divisor(for: worker.id, places: places) == own
            {
                renewed = LimitPart(divisor: own ?? 0, validity: .milliseconds(left))
                return
            }
            try connection.run(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '5s'"
            )
            do {
                renewed = LimitPart(
                    divisor: try change(connection, worker.id, lease, places, lowering), validity: worker.lease)
                try connection.run("COMMIT", for: "committing a part of the limits")
            } catch {
                if connection.isAlive { try? connection.run("ROLLBACK") }
                throw error
            }
        }
        return renewed
    }

    private func change(
        _ connection: Connection, _ worker: String, _ lease: Int64, _ places: Int?, _ lowering: (Int) -> Bool
    ) throws -> Int {
        if sql.engine.hasLocks {
            try connection.query(
                "SELECT pg_advisory_xact_lock(\(0x626D_6F32), hashtext($1::text))", [.text(location.schema)],
                for: "dividing the limits")
        } else {
            try connection.run(
                "UPDATE \(sql.own("bmo_locks")) SET lease_end = lease_end + 1 WHERE purpose = '\(Bookkeeping.limitsLock)' AND holder = ''",
                for: "dividing the limits")
        }
        try connection.run(
            "DELETE FROM \(sql.own("bmo_shares")) WHERE lease_end < \(PostgreSQLTables.now)",
            for: "forgetting expired parts of the limits")
        let parts = try parts(over: connection).parts
        let own = parts.holders.first { $0.id == worker }?.divisor ?? 0
        let divisor = parts.divisor(for: worker, places: places)
        // Others may use what is given up as soon as it is recorded, so nothing may use it here any more.
        let isGivenUp = own == 0 || (divisor > 0 && divisor <= own) || lowering(divisor)
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_shares")) (worker, divisor, lease_end)
            VALUES ($1::text, $2::bigint, \(PostgreSQLTables.now) + $3::bigint)
            ON CONFLICT (worker) DO UPDATE SET divisor = excluded.divisor, lease_end = excluded.lease_end
            """, [.text(worker), .bigint(Int64(isGivenUp ? divisor : own)), .bigint(lease)],
            for: "renewing a part of the limits")
        return divisor
    }

    /// Returns the parts that have not expired, and for how many milliseconds they still count.
    private func parts(over connection: Connection) throws -> (parts: LimitParts, left: [String: Int64]) {
        let rows = try connection.query(
            """
            SELECT worker, divisor, lease_end - n FROM \(sql.own("bmo_shares")), (SELECT \(PostgreSQLTables.now) AS n) c
            WHERE lease_end >= n ORDER BY position
            """, for: "reading the parts of the limits")
        var left: [String: Int64] = [:]
        let holders = (0..<rows.count).map { row in
            let id = rows.text(row, 0) ?? ""
            left[id] = rows.bigint(row, 2) ?? 0
            return LimitParts.Holder(id: id, divisor: Int(rows.bigint(row, 1) ?? 0))
        }
        return (LimitParts(holders), left)
    }
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
