import ImportTestSupport
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgreSQLStore

/// What an error advises where the server's settings, or what a user has added to the tables, are in the way.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RemedyTests {
    private let fixture: StoreFixture

    private static func city(_ name: AttributeType = .text) throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", name)]))
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.city())
        try fixture.add("City", ["id": 1, "name": "7"])
    }

    private func change(_ statements: String) throws {
        _ = try fixture.server.rows(statements.replacing("%", with: fixture.schema))
    }

    private func migrate() throws -> MigrationResult {
        try PostgreSQLStores().migrate(fixture.path, to: Self.city(.integer), backup: fixture.path + "-before")
    }

    @Test func `a function of a trigger without a path of its own is what fails`() throws {
        try change(
            """
            CREATE FUNCTION public.norm_%(t text) RETURNS text LANGUAGE sql AS 'SELECT upper(t)';
            CREATE FUNCTION public.tidy_%() RETURNS trigger LANGUAGE plpgsql
                AS 'BEGIN NEW.name := norm_%(NEW.name); RETURN NEW; END';
            CREATE TRIGGER tidy BEFORE INSERT ON %."City" FOR EACH ROW EXECUTE FUNCTION public.tidy_%()
            """)
        let error = try storeError { try fixture.add("City", ["id": 2, "name": "b"]) }
        #expect(error.code == .schema, "\(error)")
        #expect(error.remedy?.contains("ALTER FUNCTION NAME SET search_path") == true)
        try change("ALTER FUNCTION public.tidy_%() SET search_path = public")
        try fixture.add("City", ["id": 2, "name": "b"])
        #expect(try fixture.lines("City") == ["1 '7'", "2 'B'"])
    }

    @Test(arguments: [
        #"ALTER TABLE %."City" ALTER name SET DEFAULT 'none'"#, #"ALTER TABLE %."City" ADD CHECK (name <> '')"#,
        #"CREATE INDEX ON %."City" (upper(name))"#, #"CREATE VIEW %.names AS SELECT name FROM %."City""#,
        #"ALTER TABLE %."City" ADD COLUMN up text GENERATED ALWAYS AS (upper(name)) STORED"#,
    ])
    func `what uses a column is in the way of its conversion`(_ statement: String) throws {
        try change(statement)
        try fixture.store.close()
        let error = try storeError { _ = try migrate() }
        #expect(error.code == .schema && error.message.contains("converting City.name"), "\(error)")
        #expect(error.remedy?.contains("of yours is in the way: drop it") == true)
    }

    @Test func `a column that the server generates is copied and stays`() throws {
        try change(#"ALTER TABLE %."City" ADD COLUMN twice bigint GENERATED ALWAYS AS (id * 2) STORED"#)
        try fixture.store.close()
        #expect(try migrate().backup != nil)
        for schema in [fixture.schema, "\"\(fixture.schema)-before\""] {
            #expect(try fixture.server.rows("SELECT id, name, twice FROM \(schema).\"City\"") == ["1|7|2"], "\(schema)")
        }
    }

    @Test func `a role that may only read is told how to write`() throws {
        try change("CREATE ROLE %_ro LOGIN SUPERUSER; ALTER ROLE %_ro SET default_transaction_read_only = on")
        let location = try fixture.server.location("schema=\(fixture.schema)_new")
            .replacing("//bmo@", with: "//\(fixture.schema)_ro@")
        let error = try storeError {
            try PostgreSQLStores().open(location, model: Self.city(), for: .writing).close()
        }
        #expect(error.code == .open, "\(error)")
        #expect(error.remedy?.contains("default_transaction_read_only = off") == true)
    }

    @Test(arguments: [
        ("canceling statement due to statement timeout", "statement_timeout"),
        ("canceling statement due to user request", "another session has cancelled"),
    ])
    func `a cancelled statement is not taken for a missing server`(message: String, words: String) throws {
        let error = ServerError(
            state: "57014", message: message, action: "writing", isDisconnected: false, isRetried: false)
        #expect(error.storeError("here").remedy?.contains(words) == true)
    }
}
