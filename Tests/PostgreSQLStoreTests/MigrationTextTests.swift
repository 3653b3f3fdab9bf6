import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// What a migration says of its changes and of its copy.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct MigrationTextTests {
    private let fixture: StoreFixture

    private static func city(id: AttributeType = .integer, name: AttributeType = .text) throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", id), .of("name", name)]))
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.city())
        try fixture.add("City", ["id": 1, "name": "7"])
        try fixture.store.close()
    }

    @Test func `a key of another type is named with both types, and the plan says that bmo cannot convert it`() throws {
        let model = try Self.city(id: .text)
        let plan = try PostgreSQLStores().migrationPlan(of: fixture.path, to: model)
        let remedy = "add schema=NAME to the address, and sync into a new schema"
        #expect(plan.steps.map(\.description) == ["convert City.id (the key) from bigint to text"])
        #expect(plan.steps.map(\.cost) == ["with 1 row"] && plan.steps.map(\.remedy) == [remedy])
        let quick = try PostgreSQLStores().schemaPlan(of: fixture.path, to: model)
        #expect(quick.obstacles.map(\.cost) == [nil] && quick.obstacles.map(\.remedy) == [remedy])
        let refusal = try storeError { try PostgreSQLStores().open(fixture.path, model: model, for: .writing).close() }
        #expect(refusal.remedy == remedy)
        let error = try storeError {
            _ = try PostgreSQLStores().migrate(fixture.path, to: model, backup: fixture.path + "-before")
        }
        #expect(
            error.message.hasSuffix(
                "bmo cannot do this on PostgreSQL yet: convert City.id (the key) from bigint to text"))
        #expect(error.remedy == remedy)
    }

    @Test func `the copy is named by its schema`() throws {
        let location = fixture.path + "&connect_timeout=30"
        let model = try Self.city(name: .integer)
        let plan = try PostgreSQLStores().migrationPlan(of: location, to: model)
        #expect(plan.steps.map(\.remedy) == [nil])
        let result = try PostgreSQLStores().migrate(location, to: model, backup: location + "-before")
        let backup = try #require(result.backup)
        #expect(backup.hasSuffix("connect_timeout=30&schema=\(fixture.schema)-before"))
        #expect(PostgreSQLStores().exists(backup))
        #expect(
            try PostgreSQLStores().contents(of: backup).map { $0.rows.map { $0.map(\.literal) } } == [[["1", "'7'"]]])
    }
}
