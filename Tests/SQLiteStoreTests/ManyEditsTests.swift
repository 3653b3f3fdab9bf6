import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// More edits and conflicts than a store reads one by one.
@Suite(.overAllStores, .namingTheStore) struct ManyEditsTests {
    private static let ids = (10..<26).map { Int64($0) }

    private let world: StoreFixture

    init() throws {
        world = try StoreFixture.outbox()
        try world.sync("Post", ["id": "p1", "title": "One"])
    }

    /// Imports the users with a name, in one page.
    private func syncUsers(named name: String) throws {
        try world.store.beginRun(kind: "sync")
        let page = try world.begin("User")
        let records = Self.ids.map { id -> Literal in ["id": .integer(id), "name": .text(name)] }
        try page.add(try Literal.batch(records), location: nil)
        try page.commit(progress: nil)
        try world.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    @Test func `the next edit to send is found after many others`() throws {
        let count = Int64(50)
        for _ in 0..<count { try world.create("User", ["name": "New"]) }
        try world.update("Post", "p1", set: ["title": "Two"])
        func next(_ entities: Set<String>? = nil, after id: Int64 = 0, among: Set<Int64>? = nil) throws -> Int64? {
            try world.store.nextToSend(
                at: "9999-01-01T00:00:00.000000Z", entities: entities, excluding: Set(0...id), among: among)?.id
        }
        #expect(try next() == 1)
        #expect(try next(after: count - 1) == count)
        #expect(try next(["Post"]) == count + 1)
        #expect(try next(["User"], after: count) == nil)
        #expect(try next(among: [count - 2, count + 1]) == count - 2)
        #expect(try next(among: []) == nil)
        #expect(try next(after: count + 1) == nil)
    }

    @Test func `what waits for a new object is known after each change of it`() throws {
        let user = try world.create("User", ["name": "New"])
        for _ in 0..<12 { try world.create("Post", ["title": "New", "author": user.key[0]]) }
        func refusal() throws -> String {
            try storeError { try world.store.dropOutbox([1]) }.message
        }
        #expect(try refusal() == "later edits depend on it: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")
        let second = try #require(try world.store.outboxEntry(2))
        _ = try world.store.edit([LocalEdit(.update, entity: "Post", key: second.key, values: ["author": .null])])
        try world.store.dropOutbox((4...13).map { Int64($0) })
        #expect(try refusal() == "later edits depend on it: 3")
        try world.store.dropOutbox([1, 3])
        #expect(try world.store.outbox().map(\.id) == [2])
        try world.expectSound()
    }

    @Test func `conflicts of many objects are in the order of discovery`() throws {
        try syncUsers(named: "a")
        for id in Self.ids { try world.update("User", .integer(id), set: ["name": "b"]) }
        try syncUsers(named: "c")
        let keys = Self.ids.map { [StoredValue.integer($0)] }
        #expect(try world.store.conflicts(entity: nil, key: nil).map(\.key) == keys)
        try syncUsers(named: "d")
        #expect(try world.store.conflicts(entity: "User", key: [15]).map(\.remote) == ["d"])
        #expect(try world.store.conflicts(entity: "Post", key: [15]).isEmpty)
        try world.store.resolve(entity: "User", key: [15], column: nil, take: .remote)
        #expect(try world.store.conflicts(entity: nil, key: nil).map(\.key) == keys.filter { $0 != [15] })
        try syncUsers(named: "b")
        #expect(try world.store.conflicts(entity: nil, key: nil).isEmpty)
        #expect(try world.store.outbox().isEmpty)
        try world.expectSound()
    }
}
