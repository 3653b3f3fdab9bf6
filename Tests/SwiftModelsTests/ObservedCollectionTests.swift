import BMO
import BMOTesting
import Model
import Observation
import StoreContract
import TestSupport
import Testing

/// A remote list as an observable object, as a view shows it.
@MainActor @Suite struct ObservedCollectionTests {
    private typealias Collection = ObservedCollection<Note, String>

    /// A list view: it has no objects of its own, but performs the steps of each change.
    @MainActor private final class View<SectionID: Hashable & Sendable> {
        var objects: [Note] = []
        var sections: [ObjectSection<SectionID, Note>] = []
        var states: [CollectionLoader.State] = []
        private let changes: AsyncStream<Void>
        private let signal: AsyncStream<Void>.Continuation

        init(of list: ObservedCollection<Note, SectionID>) {
            (changes, signal) = AsyncStream.makeStream()
            list.onChange { [weak self] in self?.perform($0) }
        }

        private func perform(_ change: ObservedCollection<Note, SectionID>.Change) {
            objects.apply(change.difference, from: change.objects)
            sections.apply(change.sectionDifference, from: change.sections)
            #expect(objects == change.objects && sections == change.sections)
            if states.last != change.state { states.append(change.state) }
            signal.yield()
        }

        /// Waits for the change after which a condition holds.
        func wait(until condition: () -> Bool) async {
            var changes = changes.makeAsyncIterator()
            while !condition() { await changes.next() }
        }
    }

    private let remote = ScriptedRemote()

    init() {
        remote["Note"] = [
            ["id": 1, "title": "milk", "class": "food"], ["id": 2, "title": "paint", "class": "art"],
            ["id": 3, "title": "bread", "class": "food"], ["id": 4, "title": "nails", "class": "tools"],
            ["id": 5, "title": "brush", "class": "art"],
        ]
    }

    private func manager() async throws -> RequestManager {
        try await RequestManager.testing(config: TypedQueryTests.config, remote: remote)
    }

    private func list(_ manager: RequestManager) -> Collection {
        ObservedCollection(
            Note.all, keptAs: "all", options: .init(pageSize: 2), of: manager, sectionedBy: { $0.class ?? "" })
    }

    @Test func `a list loads page by page, in sections, with differences and its state`() async throws {
        let manager = try await manager()
        let list = list(manager)
        #expect(!list.isLoaded && list.objects.isEmpty && list.state == .idle)
        let view = View(of: list)
        try await list.refresh()
        await view.wait { view.states.last == .idle && view.objects.count == 2 }
        #expect(list.isLoaded && list.objects.map(\.id) == [1, 2])
        try await list.loadNext()
        try await list.loadNext()
        await view.wait { view.states.last == .atEnd }
        #expect(view.objects == list.objects && list.objects.map(\.id) == [1, 2, 3, 4, 5])
        #expect(list.sections.map(\.id) == ["food", "art", "tools"])
        #expect(view.sections.map { $0.objects.map(\.id) } == [[1, 3], [2, 5], [4]])
        // The server orders them otherwise, and one is of another class now.
        remote["Note"].swapAt(0, 4)
        remote["Note"][1] = ["id": 2, "title": "paint", "class": "tools"]
        try await list.refresh()
        await view.wait { view.objects.first?.id == 5 && view.states.last == .atEnd }
        #expect(view.sections.map(\.id) == ["art", "tools", "food"])
        #expect(view.sections.map { $0.objects.map(\.id) } == [[5], [2, 4], [3, 1]])
        // An edit here changes the list, too.
        let nails = try #require(list.objects.first { $0.id == 4 })
        try await manager.edit(nails) { $0.class = "food" }
        await view.wait { view.sections.map { $0.objects.map(\.id) } == [[5], [2], [3, 4, 1]] }
        #expect(list.error == nil)
        try await manager.close()
    }

    @Test func `a load that fails is a state, and the list of last time stays`() async throws {
        let manager = try await manager()
        try await list(manager).refresh()
        remote.isReachable = false
        // As after a restart: another list of the same name.
        let list = list(manager)
        let view = View(of: list)
        await view.wait { view.objects.map(\.id) == [1, 2] }
        let error = try await #require(throws: RequestError.self) { try await list.loadNext() }
        await view.wait { view.states.last == .failed(error) }
        #expect(error.isUnreachable && list.state == .failed(error) && list.error == nil)
        #expect(list.objects.map(\.id) == [1, 2])
        remote.isReachable = true
        try await list.loadNext()
        await view.wait { view.states.last == .idle }
        #expect(list.objects.map(\.id) == [1, 2, 3, 4])
        // A view that comes later gets the whole list at once.
        let late = View(of: list)
        #expect(late.objects == list.objects && late.sections == list.sections && late.states == [.idle])
        try await manager.close()
    }

    @Test func `a change is reported to those who have read the property`() async throws {
        let manager = try await manager()
        let list = ObservedCollection(Note.all, keptAs: "all", options: .init(pageSize: 5), of: manager)
        let (changes, signal) = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = list.objects
        } onChange: {
            signal.yield()
        }
        try await list.loadFirst()
        var iterator = changes.makeAsyncIterator()
        await iterator.next()
        let view = View(of: list)
        await view.wait { view.objects.count == 5 }
        #expect(view.sections.map(\.id) == [WholeList()])
        try await manager.close()
    }

    @Test func `a list of a loader is followed until it is released`() async throws {
        let manager = try await manager()
        let loader = try manager.collection(Note.all, options: .init(pageSize: 3))
        var list: ObservedCollection<Note, WholeList>? = ObservedCollection(loader)
        let view = View(of: try #require(list))
        try await loader.loadFirst()
        await view.wait { view.objects.count == 3 }
        weak let released = list
        list = nil
        #expect(released == nil)
        try await manager.close()
    }

    @Test func `a list that cannot be opened says why`() async throws {
        let manager = try await manager()
        let list = ObservedCollection(Note.all, keptAs: "", of: manager)
        let error = try await #require(throws: RequestError.self) { try await list.refresh() }
        #expect(error.code == "request" && error.message == "the name of a collection cannot be \"\"")
        while list.error == nil { await Task.yield() }
        #expect(list.error as? RequestError == error && !list.isLoaded)
        try await manager.close()
    }
}
