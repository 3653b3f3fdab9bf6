import ImportTestSupport
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgreSQLStore

/// Transactions that the server rolls back for a reason that is gone the next time, and reads without their connection.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RetryTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("City", ["id": 1])
    }

    /// Makes the first updates of a run fail; a sequence counts them, as it is not rolled back.
    private func fail(times: Int, _ statement: String) throws {
        _ = try fixture.server.rows(
            """
            CREATE SEQUENCE \(fixture.schema).failures;
            CREATE FUNCTION \(fixture.schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('\(fixture.schema).failures') <= \(times) THEN \(statement) END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER fail BEFORE UPDATE ON \(fixture.schema).bmo_runs
                FOR EACH ROW EXECUTE FUNCTION \(fixture.schema).fail()
            """)
    }

    private func endRun() throws {
        try fixture.store.endRun(outcome: "finished", summary: nil, always: true)
    }

    private func outcomes() throws -> [String] {
        try fixture.server.rows("SELECT id, outcome FROM \(fixture.schema).bmo_runs ORDER BY id")
    }

    @Test(arguments: ["40001", "40P01"])
    func `a transaction that the server rolls back a few times succeeds`(_ state: String) throws {
        try fail(times: 3, "RAISE EXCEPTION 'try again' USING ERRCODE = '\(state)';")
        try endRun()
        #expect(try outcomes() == ["1|finished"])
        #expect(try fixture.server.rows("SELECT last_value FROM \(fixture.schema).failures") == ["4"])
    }

    @Test func `a transaction whose connection ends before the commit is run again over another one`() throws {
        try fail(times: 1, "PERFORM pg_terminate_backend(pg_backend_pid());")
        try endRun()
        #expect(try outcomes() == ["1|finished"])
    }

    @Test func `a transaction that the server rolls back each time fails after six tries`() throws {
        try fail(times: 1000, "RAISE EXCEPTION 'try again' USING ERRCODE = '40001';")
        let error = #expect(throws: StoreError.self) { try endRun() }
        #expect(error?.code == .busy && error?.isTransient == true)
        #expect(error?.description.contains("try again (SQLSTATE 40001)") == true)
        #expect(try outcomes() == ["1|running"])
        #expect(try fixture.server.rows("SELECT last_value FROM \(fixture.schema).failures") == ["6"])
    }

    @Test func `another error is not tried again`() throws {
        try fail(times: 1, "RAISE EXCEPTION 'never';")
        let error = #expect(throws: StoreError.self) { try endRun() }
        #expect(error?.isTransient == false)
        #expect(try fixture.server.rows("SELECT last_value FROM \(fixture.schema).failures") == ["1"])
    }

    @Test func `of two sessions in a deadlock the one of bmo gives way and then succeeds`() async throws {
        let (server, schema) = (try fixture.server, fixture.schema)
        let other = Task.detached {
            // It holds a row that bmo wants, and then wants the table that bmo holds; it would wait longer than bmo.
            try server.rows(
                """
                SET deadlock_timeout = '1min'; BEGIN; SELECT FROM \(schema).bmo_runs FOR UPDATE;
                DO $$ BEGIN
                    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted
                        AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))
                    LOOP PERFORM pg_sleep(0.02); END LOOP;
                END $$;
                LOCK TABLE \(schema).bmo_writers IN EXCLUSIVE MODE; COMMIT; SELECT 'done'
                """)
        }
        try await eventually("the other session holds the row") {
            try !server.rows(
                "SELECT pid FROM pg_locks WHERE relation = '\(schema).bmo_runs'::regclass AND mode = 'RowShareLock'"
            ).isEmpty
        }
        try endRun()
        #expect(try await other.value == ["done"])
        #expect(try outcomes() == ["1|finished"])
        #expect(try server.rows("SELECT deadlocks > 0 FROM pg_stat_database WHERE datname = 'postgres'") == ["t"])
    }

    /// Ends the processes that serve connections.
    private func end(_ processes: [Int32]) throws {
        for process in processes {
            #expect(try fixture.server.rows("SELECT pg_terminate_backend(\(process), 10000)") == ["t"])
        }
    }

    /// Leaves the store with two idle connections that the server has ended.
    private func endIdleConnections() throws {
        let store = try #require(fixture.store as? PostgreSQLStore)
        let processes: [Int32] = try store.read { first in
            let outer = try first.connection.serverProcess
            return try store.read { [outer, try $0.connection.serverProcess] }
        }
        #expect(Set(processes).count == 2)
        try end(processes)
    }

    @Test func `a read over a connection that the server has ended begins again over another one`() throws {
        try endIdleConnections()
        #expect(try fixture.rows("City") == ["1"])
        #expect(try fixture.rows("City") == ["1"])
    }

    @Test func `a single query over a connection that the server has ended runs again over another one`() throws {
        try endIdleConnections()
        #expect(try fixture.store.conflicts(entity: nil, key: nil).isEmpty)
        #expect(try fixture.rows("City") == ["1"])
    }

    @Test func `a read that loses its connection in the middle fails, and the next one does not`() throws {
        let store = try #require(fixture.store as? PostgreSQLStore)
        var runs = 0
        let error = try storeError {
            try store.read { tables in
                runs += 1
                let connection = try tables.connection
                try end([connection.serverProcess])
                try connection.query("SELECT 1")
            }
        }
        #expect(runs == 1 && error.isTransient, "\(error)")
        #expect(try fixture.rows("City") == ["1"])
    }

    @Test func `a read that loses its connection when it has read everything succeeds`() throws {
        let store = try #require(fixture.store as? PostgreSQLStore)
        let seven = try store.read { tables in
            let connection = try tables.connection
            let result = try connection.query("SELECT 7::bigint")
            try end([connection.serverProcess])
            return result.bigint(0, 0)
        }
        #expect(seven == 7)
        #expect(try fixture.rows("City") == ["1"])
    }

    @Test func `pauses double`() {
        let retry = TransientRetry(tries: 4, firstPause: 10)
        #expect((1...3).map(retry.longestPause) == [10, 20, 40])
    }
}
