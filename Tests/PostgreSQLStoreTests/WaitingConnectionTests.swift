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

/// Connections that wait for the commits of others.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct WaitingConnectionTests {
    private static func fixture() throws -> StoreFixture {
        try StoreFixture(overPostgreSQL: CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
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
