import BMO
import BridgeKit
import Foundation
import ImportTestSupport
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Lists whose order is kept in the database.
@Suite(.overBothStores, .namingTheStore) struct KeptCollectionTests {
    private let world: World

    init() throws { world = try World() }

    private func fill(_ count: Int) {
        world.change { $0.records["Country"] = World.countries(count).reversed() }
    }

    private func codes(_ objects: [LocalObject]) -> [Int] {
        objects.compactMap { $0["population"]?.integer.map { Int($0) } }
    }

    @Test func `the order is there after a restart, without the remote`() async throws {
        fill(25)
        var manager = try await world.manager()
        var loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        #expect(try await loader.objects.isEmpty)
        #expect(await loader.state == .idle)
        try await loader.loadFirst()
        try await loader.loadNext()
        try await manager.close()

        world.change { $0.faults = [BridgeError(.unreachable, "no network")] }
        _ = world.takeRequests()
        manager = try await world.manager()
        loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        #expect(codes(try await loader.objects) == Array((6...25).reversed()))
        #expect(await loader.pageNumbers == [1, 2])
        #expect(world.takeRequests().isEmpty, "the remote was not asked")
        let error = try await #require(throws: RequestError.self) { try await loader.loadNext() }
        #expect(error.isUnreachable)
        #expect(await loader.state == .failed(error))
        #expect(codes(try await loader.objects) == Array((6...25).reversed()))
        // The network is back: it goes on where it stopped.
        try await loader.loadNext()
        #expect(world.takeRequests() == ["Country from 20", "Country from 20"])
        #expect(await loader.state == .atEnd)
        try await manager.close()

        manager = try await world.manager()
        loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        #expect(codes(try await loader.objects) == Array((1...25).reversed()))
        #expect(await loader.state == .atEnd)
        #expect(try await loader.loadNext() == nil)
        try await manager.close()
    }

    @Test func `a refresh changes the list once, when all pages are here`() async throws {
        fill(30)
        let manager = try await world.manager()
        let loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        try await loader.loadFirst()
        try await loader.loadNext()
        // One new at the top, one gone, one moved up.
        world.change { state in
            var records = state.records["Country"] ?? []
            let moved = records.remove(at: 15)
            records.remove(at: 3)
            records.insert(moved, at: 1)
            records.insert(World.country("NEW", "New", 99), at: 0)
            state.records["Country"] = records
        }
        let before = codes(try await loader.objects)
        world.change { $0.heldFrom = 0 }
        let refresh = Task { try await loader.refresh() }
        try await eventually("it waits") { world.state.held == 1 }
        #expect(await loader.state == .loading(.refresh))
        #expect(codes(try await loader.objects) == before, "the list stays")
        world.change { $0.heldFrom = nil }
        let pages = try #require(try await refresh.value)
        #expect(pages.map(\.number) == [1, 2] && pages[0].result.inserted.count == 1)
        let after = [99, 30, 15, 29, 28, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 14, 13, 12, 11]
        #expect(codes(try await loader.objects) == after)
        #expect(await loader.state == .idle)
        let again = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        #expect(codes(try await again.objects) == after, "the new order is kept")
        try await again.loadNext()
        #expect(await again.state == .atEnd)
        #expect(try await codes(again.objects).count == 30)
        try await manager.close()
    }

    @Test func `a refresh that fails on a later page leaves the order as it was`() async throws {
        fill(20)
        let manager = try await world.manager()
        let loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        try await loader.loadFirst()
        try await loader.loadNext()
        world.change { state in
            state.records["Country"]?.insert(World.country("NEW", "New", 99), at: 0)
            state.heldFrom = 1
        }
        let refresh = Task { try await loader.refresh() }
        try await eventually("the second page waits") { world.state.held == 1 }
        await loader.cancel()
        await #expect(throws: CancellationError.self) { try await refresh.value }
        world.change { $0.heldFrom = nil }
        #expect(codes(try await loader.objects) == Array((1...20).reversed()))
        #expect(await loader.state == .atEnd, "a cancelled load is no failure")
        let again = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        #expect(codes(try await again.objects) == Array((1...20).reversed()))
        // A list that has become shorter ends there.
        world.change { $0.records["Country"] = World.countries(5) }
        try await loader.refresh()
        #expect(codes(try await loader.objects) == [1, 2, 3, 4, 5])
        #expect(await loader.state == .atEnd)
        try await manager.close()
    }

