import BMO
import BMOTesting
import Foundation
import Observation
import SQLiteStore
import TestSupport
import Testing

/// A query that a type declares as a property.
@MainActor @Suite struct FetchedTests {
    /// A model of a screen, as docs/observation.md has it.
    @MainActor @Observable
    final class Shelf {
        @ObservationIgnored @Fetched(Note.all.sorted(by: Note.title)) var notes: [Note]
        var search = ""

        init(_ manager: RequestManager) { $notes.follow(manager) }

        var titles: [String] { notes.compactMap(\.title).filter { search.isEmpty || $0.contains(search) } }
    }

    /// A struct whose query depends on a parameter.
    @MainActor private struct Stars {
        @Fetched var best: [Note]

        init(least: Int, of manager: RequestManager) {
            _best = Fetched(Note.where(Note.stars >= least).sorted(by: Note.title), of: manager)
        }
    }

    /// A class without `@Observable` that exists before its manager.
    @MainActor private final class Screen {
        @Fetched(Note.all.sorted(by: Note.title)) var notes: [Note]
    }

    private let remote = ScriptedRemote()
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        remote["Note"] = [["id": 1, "title": "milk", "stars": 2], ["id": 2, "title": "bread", "stars": 5]]
    }

    /// A manager over the file of a name, in the test's folder.
    private func manager(_ name: String = "notes") async throws -> RequestManager {
        let config = try String(contentsOfFile: TypedQueryTests.config, encoding: .utf8)
        let path = "\(folder.path)/\(name).yml"
        try config.replacing("notes.sqlite", with: "\(name).sqlite").write(
            toFile: path, atomically: true, encoding: .utf8)
        return try await RequestManager(config: path, stores: SQLiteStores(), bridges: remote.bridges("rest"))
    }

    /// Waits until a condition on observed values holds, as a view that draws again does.
    private func wait(until condition: @escaping @MainActor () -> Bool) async {
        let (changes, signal) = AsyncStream<Void>.makeStream()
        var iterator = changes.makeAsyncIterator()
        while !withObservationTracking(condition, onChange: { signal.yield() }) { await iterator.next() }
    }

    @Test func `a property of an observable class has the rows of the database, and follows them`() async throws {
        let manager = try await manager()
        let shelf = Shelf(manager)
        #expect(shelf.notes.isEmpty && !shelf.$notes.isLoaded)
        await wait { shelf.$notes.isLoaded }
        #expect(shelf.notes.isEmpty && shelf.$notes.error == nil && shelf.$notes.state == .idle)
        let result = try await shelf.$notes.refresh()
        #expect(result.inserted.count == 2)
        await wait { shelf.titles == ["bread", "milk"] }
        try await manager.create(Note.self) { $0.title = "apples" }
        await wait { shelf.titles == ["apples", "bread", "milk"] }
        shelf.search = "l"
        #expect(shelf.titles == ["apples", "milk"])
        try await manager.close()
    }

    @Test func `a change of another process is seen by a struct with a query of its own`() async throws {
        let manager = try await manager()
        let stars = Stars(least: 3, of: manager)
        // Another connection to the same file, as another process has it.
        let other = try await self.manager()
        _ = try await other.fetch(Note.all).remote
        await wait { stars.best.map(\.title) == ["bread"] }
        let milk = try #require(try await other.get(Note.self, 1))
        try await other.edit(milk) { $0.stars = 4 }
        // A copy of the struct shares the list.
        let copy = stars
        await wait { copy.best.map(\.title) == ["bread", "milk"] }
        #expect(stars.best == copy.best)
        try await other.close()
        try await manager.close()
    }

    @Test func `a refresh that fails is a state, and the rows stay`() async throws {
        let manager = try await manager()
        let screen = Screen()
        let early = try await #require(throws: RequestError.self) { try await screen.$notes.refresh() }
        #expect(early.message == "the list follows no manager" && screen.$notes.state == .idle)
        screen.$notes.follow(manager)
        try await screen.$notes.refresh()
        await wait { screen.notes.count == 2 }
        remote.isReachable = false
        let error = try await #require(throws: RequestError.self) { try await screen.$notes.refresh() }
        #expect(error.isUnreachable && screen.$notes.state == .failed(error) && screen.$notes.error == nil)
        #expect(screen.notes.map(\.title) == ["bread", "milk"])
        // It still follows what happens here.
        try await manager.create(Note.self) { $0.title = "apples" }
        await wait { screen.notes.count == 3 }
        remote.isReachable = true
        try await screen.$notes.refresh()
        #expect(screen.$notes.state == .idle)
        try await manager.close()
    }

    @Test func `a property follows the database of one manager at a time`() async throws {
        let first = try await manager()
        let second = try await manager("others")
        _ = try await first.fetch(Note.all).remote
        let screen = Screen()
        screen.$notes.follow(first)
        await wait { screen.notes.count == 2 }
        screen.$notes.follow(second)
        #expect(screen.notes.isEmpty && !screen.$notes.isLoaded)
        await wait { screen.$notes.isLoaded }
        try await first.create(Note.self) { $0.title = "of the first" }
        try await second.create(Note.self) { $0.title = "of the second" }
        await wait { !screen.notes.isEmpty }
        #expect(screen.notes.map(\.title) == ["of the second"])
        screen.$notes.follow(nil)
        #expect(screen.notes.isEmpty)
        screen.$notes.follow(first)
        let early = Task { try await screen.$notes.refresh() }
        await wait { screen.$notes.state == .refreshing }
        screen.$notes.follow(second)
        #expect(screen.$notes.state == .idle, "the refresh is of another manager")
        try await screen.$notes.refresh()
        _ = try await early.value
        #expect(screen.$notes.state == .idle)
        try await first.close()
        try await second.close()
    }

    @Test func `the steps of a list lead from each of its states to the next`() async throws {
        let first = try await manager()
        let second = try await manager("others")
        _ = try await first.fetch(Note.all).remote
        let screen = Screen()
        screen.$notes.follow(first)
        await wait { screen.notes.count == 2 }
        var counts: [Int] = []
        var shown = 0
        screen.$notes.onChange { change in
            shown += change.difference.insertions.count - change.difference.deletions.count
            #expect(shown == change.objects.count)
            counts.append(shown)
        }
        #expect(counts == [2], "all objects are the first step")
        try await first.create(Note.self) { $0.title = "apples" }
        await wait { screen.notes.count == 3 }
        screen.$notes.follow(second)
        #expect(counts.last == 0)
        try await second.create(Note.self) { $0.title = "of the second" }
        await wait { screen.notes.count == 1 }
        screen.$notes.follow(nil)
        #expect(Array(counts.suffix(2)) == [1, 0])
        try await first.close()
        try await second.close()
    }

    @Test func `a property whose entity the configuration lacks says why`() async throws {
        let definition = ModelDefinition(
            database: "\(folder.path)/tags.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Tag", bridge: "api", key: "name", attributes: ["name": .text], section: ["path": "/tags"])
            ])
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: remote.bridges("rest"))
        let shelf = Shelf(manager)
        await wait { shelf.$notes.error != nil }
        #expect((shelf.$notes.error as? RequestError)?.entity == "Note")
        #expect(!shelf.$notes.isLoaded)
        try await manager.close()
    }

    @Test func `a list is followed until its owner is released`() async throws {
        let manager = try await manager()
        var screen: Screen? = Screen()
        screen?.$notes.follow(manager)
        // The task that follows has begun, and waits for the next change.
        await wait { [weak screen] in screen?.$notes.isLoaded ?? true }
        weak let list = screen?.$notes
        screen = nil
        #expect(list == nil)
        try await manager.close()
    }
}
