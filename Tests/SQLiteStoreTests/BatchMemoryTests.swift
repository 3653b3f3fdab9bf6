import ImportTestSupport
import Importer
import Mapping
import Model
import RecordBatch
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Batches that a listing had before are listed again without a look at their rows, as long as nothing else has written.
@Suite struct BatchMemoryTests {
    private let fixture: StoreFixture
    private let item: Int

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity("Item", key: ["id"], [.of("id", .integer), .of("name", .text), .of("note", .text)]),
                Entity("Order", key: ["id"], [.of("id", .integer)], [.one("item", "Item")])
            ))
        item = try #require(fixture.model.index(of: "Item"))
    }

    private static func items(_ numbers: some Sequence<Int>, name: String = "item") -> [Literal] {
        numbers.map { ["id": .integer(Int64($0)), "name": .text("\(name) \($0)"), "note": nil] }
    }

    private static let batches = [items(1...1000), items(1001...2000), items(2001...3000)]

    /// Imports a whole listing as a scan does; returns which batches were repeated, and the counts.
    private func sync(
        _ batches: [[Literal]], mapping: String = "mapping", between: () throws -> Void = {}
    ) throws -> (repeated: [Int], counts: ImportCounts.Entity) {
        let store = fixture.store
        let target = ScanTarget(scope: ScanScope(entity: "Item"), entity: item)
        try store.beginScan(target.scope, afterPage: nil)
        defer { store.endScan(target.scope) }
        let memory = try #require(try store.batchMemory(of: target, mapping: mapping))
        let mapper = Mapper(fixture.model)
        mapper.reportsMembersOfEachBatch = true
        var repeated: [Int] = []
        var counts = ImportCounts(entityCount: fixture.model.entities.count)
        for (index, records) in batches.enumerated() {
            if index == 1 { try between() }
            let page = try PageImport(
                item, of: fixture.model, from: PageImport.Origin(bridge: "remote", page: index + 1, scan: target),
                into: store)
            let batch = try Literal.batch(records)
            let digest = batch.withBytes { BatchDigest(of: $0) }
            if let summary = memory.summary(of: digest), try page.repeatBatch(digest, summary) {
                repeated.append(index)
            } else {
                let mapped = MappedBatch(batch, by: mapper, as: item, extent: .whole)
                try page.add(
                    mapped, location: nil, remembered: mapped.summary(of: item, absenceContext: 0).map { (digest, $0) })
            }
            if index < batches.count - 1 {
                try page.commit(progress: ScanProgress(cursor: "\(index)", page: index + 1, request: "r"))
            } else {
                _ = try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil)))
            }
            counts += page.counts
        }
        return (repeated, counts[item])
    }

    private func names(_ condition: String) throws -> [[String]] {
        try fixture.file().rows("SELECT name FROM Item WHERE \(condition)")
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
        #expect(try names("id = 1011") == [["'item 1011'"]])
    }

    @Test func `rows that another program changes or deletes are restored`() throws {
        _ = try sync(Self.batches)
        try fixture.reopen()
        _ = try sync(Self.batches)
        for change in ["UPDATE Item SET name = 'by hand' WHERE id = 500", "DELETE FROM Item WHERE id = 500"] {
            try fixture.store.close()
            try SQLiteFile(fixture.path).rows(change)
            try fixture.reopen()
            #expect(try sync(Self.batches).repeated == [], "\(change)")
            #expect(try names("id = 500") == [["'item 500'"]], "\(change)")
        }
    }

    @Test func `rows that another program changes during the scan are restored`() throws {
        _ = try sync(Self.batches)
        let second = try sync(Self.batches) {
            try fixture.file().rows("UPDATE Item SET name = 'by hand' WHERE id IN (1500, 2500)")
        }
        #expect(second.repeated == [0] && second.counts.updated == 2)
        #expect(try names("name = 'by hand'") == [])
    }

    @Test func `rows that another listing of this process writes are compared again`() throws {
        _ = try sync(Self.batches)
        let second = try sync(Self.batches) {
            try fixture.add("Order", ["id": 1, "item": ["id": 1500, "name": "from the order"]])
        }
        #expect(second.repeated == [0] && second.counts.updated == 1)
        #expect(try names("id = 1500") == [["'item 1500'"]])
    }

    @Test func `rows that are missing are deleted, and come back with their batch`() throws {
        _ = try sync(Self.batches)
        try fixture.reopen()
        let less = try sync([Self.batches[0], Self.batches[2]])
        #expect(less.repeated == [0, 1] && less.counts.deleted == 1000)
        try fixture.reopen()
        let again = try sync(Self.batches)
        #expect(again.repeated == [0, 2] && again.counts.inserted == 1000)
        #expect(try fixture.file().value("SELECT count(*) FROM Item") == "3000")
    }

    @Test func `batches that share an object are not both recognised`() throws {
        let first = Self.items(1...1000), second = Self.items(1000...2500, name: "later")
        _ = try sync([first, second])
        let again = try sync([first, second])
        #expect(again.repeated.count < 2)
        #expect(try names("id = 1000") == [["'later 1000'"]])
        // Without its second record, the object is as the first batch has it.
        _ = try sync([first, Self.items(1001...2500, name: "later")])
        #expect(try names("id = 1000") == [["'item 1000'"]])
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
