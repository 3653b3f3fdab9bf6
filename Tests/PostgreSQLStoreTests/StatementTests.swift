import StoreContract
import TestSupport
import Testing

@testable import PostgreSQLStore

/// The statements of a connection, each of which is prepared with its first use.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct StatementTests {
    private let server: PostgreSQLServer
    private let schema: String
    private let connection: Connection

    init() throws {
        server = try PostgreSQLServer.shared.get()
        let location = server.newLocation()
        schema = PostgreSQLServer.schema(of: location)
        connection = try Connection(DatabaseLocation(location))
        try connection.run("CREATE SCHEMA \(schema)")
    }

    @Test func `a statement that could not be prepared is prepared later`() throws {
        let select = "SELECT n FROM \(schema).later"
        let error = #expect(throws: StoreError.self) { try connection.query(select) }
        #expect(error?.message.contains("does not exist") == true)
        try connection.run("CREATE TABLE \(schema).later AS SELECT 7::bigint AS n")
        for _ in 0..<2 { #expect(try connection.query(select).bigint(0, 0) == 7) }
    }

    @Test func `a statement that failed when it ran can run again`() throws {
        let divide = "SELECT 6 / $1::bigint"
        #expect(throws: StoreError.self) { try connection.query(divide, [.bigint(0)]) }
        #expect(try connection.query(divide, [.bigint(2)]).bigint(0, 0) == 3)
        #expect(throws: StoreError.self) { try connection.query(divide, [.bigint(0)]) }
        #expect(try connection.query(divide, [.bigint(3)]).bigint(0, 0) == 2)
    }

    @Test func `statements behind one that failed are prepared again`() throws {
        try connection.run("CREATE TABLE \(schema).t (n bigint PRIMARY KEY)")
        let insert = "INSERT INTO \(schema).t VALUES ($1::bigint)"
        for _ in 0..<3 {
            try connection.send("SELECT 1 / $1::bigint", [.bigint(0)])
            try connection.send(insert, [.bigint(1)])
            #expect(throws: StoreError.self) { try connection.query("SELECT count(*) FROM \(schema).t") }
        }
        try connection.send(insert, [.bigint(1)])
        #expect(try connection.query("SELECT count(*) FROM \(schema).t").bigint(0, 0) == 1)
    }

    @Test func `the settings of a connection outlive a statement that fails first`() throws {
        let new = try Connection(connection.location, engine: connection.engine)
        #expect(throws: StoreError.self) { try new.query("SELECT 1 / $1::bigint", [.bigint(0)]) }
        #expect(try new.query("SHOW TimeZone").text(0, 0) == "UTC")
        #expect(try new.query("SHOW search_path").text(0, 0) == "pg_catalog, pg_temp")
    }

    @Test func `settings of a role that would be in the way are undone`() throws {
        _ = try server.rows(
            """
            CREATE ROLE \(schema)_set LOGIN; ALTER ROLE \(schema)_set SET quote_all_identifiers = on;
            ALTER ROLE \(schema)_set SET idle_session_timeout = '1s'
            """)
        let address = server.location().replacing("//bmo@", with: "//\(schema)_set@")
        let new = try Connection(DatabaseLocation(address))
        #expect(try new.query("SHOW quote_all_identifiers").text(0, 0) == "off")
        #expect(try new.query("SHOW idle_session_timeout").text(0, 0) == "0")
    }

    @Test func `a statement is prepared once`() throws {
        let count = "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1::text"
        let select = "SELECT $1::bigint + 1"
        for number in 1...3 {
            #expect(try connection.query(select, [.bigint(Int64(number))]).bigint(0, 0) == Int64(number) + 1)
        }
        #expect(try connection.query(count, [.text(select)]).bigint(0, 0) == 1)
    }
}
