import BMO
import BridgeKit
import Foundation
import ImportTestSupport
import StoreTestSupport
import TestSupport
import Testing

/// Lists page by page, in the server's order.
@Suite(.overBothStores, .namingTheStore) struct CollectionTests {
    private let world: World

    init() throws { world = try World() }

    /// In an order that is not that of the keys.
    private func fill(_ count: Int) {
        world.change { $0.records["Country"] = World.countries(count).reversed() }
    }

    private func codes(_ objects: [LocalObject]) -> [Int] {
        objects.compactMap { $0["population"]?.integer.map { Int($0) } }
    }

    @Test(.overSQLiteOnly) func `pages come in the order of the server until the last`() async throws {
        fill(25)
        let manager = try await world.manager()
        let loader = try manager.collection(ObjectRequest("Country"))
        let first = try #require(try await loader.loadFirst())
        #expect(codes(first.objects) == Array((16...25).reversed()) && first.isLast == false && first.number == 1)
        #expect(first.result.inserted.count == 10 && first.result.metadata.total == 25)
        #expect(world.takeRequests() == ["Country"], "one page is one fetch, and no more is asked for")
        #expect(try await manager.count(ObjectRequest("Country")) == 10)
        try await loader.loadNext()
        let last = try #require(try await loader.loadNext())
        #expect(last.isLast && last.number == 3 && codes(last.objects) == [5, 4, 3, 2, 1])
        #expect(await loader.isAtEnd)
        #expect(try await loader.loadNext() == nil)
        #expect(world.takeRequests() == ["Country from 10", "Country from 20"])
        #expect(codes(try await loader.objects) == Array((1...25).reversed()))
        // The list shows the database: what changed here is seen, what is gone is not.
        try SQLiteFile(world.database).rows("DELETE FROM Country WHERE population = 7")
        #expect(codes(try await loader.objects).contains(7) == false)
        try await manager.close()
    }

    @Test func `a window lets go of pages and brings them back`() async throws {
        fill(50)
        let manager = try await world.manager()
        let loader = try manager.collection(ObjectRequest("Country"), options: .init(window: 2))
        try await loader.loadFirst()
        for _ in 0..<3 { try await loader.loadNext() }
        #expect(await loader.pageNumbers == [3, 4])
        #expect(await loader.hasPrevious)
        let place = await loader.place
        try await loader.loadPrevious()
        #expect(await loader.pageNumbers == [2, 3])
        #expect(codes(try await loader.objects) == Array((21...40).reversed()))
        try await loader.loadPrevious()
        #expect(try await loader.loadPrevious() == nil, "there is nothing before the first page")
        try await loader.loadNext()
        #expect(await loader.pageNumbers == [2, 3])
        // Another loader goes on from there, as after a restart of the program.
        let kept = try JSONDecoder().decode(CollectionLoader.Place.self, from: JSONEncoder().encode(place))
        let other = try manager.collection(ObjectRequest("Country"), from: kept)
        let page = try #require(try await other.loadFirst())
        #expect(page.number == 3 && codes(page.objects) == Array((21...30).reversed()))
        try await other.loadPrevious()
        #expect(await other.pageNumbers == [2, 3])
        try await manager.close()
    }

    @Test func `what the first page lacks is deleted where that is wanted`() async throws {
        fill(12)
        let manager = try await world.manager()
        _ = try await manager.fetch(ObjectRequest("Country")).remote
        world.change { $0.records["Country"] = Array(World.countries(12).dropFirst(4).prefix(3)) }
        let request = ObjectRequest("Country", where: Field("population") <= 10)
        let loader = try manager.collection(request, options: .init(missing: .delete))
        let page = try #require(try await loader.loadFirst())
        #expect(page.result.deleted.count == 7 && page.isLast)
        let left = try await manager.objects(ObjectRequest("Country", sort: ["population"]))
        #expect(codes(left) == [5, 6, 7, 11, 12], "what does not match the request stays")
        try await manager.close()
    }

    @Test func `only the first page of all deletes what it lacks`() async throws {
        fill(30)
        let manager = try await world.manager()
        let loader = try manager.collection(ObjectRequest("Country"), options: .init(window: 1))
        for _ in 1...3 { try await loader.loadNext() }
        let other = try manager.collection(
            ObjectRequest("Country"), options: .init(missing: .delete), from: await loader.place)
        let page = try #require(try await other.loadFirst())
        #expect(page.number == 3 && page.result.deleted.isEmpty)
        #expect(try await manager.count(ObjectRequest("Country")) == 30)
        // A record that does not fit stands for an object that is there.
        world.change { $0.records["Country"] = [["code": "XX", "population": "many"]] + World.countries(5) }
        let first = try manager.collection(ObjectRequest("Country"), options: .init(missing: .delete))
        let rejecting = try #require(try await first.loadFirst())
        #expect(rejecting.result.counts["Country"]?.quarantined == 1 && rejecting.result.deleted.isEmpty)
        #expect(try await manager.count(ObjectRequest("Country")) == 30)
        try await manager.close()
    }

    @Test func `a load during another does as the policy says`() async throws {
        fill(40)
        let manager = try await world.manager()
        world.change { $0.heldFrom = 0 }
        let ignoring = try manager.collection(ObjectRequest("Country"), options: .init(concurrency: .ignore))
        let load = Task { try await ignoring.loadFirst() }
        try await eventually("it waits") { world.state.held == 1 }
        #expect(try await ignoring.loadNext() == nil)
        world.change { $0.heldFrom = nil }
        #expect(try await load.value?.number == 1)

        world.change { $0.heldFrom = 0 }
        let replacing = try manager.collection(ObjectRequest("Country"), options: .init(concurrency: .replace))
        let replaced = Task { try await replacing.loadFirst() }
        try await eventually("it waits") { world.state.held == 1 }
        let replacement = Task { try await replacing.loadFirst() }
        await #expect(throws: CancellationError.self) { try await replaced.value }
        try await eventually("the other one waits") { world.state.held == 1 }
        world.change { $0.heldFrom = nil }
        #expect(try await replacement.value?.number == 1)

        let queueing = try manager.collection(ObjectRequest("Country"))
        try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<4 { group.addTask { try await queueing.loadNext()?.number } }
            var numbers: [Int?] = []
            for try await number in group { numbers.append(number) }
            #expect(numbers.compactMap { $0 }.sorted() == [1, 2, 3, 4])
        }
        #expect(codes(try await queueing.objects) == Array((1...40).reversed()))
        try await manager.close()
    }

    @Test func `a failed page leaves the list as it was`() async throws {
        fill(30)
        let manager = try await world.manager()
        let loader = try manager.collection(ObjectRequest("Country"))
        try await loader.loadFirst()
        world.change { $0.faults = [BridgeError(.permission, "not you")] }
        let error = try await #require(throws: RequestError.self) { try await loader.loadNext() }
        #expect(error.step == .contacting && error.code == "permission")
        #expect(await loader.pageNumbers == [1])
        #expect(try await loader.loadNext()?.number == 2)
        try await manager.close()
    }

    @Test func `objects that came twice stand once`() async throws {
        fill(20)
        let manager = try await world.manager()
        let loader = try manager.collection(ObjectRequest("Country"))
        try await loader.loadFirst()
        // A new record pushes the last one of the first page onto the second.
        world.change { $0.records["Country"]?.insert(World.country("NEW", "New", 99), at: 0) }
        try await loader.loadNext()
        let numbers = codes(try await loader.objects)
        #expect(numbers == Array((2...20).reversed()))
        try await manager.close()
    }
}
