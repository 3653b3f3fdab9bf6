import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Tables and columns of other programs in bmo's schema.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct ManagedColumnTests {
    private let fixture: StoreFixture

    private static func city(_ name: Attribute? = .of("name", .text)) throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", .integer)] + [name].compactMap(\.self)))
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.city())
        try fixture.add("City", ["id": 1, "name": "Oslo"], ["id": 2, "name": "{\"a\": [1, 2]}"])
        try fixture.store.close()
        try change(
            """
            ALTER TABLE %."City" ADD COLUMN note text DEFAULT 'mine';
            CREATE TABLE %."Report" (id bigint PRIMARY KEY, city bigint REFERENCES %."City");
            INSERT INTO %."Report" VALUES (7, 1)
            """)
    }

    private func change(_ statements: String) throws {
        _ = try fixture.server.rows(statements.replacing("%", with: fixture.schema))
    }

    private func rows(_ query: String) throws -> [String] {
        try fixture.server.rows(query.replacing("%", with: fixture.schema))
    }

    private func plan(_ model: CompiledModel) throws -> [String] {
        try PostgreSQLStores().migrationPlan(of: fixture.path, to: model).steps.map(\.description)
    }

    private func migrate(_ model: CompiledModel) throws -> MigrationResult {
        try PostgreSQLStores().migrate(fixture.path, to: model, backup: fixture.path + "-before")
    }

    private func expectOthersAreKept() throws {
        #expect(try rows(#"SELECT DISTINCT note FROM %."City""#) == ["mine"])
        #expect(try rows(#"SELECT id, city FROM %."Report""#) == ["7|1"])
        #expect(
            try rows(
                "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = '%.\"Report\"'::regclass")
                == ["1"])
    }

    @Test func `they stay through a migration, which drops what bmo created and nothing uses`() throws {
        #expect(try plan(Self.city()).isEmpty)
        #expect(try plan(Self.city(nil)) == ["drop the column City.name"])
        _ = try migrate(Self.city(nil))
        #expect(try fixture.lines("City") == ["1 'mine'", "2 'mine'"])
        try expectOthersAreKept()
    }

    @Test func `a new entity does not take over a table of its name`() throws {
        let model = try CompiledModel.of(
            Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)]),
            Entity("Report", key: ["id"], [.of("id", .integer)]))
        for body in [
            { _ = try PostgreSQLStores().open(fixture.path, model: model, for: .writing) },
            { _ = try plan(model) }, { _ = try migrate(model) },
        ] {
            let error = #expect(throws: StoreError.self) { try body() }
            #expect(error?.message.contains("there is a table Report that bmo did not create") == true)
        }
        try expectOthersAreKept()
    }

    @Test func `a database from before bmo recorded its tables keeps what the model does not name`() throws {
        try change("DROP TABLE %.bmo_columns; UPDATE %.bmo_database SET format = 3")
        try PostgreSQLStores().open(fixture.path, model: Self.city(), for: .reading(entities: nil)).close()
        #expect(try plan(Self.city(nil)).isEmpty, "it may be another program's")
        try PostgreSQLStores().open(fixture.path, model: Self.city(), for: .writing).close()
        #expect(
            try rows("SELECT table_name, column_name, attribute FROM %.bmo_columns ORDER BY 2") == [
                "City|id|integer", "City|name|text",
            ])
        #expect(try plan(Self.city(nil)) == ["drop the column City.name"])
        try expectOthersAreKept()
    }

    @Test func `a type that PostgreSQL stores like the earlier one is converted`() throws {
        let model = try Self.city(.of("name", .json))
        #expect(try plan(model) == ["convert City.name from text to json"])
        let refusal = #expect(throws: StoreError.self) {
            _ = try PostgreSQLStores().open(fixture.path, model: model, for: .writing)
        }
        #expect(refusal?.code == .schema)
        _ = try migrate(model)
        let values = try rows(#"SELECT id, name FROM %."City" ORDER BY id"#).map { $0.replacing(" ", with: "") }
        #expect(values == [#"1|"Oslo""#, #"2|{"a":[1,2]}"#], "each value is JSON")
        #expect(try plan(model).isEmpty)
        try expectOthersAreKept()
    }

    @Test(arguments: ["xmin", "ctid"]) func `a column that each table has is refused by name`(name: String) throws {
        let error = #expect(throws: StoreError.self) {
            _ = try PostgreSQLStores().open(fixture.path, model: Self.city(.of(name, .text)), for: .writing)
        }
        #expect(error?.message.contains("City.\(name): PostgreSQL has a column of its own") == true)
    }
}
