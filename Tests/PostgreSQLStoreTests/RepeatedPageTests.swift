import ImportTestSupport
import Importer
import Mapping
import RecordBatch
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

@testable import PostgreSQLStore

/// Pages that only repeat batches: they look at the state of the database, and need no transaction.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RepeatedPageTests {
    private let listing: ItemListing
    private let batches: [RecordBatch]
    private var fixture: StoreFixture { listing.fixture }
    private var schema: String { fixture.schema }

    init() throws {
        listing = try ItemListing(kind: .postgresql, location: PostgreSQLServer.shared.get().newLocation())
        batches = try ItemListing.batches.map { try Literal.batch($0) }
        _ = try listing.sync(ItemListing.batches)
        try fixture.reopen()
    }

    /// Repeats a batch on a page; returns whether it was repeated.
    private func repeats(_ index: Int, on page: PageImport, _ memory: (any BatchMemory)?) throws -> Bool {
        let digest = batches[index].digest
        return try page.repeatBatch(digest, #require(memory?.summary(of: digest)))
    }

    private func commit(_ page: PageImport, _ number: Int) throws {
        try page.commit(progress: ScanProgress(cursor: "\(number)", page: number, request: "r"))
    }

    /// How many transactions have the lock to write.
    private func locks() throws -> Int {
        let found = try fixture.server.rows(
            "SELECT pid FROM pg_locks WHERE granted AND relation = '\(schema).bmo_writers'::regclass AND mode = 'ExclusiveLock'"
        )
        return found.count
    }

    /// Another session's transaction that keeps all others of bmo waiting.
    private func blockingSession() throws -> Connection {
        let other = try Connection(DatabaseLocation(fixture.path))
        try other.run("BEGIN; LOCK TABLE \(schema).bmo_writers IN EXCLUSIVE MODE")
        return other
    }

    @Test func `they wait for no other transaction`() throws {
        try listing.scan { memory in
            let other = try blockingSession()
            for number in 1...2 {
                let page = try listing.beginPage(number)
                #expect(try repeats(number - 1, on: page, memory))
                try commit(page, number)
            }
            try other.run("ROLLBACK")
        }
        #expect(try listing.sync(ItemListing.batches).repeated == [0, 1, 2])
    }

    @Test func `a page that turns out to write waits`() throws {
        try listing.scan { memory in
            let page = try listing.beginPage(1)
            #expect(try repeats(0, on: page, memory))
            let other = try blockingSession()
            // The page waits for 30 s; this ends it sooner.
            try other.send(
                [
                    """
                    DO $$ BEGIN
                        FOR i IN 1..1000 LOOP
                            PERFORM pg_sleep(0.01);
                            PERFORM pg_cancel_backend(pid) FROM pg_locks
                                WHERE NOT granted AND relation = '\(schema).bmo_writers'::regclass;
                            EXIT WHEN FOUND;
                        END LOOP;
                    END $$
                    """
                ], isLast: true)
            let new = try Literal.batch(ItemListing.items(4001...4010))
            let error = #expect(throws: StoreError.self) { try listing.add(new, to: page) }
            #expect(error?.message.contains("canceling statement") == true)
            page.rollback()
            try other.run("ROLLBACK")
        }
        #expect(try listing.count() == 3000)
    }

    @Test func `one whose transaction begins after another process has written is written again`() throws {
        let new = try Literal.batch(ItemListing.items(4001...4010))
        try listing.scan { memory in
            let page = try listing.beginPage(1)
            #expect(try repeats(0, on: page, memory))
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id = 5")
            _ = try fixture.server.rows("UPDATE \(schema).bmo_database SET version = version + 1")
            let error = #expect(throws: StoreError.self) { try listing.add(new, to: page) }
            #expect(error?.isTransient == true && error?.message.contains("another process has written") == true)
            page.rollback()
            // Its transaction begins at once now, so that it does not have to begin a third time beside busy writers.
            let again = try listing.beginPage(1)
            #expect(try locks() == 1)
            #expect(memory?.summary(of: batches[0].digest) == nil, "nothing is known any more")
            try listing.add(batches[0], to: again)
            try listing.add(new, to: again)
            try commit(again, 1)
        }
        #expect(try listing.names(5) == ["'item 5'"])
        #expect(try listing.count() == 3010)
    }

    @Test func `what others change after the beginning of a scan, and before its first page, is compared`() throws {
        try listing.scan { memory in
            #expect(memory?.summary(of: batches[0].digest) != nil)
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id = 5")
            let page = try listing.beginPage(1)
            let summary = BatchSummary(records: 1000, absentFields: [], members: [])
            #expect(try !page.repeatBatch(batches[0].digest, summary))
            #expect(try repeats(1, on: page, memory))
            try listing.add(batches[0], to: page)
            try commit(page, 1)
        }
        #expect(try listing.names(5) == ["'item 5'"])
    }

    @Test func `what was read of another database's time is not saved for this one`() throws {
        // A database that was restored from a backup lacks the newest run.
        _ = try fixture.server.rows("UPDATE \(schema).bmo_runs SET finished = '2001-01-01T00:00:00Z'")
        try listing.run("UPDATE {Item} SET name = 'of the backup' WHERE id = 5")
        try fixture.reopen()
        // A scan that fails before its first page, and another write of the same process.
        try listing.scan { _ in }
        try fixture.add("Order", ["id": 1])
        try fixture.reopen()
        #expect(try listing.sync(ItemListing.batches).repeated == [])
        #expect(try listing.names(5) == ["'item 5'"])
    }

    @Test func `the only row with another number is found`() throws {
        let one = try ItemListing(kind: .postgresql, location: PostgreSQLServer.shared.get().newLocation())
        let batch = [ItemListing.items([5])]
        _ = try one.sync(batch)
        #expect(try one.sync(batch).repeated == [0])
        try one.run("UPDATE {Item} SET id = 10 WHERE id = 5")
        #expect(try one.sync(batch).repeated == [])
        #expect(try one.names(5) == ["'item 5'"])
    }

    @Test func `a scan that ends before its first page leaves what is remembered`() throws {
        try listing.scan { _ in }
        #expect(try listing.sync(ItemListing.batches).repeated == [0, 1, 2])
        try listing.scan { _ in }
        try fixture.reopen()
        try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id = 5")
        #expect(try listing.sync(ItemListing.batches).repeated == [1, 2])
        #expect(try listing.names(5) == ["'item 5'"])
    }
}
