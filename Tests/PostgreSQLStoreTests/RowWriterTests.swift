import ImportTestSupport
import Mapping
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgreSQLStore

/// Which rows other programs have written since the last scan: only the batches of these are compared again.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RowWriterTests {
    private let listing: ItemListing
    private var fixture: StoreFixture { listing.fixture }

    init() throws {
        listing = try ItemListing(kind: .postgresql, location: PostgreSQLServer.shared.get().newLocation())
        _ = try listing.sync(ItemListing.batches)
        try fixture.reopen()
    }

    private func sync() throws -> [Int] { try listing.sync(ItemListing.batches).repeated }

    /// Runs `body` while another session has a transaction open that has run a statement; it is committed then.
    private func whileOpen(_ statement: String, _ body: () throws -> Void) async throws {
        let (server, schema) = (try fixture.server, fixture.schema)
        let other = Task.detached {
            try server.rows(
                """
                BEGIN; \(statement); LOCK TABLE \(schema).bmo_runs IN ROW SHARE MODE;
                DO $$ BEGIN
                    WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'go_\(schema)') LOOP
                        PERFORM pg_sleep(0.02);
                    END LOOP;
                END $$; COMMIT
                """)
        }
        try await eventually("the other session has run its statement") {
            try !server.rows(
                "SELECT pid FROM pg_locks WHERE relation = '\(schema).bmo_runs'::regclass AND mode = 'RowShareLock'"
            ).isEmpty
        }
        try body()
        _ = try server.rows("CREATE TABLE public.go_\(schema) ()")
        _ = try await other.value
    }

    @Test(arguments: [false, true])
    func `a row that another program changes is restored, and the other batches are recognised`(_ reopens: Bool) throws
    {
        for change in ["name = 'by hand'", "note = 'by hand'", "name = name", "id = 9999"] {
            #expect(try sync() == [0, 1, 2], "\(change)")
            if reopens { try fixture.reopen() }
            try listing.run("UPDATE {Item} SET \(change) WHERE id = 1500")
            if reopens { try fixture.reopen() }
            let isOther = change == "id = 9999"
            #expect(try sync() == (isOther ? [] : [0, 2]), "\(change)")
            #expect(try listing.names(1500) == ["'item 1500'"], "\(change)")
            #expect(try listing.count() == 3000, "the row with another key is not listed")
        }
    }

    @Test func `a row that another program deletes comes back`() throws {
        try listing.run("DELETE FROM {Item} WHERE id = 1500")
        #expect(try sync() == [])
        #expect(try listing.count() == 3000)
        #expect(try sync() == [0, 1, 2])
        // As many rows as before, one of them another.
        try listing.run("DELETE FROM {Item} WHERE id = 7; INSERT INTO {Item} (id) VALUES (9999)")
        #expect(try sync() == [])
        #expect(try listing.names(7) == ["'item 7'"])
    }

    @Test func `a row that gets another key, or is replaced, during a scan comes back`() throws {
        for change in [
            "UPDATE {Item} SET id = 9999 WHERE id = 5",
            "UPDATE {Item} SET id = 9999 WHERE id = 2500",
            "INSERT INTO {Item} (id) VALUES (9999); DELETE FROM {Item} WHERE id = 5",
        ] {
            _ = try listing.sync(ItemListing.batches) { try listing.run(change) }
            _ = try sync()
            #expect(try listing.names(5, 2500) == ["'item 5'", "'item 2500'"], "\(change)")
            #expect(try listing.count() == 3000, "\(change)")
            #expect(try sync() == [0, 1, 2], "\(change)")
        }
    }

    @Test func `an object that a page reports as deleted comes back when it is listed`() throws {
        _ = try listing.sync(ItemListing.batches, deleted: [["id": 5]])
        #expect(try listing.count() == 2999)
        _ = try sync()
        #expect(try listing.names(5) == ["'item 5'"])
    }

    @Test func `columns that change without their rows have these compared`() throws {
        let swap = "RENAME name TO other", back = "RENAME note TO name", end = "RENAME other TO note"
        for changes in [[swap, back, end], ["DROP COLUMN name", "ADD COLUMN name text COLLATE \"C\" DEFAULT 'zz'"]] {
            try fixture.store.close()
            for change in changes { try listing.run("ALTER TABLE {Item} \(change)") }
            try fixture.reopen()
            #expect(try sync() == [], "\(changes)")
            #expect(try listing.names(5) == ["'item 5'"], "\(changes)")
            #expect(try sync() == [0, 1, 2], "\(changes)")
        }
    }

    @Test func `many transactions behind an open one`() async throws {
        let table = "\(fixture.schema).\"Item\""
        try await whileOpen("SELECT pg_current_xact_id()") {
            _ = try fixture.server.rows(
                """
                DO $$ BEGIN
                    FOR i IN 1..1100 LOOP UPDATE \(table) SET name = name WHERE id = i; COMMIT; END LOOP;
                END $$
                """)
            _ = try sync()
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id = 5")
            _ = try sync()
            #expect(try listing.names(5) == ["'item 5'"])
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id = 2500")
        }
        _ = try sync()
        #expect(try listing.names(2500) == ["'item 2500'"])
        _ = try sync()
        #expect(try sync() == [0, 1, 2])
    }

    @Test func `a change that was rolled back is none`() throws {
        try listing.run("BEGIN; UPDATE {Item} SET name = 'by hand'; DELETE FROM {Item} WHERE id < 10; ROLLBACK")
        #expect(try sync() == [0, 1, 2])
    }

    @Test func `a transaction that is open during a scan is seen by the next one`() async throws {
        #expect(try sync() == [0, 1, 2])
        // Its numbers are older than those of the scan's snapshot, and a part of it has one that no snapshot names.
        let update = "UPDATE \(fixture.schema).\"Item\" SET name = 'by hand' WHERE id = 2500"
        var repeated: [Int] = []
        try await whileOpen("SAVEPOINT part; \(update)") { repeated = try sync() }
        #expect(repeated == [0, 1, 2])
        try fixture.reopen()
        #expect(try sync() == [0, 1])
        #expect(try listing.names(2500) == ["'item 2500'"])
        #expect(try sync() == [0, 1, 2])
    }

    @Test func `a change during a scan is found by the next one`() throws {
        _ = try listing.sync(ItemListing.batches) {
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id IN (500, 2500)")
        }
        #expect(try sync() == [1])
        #expect(try listing.names(500, 2500) == ["'item 500'", "'item 2500'"])
    }

    @Test func `a table that is written anew keeps its rows known`() throws {
        for statement in ["VACUUM FREEZE {Item}", "VACUUM FULL {Item}", "ANALYZE {Item}"] {
            try listing.run(statement)
            #expect(try sync() == [0, 1, 2], "\(statement)")
        }
        try listing.run("TRUNCATE {Item} CASCADE")
        #expect(try sync() == [])
        #expect(try listing.count() == 3000)
    }

    @Test func `triggers and rules may write any row`() throws {
        let rule = "CREATE RULE keep AS ON DELETE TO {Item} WHERE old.id < 0 DO INSTEAD NOTHING"
        try listing.run(rule)
        #expect(try sync() == [])
        try listing.run("DROP RULE keep ON {Item}")
        #expect(try sync() == [])
        try listing.run("ALTER TABLE {Item} ADD up bigint REFERENCES {Item} ON DELETE SET NULL")
        #expect(try sync() == [])
        try listing.run("ALTER TABLE {Item} DROP up")
        #expect(try sync() == [])
        #expect(try sync() == [0, 1, 2])
        let trigger = "suppress_redundant_updates_trigger()"
        try listing.run("CREATE TRIGGER same BEFORE UPDATE ON {Item} FOR EACH ROW EXECUTE FUNCTION \(trigger)")
        #expect(try sync() == [])
    }

    @Test func `rows restored from a backup are compared`() throws {
        #expect(try sync() == [0, 1, 2])
        try fixture.store.close()
        // As a physical backup leaves them: older rows, by older transactions, without the runs that came later.
        try listing.run("UPDATE {Item} SET name = 'backup' WHERE id = 3")
        _ = try fixture.server.rows("UPDATE \(fixture.schema).bmo_runs SET started = '2020-01-01T00:00:00Z'")
        try fixture.reopen()
        #expect(try sync() == [])
        #expect(try listing.names(3) == ["'item 3'"])
    }

    @Test func `another process that writes makes the rest of a scan compare`() throws {
        #expect(try sync() == [0, 1, 2])
        let repeated = try listing.sync(ItemListing.batches) {
            let other = try fixture.place.open(fixture.model)
            defer { try? other.close() }
            _ = try other.edit([
                LocalEdit(.update, entity: "Item", key: [.integer(2500)], values: ["note": .text("edited")])
            ])
        }.repeated
        #expect(repeated == [0])
    }

    @Test func `a mark of another time than shortly before now is not valid`() {
        let mark = WriterMark(oldest: 5_000_000_000, table: 7, later: [5_000_000_000, 5_000_000_002])
        #expect(WriterMark(mark.numbers) == mark && WriterMark([]) == nil)
        #expect(mark.isValid(before: 5_000_000_003) && mark.isValid(before: 5_000_000_000 + (1 << 30) - 1))
        #expect(!mark.isValid(before: 5_000_000_002), "a transaction of the mark has not begun")
        #expect(!mark.isValid(before: 4_999_999_999), "the database is older than the mark")
        #expect(!mark.isValid(before: 5_000_000_000 + (1 << 30)))
        let long = WriterMark(oldest: 1, table: 7, later: Array(1...20_001))
        #expect(long.numbers == [], "too many transactions to ask for")
    }
}
