import Foundation
import ImportTestSupport
import Importer
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Connections that wait: for a lock, and for the commits of others.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct WaitingConnectionTests {
    private static func fixture() throws -> StoreFixture {
        try StoreFixture(overPostgreSQL: CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
    }

    @Test func `a wait for a lock keeps its connection`() async throws {
        let fixture = try Self.fixture()
        let (server, path) = (try fixture.server, fixture.path)
        let first = try PostgreSQLStores().lock(path, command: "holder")
        let command = "w \(fixture.schema)"
        let waiter = Task { try await PostgreSQLStores().lock(path, command: command, timeout: .unlimited) }
        let sessions = "SELECT pid, query_start FROM pg_stat_activity WHERE application_name LIKE 'bmo % \(command)'"
        func process(_ row: String) -> Substring? { row.split(separator: "|").first }
        let before = try await eventually("it waits") { try server.rows(sessions).first }
        let after = try await eventually("it tries again") { try server.rows(sessions).first { $0 != before } }
        #expect(process(after) == process(before))
        first.release()
        let second = try await waiter.value
        let holder = try #require(PostgreSQLStores().lockHolder(of: path, for: .writing))
        #expect(holder.command == command)
        second.release()
        try await eventually("the lock is free") { PostgreSQLStores().lockHolder(of: path, for: .writing) == nil }
    }

    @Test func `a wait for a lock goes on when the server ends its connection`() async throws {
        let fixture = try Self.fixture()
        let (server, path) = (try fixture.server, fixture.path)
        let first = try PostgreSQLStores().lock(path, command: "holder")
        let command = "w \(fixture.schema)"
        let waiter = Task { try await PostgreSQLStores().lock(path, command: command, timeout: .unlimited) }
        let connections = """
            SELECT pid FROM pg_stat_activity
            WHERE application_name LIKE 'bmo % \(command)' AND query LIKE '%pg_locks%' AND state = 'idle'
            """
        try await eventually("it waits") { try server.rows(connections).count == 1 }
        let process = try #require(try server.rows(connections).first)
        #expect(try server.rows("SELECT pg_terminate_backend(\(process))") == ["t"])
        try await eventually("it has another connection") {
            let now = try server.rows(connections)
            return now.count == 1 && now != [process]
        }
        first.release()
        try await waiter.value.release()
    }

    @Test func `observing has a connection for as long as there is an observer`() async throws {
        let fixture = try Self.fixture()
        let server = try fixture.server
        let observers = """
            SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT entity, commits FROM "\(fixture.schema)".%'
            """
        let other = try StoreFixture(fixture.model, kind: .postgresql, location: fixture.path)
        func observe(_ id: Int64) async throws {
            var changes = try fixture.store.changes(of: "City", every: .milliseconds(10)).makeAsyncIterator()
            try other.add("City", ["id": .integer(id)])
            #expect(await changes.next()?.isForeign == true)
            #expect(try server.rows(observers) == ["1"])
        }
        for id in 1...2 {
            try await observe(Int64(id))
            try await eventually("its connection has ended") { try server.rows(observers) == ["0"] }
        }
        let hourly = try fixture.store.changes(of: "City", every: .seconds(3600))
        #expect(try server.rows(observers) == ["1"])
        try fixture.store.close()
        try await eventually("it ends with the store") { try server.rows(observers) == ["0"] }
        withExtendedLifetime(hourly) {}
    }
}
