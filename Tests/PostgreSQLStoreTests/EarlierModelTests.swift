import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Workers that are started with an earlier configuration than the tables have.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct EarlierModelTests {
    private let fixture: StoreFixture

    private static func city(_ attributes: Attribute...) throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", .integer)] + attributes))
    }

    private static func renamed() throws -> CompiledModel {
        var title = Attribute.of("title", .text)
        title.renamedFrom = "name"
        return try city(title)
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.city(.of("name", .text)))
        try fixture.add("City", ["id": 1, "name": "Oslo"])
    }

    private func check(_ model: CompiledModel) throws {
        try PostgreSQLStores().checkIsNewest(model, of: fixture.path)
    }

    private func expectRefusal(
        _ model: CompiledModel, _ words: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let error = try storeError(sourceLocation: sourceLocation) { try check(model) }
        #expect(error.code == .schema, sourceLocation: sourceLocation)
        #expect(error.message.contains("a later configuration has changed the tables"), sourceLocation: sourceLocation)
        #expect(
            error.message.hasSuffix("and this one, which has the tables of an earlier configuration, would \(words)"),
            sourceLocation: sourceLocation)
        #expect(error.remedy?.contains("give the worker the newer bmo.yml") == true, sourceLocation: sourceLocation)
    }

    @Test func `a worker whose attribute was renamed since is refused, until a sync returns to its configuration`()
        throws
    {
        let earlier = try Self.city(.of("name", .text))
        try check(earlier)
        try fixture.reopen(Self.renamed())
        try expectRefusal(earlier, "add the column City.name (text)")
        try check(Self.renamed())
        #expect(try fixture.lines("City") == ["1 'Oslo'"])
        try fixture.reopen(earlier)
        try check(earlier)
        try check(Self.renamed())
    }

    @Test func `a worker whose attribute was dropped since is refused`() throws {
        try fixture.store.close()
        let earlier = try Self.city(.of("name", .text))
        _ = try PostgreSQLStores().migrate(fixture.path, to: Self.city(), backup: fixture.path + "-before")
        try expectRefusal(earlier, "add the column City.name (text)")
        try check(Self.city())
    }

    @Test func `a configuration that needed no change of the tables is known as an earlier one, too`() throws {
        // The column of the removed attribute stays until the migration.
        let between = try Self.city(.of("title", .text))
        try fixture.reopen(Self.city(.of("name", .text), .of("title", .text)))
        try fixture.reopen(between)
        try fixture.store.close()
        _ = try PostgreSQLStores().migrate(fixture.path, to: Self.city(), backup: fixture.path + "-before")
        try expectRefusal(between, "add the column City.title (text)")
    }

    @Test func `an earlier configuration that the tables still fit is not refused`() throws {
        let earlier = try Self.city(.of("name", .text))
        try fixture.reopen(Self.city(.of("name", .text), .of("size", .integer)))
        try check(earlier)
    }

    @Test func `a new configuration may have an attribute of a dropped name`() throws {
        try fixture.store.close()
        _ = try PostgreSQLStores().migrate(fixture.path, to: Self.city(), backup: fixture.path + "-before")
        try check(Self.city(.of("name", .text), .of("size", .integer)))
    }

    @Test func `a database that does not exist yet, or has no notes of its models, refuses no worker`() throws {
        let server = try fixture.server
        try PostgreSQLStores().checkIsNewest(Self.city(), of: server.newLocation())
        try fixture.store.close()
        _ = try server.rows(
            """
            DROP TABLE \(fixture.schema).bmo_models; UPDATE \(fixture.schema).bmo_database SET format = 7
            """)
        try check(Self.city(.of("name", .text)))
        try fixture.reopen()
        #expect(try server.rows("SELECT count(*) FROM \(fixture.schema).bmo_models") == ["1"])
        #expect(try server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
    }

    @Test func `an extension of the bookkeeping does not take over a table of another program`() throws {
        try fixture.store.close()
        _ = try fixture.server.rows(
            """
            UPDATE \(fixture.schema).bmo_database SET format = 7;
            CREATE TABLE \(fixture.schema)."Report" (id bigint PRIMARY KEY)
            """)
        let model = try CompiledModel.of(
            Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)]),
            Entity("Report", key: ["id"], [.of("id", .integer)]))
        let error = try storeError {
            try PostgreSQLStores().open(fixture.path, model: model, for: .writing).close()
        }
        #expect(error.message.contains("there is a table Report that bmo did not create"))
    }
}
