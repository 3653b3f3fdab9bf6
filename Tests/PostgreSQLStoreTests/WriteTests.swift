import ImportTestSupport
import Importer
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// What a page writes.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct WriteTests {
    private static func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Country", key: ["code"], [.of("code", .text), .of("name", .text)],
                [.one("capital", "City"), .many("languages", "Language")]),
            Entity("City", key: ["id"], [.of("id", .integer)], [.one("country", "Country"), .one("twin", "City")]),
            Entity("Language", key: ["code"], [.of("code", .text)]))
    }

    private static func record(_ number: Int) -> Literal {
        let city: Literal = [
            "id": .integer(Int64(number)), "country": .text("c\(number)"), "twin": .integer(Int64(number + 1)),
        ]
        return [
            "code": .text("c\(number)"), "name": .text("Country \(number)"), "capital": city,
            "languages": .array([.text("l\(number % 3)"), ["code": .text("l\(number % 5)")]]),
        ]
    }

    @Test func `an import that changes nothing writes nothing to the log`() throws {
        let server = try PostgreSQLServer("wal_level=minimal", "max_wal_senders=0", "autovacuum=off")
        let fixture = try StoreFixture(overPostgreSQL: Self.model(), on: server)
        let index = try #require(fixture.model.index(of: "Country"))
        for number in 0..<100 { try fixture.add("Country", Self.record(number)) }
        _ = try server.rows("CHECKPOINT")
        let before = try server.rows("SELECT pg_current_wal_insert_lsn()")
        for number in 0..<100 {
            let counts = try fixture.add("Country", Self.record(number))
            #expect(counts.unchanged == 1 && counts.inserted + counts.updated + counts.relinked == 0)
        }
        #expect(try fixture.store.rows(of: index, keys: [[.text("c7")]]).count == 1)
        #expect(try server.rows("SELECT pg_current_wal_insert_lsn()") == before)
    }

    @Test func `objects that refer to one another are written in one page with real foreign keys`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("Country", Self.record(1), Self.record(2), Self.record(0))
        #expect(
            try fixture.lines("City") == ["0 'c0' 1", "1 'c1' 2", "2 'c2' 3", "3 null null"])
        let keys = try fixture.server.rows(
            """
            SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = '\(fixture.schema)'::regnamespace
                AND condeferrable AND condeferred AND convalidated
            """)
        #expect(keys == ["5"])
        #expect(try fixture.store.stubs(of: "City") == ["[3]"])
    }

    @Test func `names that PostgreSQL would cut are refused`() throws {
        let long = String(repeating: "n", count: 64)
        let model = try CompiledModel.of(Entity(long, key: ["id"], [.of("id", .integer)]))
        let error = #expect(throws: StoreError.self) { _ = try StoreFixture(overPostgreSQL: model) }
        #expect(error?.code == .schema)
        #expect(error?.message.contains("has 64 bytes, but PostgreSQL allows 63") == true)
    }

    @Test func `a table of another program is not touched`() throws {
        let server = try PostgreSQLServer.shared.get()
        _ = try server.rows(#"CREATE SCHEMA foreign_tables; CREATE TABLE foreign_tables."City" (id text)"#)
        let error = #expect(throws: StoreError.self) {
            _ = try PostgreSQLStores().open(
                server.location("schema=foreign_tables"), model: Self.model(), for: .writing)
        }
        #expect(error?.description.contains("there is a table City that bmo did not create") == true)
        let tables = try server.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'foreign_tables'")
        #expect(tables == ["City"], "nothing is half made")
    }
}