    @Test func `a list is followed with its state, its order and its objects`() async throws {
        fill(20)
        let manager = try await world.manager()
        let loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        var changes = try loader.changes().makeAsyncIterator()
        let empty = try #require(try await changes.next())
        #expect(empty.objects.isEmpty && empty.state == .idle)
        world.change { $0.heldFrom = 0 }
        let load = Task { try await loader.loadNext() }
        let loading = try #require(try await changes.next())
        #expect(loading.state == .loading(.next) && loading.difference.isEmpty)
        world.change { $0.heldFrom = nil }
        _ = try await load.value
        var first = try #require(try await changes.next())
        // The rows are in the list before the load has ended.
        if first.state != .idle { first = try #require(try await changes.next()) }
        #expect(first.state == .idle && codes(first.objects) == Array((11...20).reversed()))
        world.change { $0.records["Country"]?.swapAt(0, 4) }
        try await loader.refresh()
        var moved = RowDifference(from: [], to: [])
        while moved.isEmpty { moved = try #require(try await changes.next()).difference }
        #expect(moved.moves.count == 2 && moved.insertions.isEmpty && moved.deletions.isEmpty)
        try await manager.close()
        while let change = try await changes.next() { #expect(change.difference.isEmpty) }
    }

    @Test func `an object that is deleted or edited changes the list`() async throws {
        fill(5)
        let manager = try await world.manager()
        let loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        try await loader.loadFirst()
        var changes = try loader.changes().makeAsyncIterator()
        #expect(codes(try #require(try await changes.next()).objects) == [5, 4, 3, 2, 1])
        // Another list of the same objects brings the change, and deletes what it lacks.
        world.change { $0.records["Country"] = [World.country("C003", "Three", 33)] }
        let other = try manager.collection(ObjectRequest("Country"), options: .init(missing: .delete))
        try await other.loadFirst()
        var codes: [Int] = []
        while codes != [33] { codes = self.codes(try #require(try await changes.next()).objects) }
        try await manager.close()
    }

    @Test(.overSQLiteOnly) func `a list can be read with SQL, as the docs say`() async throws {
        fill(15)
        let manager = try await world.manager()
        let loader = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        try await loader.loadFirst()
        try await loader.loadNext()
        try await manager.close()
        let query = """
            SELECT m.population FROM bmo_collections c, json_each(c.keys) k JOIN Country m ON m.code = k.value ->> 0
            WHERE c.entity = 'Country' AND c.name = 'feed' ORDER BY c.page, k.key
            """
        #expect(try SQLiteFile(world.database).rows(query).count == 15)
        #expect(try SQLiteFile(world.database).value("\(query) LIMIT 1") == "15")
    }

    @Test func `names keep lists apart, and a name with another predicate begins anew`() async throws {
        fill(12)
        let manager = try await world.manager()
        let feed = try await manager.collection(ObjectRequest("Country"), keptAs: "feed")
        try await feed.loadFirst()
        let one = ObjectRequest("Country", where: Field("name") == "Country 7")
        let search = try await manager.collection(one, keptAs: "search: 7")
        try await search.loadFirst()
        #expect(codes(try await search.objects) == [7])
        #expect(try await manager.collections().map(\.collection.name) == ["feed", "search: 7"])
        let other = ObjectRequest("Country", where: Field("name") == "Country 8")
        #expect(try await manager.collection(other, keptAs: "search: 7").pageNumbers.isEmpty)
        try await manager.forgetCollection("feed", of: "Country")
        #expect(try await manager.collections().map(\.pages) == [1])
        #expect(try await manager.collection(ObjectRequest("Country"), keptAs: "feed").pageNumbers.isEmpty)
        #expect(try await manager.count(ObjectRequest("Country")) > 0, "the objects stay")
        for name in ["", String(repeating: "x", count: 201), "a\nb"] {
            let error = try await #require(throws: RequestError.self) {
                try await manager.collection(ObjectRequest("Country"), keptAs: name)
            }
            #expect(error.code == "request" && error.remedy == "use 1 to 200 bytes without control characters")
        }
        try await manager.close()
    }
}
