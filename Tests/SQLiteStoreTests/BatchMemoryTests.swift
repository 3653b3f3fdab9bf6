import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Batches that a listing had before are listed again without a look at their rows, as long as nothing else has written.
@Suite(.overDatabases, .namingTheStore) struct BatchMemoryTests {
    private let listing: ItemListing
    private var fixture: StoreFixture { listing.fixture }

    private static let batches = ItemListing.batches

    init() throws { listing = try ItemListing() }

    private static func items(_ numbers: some Sequence<Int>, name: String = "item") -> [Literal] {
        ItemListing.items(numbers, name: name)
    }

    private func sync(
        _ batches: [[Literal]], mapping: String = "mapping", between: () throws -> Void = {}
    ) throws -> (repeated: [Int], counts: ImportCounts.Entity) {
        try listing.sync(batches, mapping: mapping, between: between)
    }

    @Test func `an equal listing is recognised in the same process and in the next one`() throws {
        #expect(try sync(Self.batches).repeated == [])
        let second = try sync(Self.batches)
        #expect(second.repeated == [0, 1, 2] && second.counts.unchanged == 3000 && second.counts.deleted == 0)
        try fixture.reopen()
        let third = try sync(Self.batches)
        #expect(third.repeated == [0, 1, 2] && third.counts.unchanged == 3000 && third.counts.deleted == 0)
        try fixture.reopen()
        #expect(try sync(Self.batches).repeated == [0, 1, 2], "a sync that changes nothing keeps it valid")
    }

    @Test func `a changed batch is merged, and the others are recognised`() throws {
        _ = try sync(Self.batches)
        try fixture.reopen()
        var changed = Self.batches
        changed[1][10] = ["id": 1011, "name": "other", "note": nil]
        let second = try sync(changed)
        #expect(second.repeated == [0, 2] && second.counts.updated == 1 && second.counts.unchanged == 2999)
        try fixture.reopen()
        // The old content again: its batch was forgotten, because one of its rows is another now.
        let third = try sync(Self.batches)
        #expect(third.repeated == [0, 2] && third.counts.updated == 1)
        #expect(try listing.names(1011) == ["'item 1011'"])
    }

    @Test(.overSQLiteOnly) func `rows that another program changes or deletes are restored`() throws {
        _ = try sync(Self.batches)
        try fixture.reopen()
        _ = try sync(Self.batches)
        for change in ["UPDATE {Item} SET name = 'by hand' WHERE id = 500", "DELETE FROM {Item} WHERE id = 500"] {
            try fixture.store.close()
            try listing.run(change)
            try fixture.reopen()
            #expect(try sync(Self.batches).repeated == [], "\(change)")
            #expect(try listing.names(500) == ["'item 500'"], "\(change)")
        }
    }

    @Test(.overSQLiteOnly) func `rows that another program changes during the scan are restored`() throws {
        _ = try sync(Self.batches)
        let second = try sync(Self.batches) {
            try listing.run("UPDATE {Item} SET name = 'by hand' WHERE id IN (1500, 2500)")
        }
        #expect(second.repeated == [0] && second.counts.updated == 2)
        #expect(try listing.names(1500, 2500) == ["'item 1500'", "'item 2500'"])
    }

    @Test func `rows that another listing of this process writes are compared again`() throws {
        _ = try sync(Self.batches)
        let second = try sync(Self.batches) {
            try fixture.add("Order", ["id": 1, "item": ["id": 1500, "name": "from the order"]])
        }
        #expect(second.repeated == [0] && second.counts.updated == 1)
        #expect(try listing.names(1500) == ["'item 1500'"])
    }

    @Test func `rows that are missing are deleted, and come back with their batch`() throws {
        _ = try sync(Self.batches)
        try fixture.reopen()
        let less = try sync([Self.batches[0], Self.batches[2]])
        #expect(less.repeated == [0, 1] && less.counts.deleted == 1000)
        try fixture.reopen()
        let again = try sync(Self.batches)
        #expect(again.repeated == [0, 2] && again.counts.inserted == 1000)
        #expect(try listing.count() == 3000)
    }

    @Test func `batches that share an object are not both recognised`() throws {
        let first = Self.items(1...1000), second = Self.items(1000...2500, name: "later")
        _ = try sync([first, second])
        let again = try sync([first, second])
        #expect(again.repeated.count < 2)
        #expect(try listing.names(1000) == ["'later 1000'"])
        // Without its second record, the object is as the first batch has it.
        _ = try sync([first, Self.items(1001...2500, name: "later")])
        #expect(try listing.names(1000) == ["'item 1000'"])
    }

    @Test func `a page that is rolled back leaves nothing that is recognised`() throws {
        struct Interruption: Error {}
        #expect(throws: Interruption.self) { try sync(Self.batches) { throw Interruption() } }
        #expect(try sync([Self.batches[0], Self.batches[1]]).repeated == [0], "only the page that was committed")
    }

    @Test func `another mapping begins anew`() throws {
        _ = try sync(Self.batches)
        #expect(try sync(Self.batches, mapping: "other").repeated == [])
        #expect(try sync(Self.batches, mapping: "other").repeated == [0, 1, 2])
    }

    @Test func `a record in quarantine has its batch mapped again`() throws {
        var batches = Self.batches
        batches[2][5] = ["name": "without a key"]
        let first = try sync(batches)
        #expect(first.counts.quarantined == 1)
        #expect(try sync(batches).repeated == [], "records of the entity are in quarantine")
    }

    @Test func `a listing in another order than its rows is compared every time`() throws {
        let mixed = [Self.items((0..<1500).map { $0 * 7919 % 3001 }), Self.items([3001])]
        _ = try sync([Self.items(0...3001)])
        #expect(try sync(mixed).counts.unchanged == 1501)
        #expect(try sync(mixed).repeated == [1])
    }
}
