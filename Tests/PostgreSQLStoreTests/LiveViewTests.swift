import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The view of the rows that are not deleted, while the tables change.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct LiveViewTests {
    private let fixture: StoreFixture

    /// A model of cities with a view, and of others without.
    private static func model(
        _ attributes: [Attribute] = [.of("name", .text)], view: String? = "live", others: [Attribute] = []
    ) throws -> CompiledModel {
        var city = Entity("City", key: ["id"], [.of("id", .integer)] + attributes)
        city.deletes = DeletePolicy(mode: .soft)
        city.deletes.view = view
        return try .of(city, Entity("Other", key: ["id"], [.of("id", .integer)] + others))
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("City", ["id": 1, "name": "7"])
        _ = try rows(
            """
            CREATE ROLE %_reader; GRANT USAGE ON SCHEMA % TO %_reader; GRANT SELECT ON %.live TO %_reader;
            CREATE VIEW public.report_% AS SELECT count(*) FROM %.live
            """)
    }

    private func rows(_ query: String) throws -> [String] {
        try fixture.server.rows(query.replacing("%", with: fixture.schema))
    }

    private func columns() throws -> [String] {
        try rows("SELECT attname FROM pg_attribute WHERE attrelid = '%.live'::regclass AND attnum > 0 ORDER BY attnum")
    }

    private func mayRead() throws -> Bool {
        try rows("SELECT has_table_privilege('%_reader', '%.live', 'SELECT')") == ["t"]
    }

    private func migrate(_ model: CompiledModel, _ backup: String = "before") throws {
        try fixture.store.close()
        _ = try PostgreSQLStores().migrate(fixture.path, to: model, backup: "\(fixture.path)-\(backup)")
    }

    @Test func `it stays with its rights and a view over it while columns are added and renamed`() throws {
        try fixture.reopen(Self.model(others: [.of("size", .integer)]))
        #expect(try columns() == ["id", "name", "deleted_at"])
        try fixture.reopen(Self.model([.of("size", .integer), .of("name", .text)]))
        #expect(try columns() == ["id", "name", "deleted_at", "size"])
        var title = Attribute.of("title", .text)
        title.renamedFrom = "name"
        try fixture.reopen(Self.model([.of("size", .integer), title]))
        #expect(try columns() == ["id", "title", "deleted_at", "size"])
        #expect(try rows("SELECT id, title FROM %.live") == ["1|7"])
        #expect(try rows("SELECT * FROM public.report_%") == ["1"])
        #expect(try mayRead())
    }

    @Test func `it is made again with its rights where a column changes, unless a view over it is in the way`() throws {
        let model = try Self.model([.of("name", .integer)])
        let error = try storeError { try migrate(model) }
        #expect(error.message.contains("view public.report_\(fixture.schema) depends on view \(fixture.schema).live"))
        #expect(error.code == .schema && error.remedy?.contains("of yours is in the way: drop it") == true)
        _ = try rows("DROP VIEW public.report_%")
        try migrate(model)
        #expect(try rows("SELECT id, name FROM %.live") == ["1|7"])
        #expect(try mayRead())
        try migrate(Self.model([]), "between")
        #expect(try columns() == ["id", "deleted_at"])
        #expect(try mayRead())
    }

    @Test func `a view of another program is not taken for it`() throws {
        _ = try rows("DROP VIEW public.report_%; CREATE VIEW %.mine AS SELECT 1")
        let model = try Self.model([.of("name", .text), .of("size", .integer)], view: "mine")
        let error = try storeError { try fixture.reopen(model) }
        #expect(error.message.hasSuffix(": the database has a view mine that bmo did not create"))
        #expect(error.remedy == "give the view of City under \"deletes\" another name, or rename the view")
        #expect(try columns() == ["id", "name", "deleted_at"], "nothing has changed")
    }

    @Test func `it goes when the configuration has no view`() throws {
        _ = try rows("DROP VIEW public.report_%")
        try fixture.reopen(Self.model([.of("name", .text), .of("size", .integer)], view: nil))
        #expect(try rows("SELECT to_regclass('%.live') IS NULL") == ["t"])
    }
}
