import BridgeHost
import BridgeKit
import Foundation
import ImportTestSupport
import Logging
import Mapping
import RESTBridge
import StoreContract
import StoreTestSupport
import SystemCalls
import TestSupport
import Testing

@testable import BMO

/// On which threads the store is called: its calls block, which the main thread and those of Swift's tasks must not.
@Suite struct BlockingCallTests {
    private let calls = StoreCalls()

    private func workspace(_ place: LibraryWorkspace<NoteServer>) async throws -> Workspace {
        try place.folder.write(place.server.configuration(), to: "bmo.yml")
        let (base, calls) = (place.stores, calls)
        let stores = WrappedStores(base) { location, model, use in
            calls.note("open")
            return NotedStore(try base.open(location, model: model, for: use), calls)
        }
        let host = BridgeHost(logger: Logger(label: "test"), linked: [BridgeExport(RESTBridge.self)])
        return try await Workspace.load(path: place.folder.appending("bmo.yml"), host: host, stores: stores)
    }

    @Test @MainActor func `observing on the main actor asks the database elsewhere`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try RequestManager(try await workspace(place))
        _ = calls.take()
        var objects = try manager.observe(ObjectRequest("Note")).makeAsyncIterator()
        #expect(try await objects.next()?.objects.isEmpty == true)
        let loader = try await manager.collection(ObjectRequest("Note"), keptAs: "all")
        var list = try loader.changes().makeAsyncIterator()
        #expect(try await list.next()?.objects.isEmpty == true)
        let made = calls.take()
        #expect(made.byTasks == [])
        #expect(Set(made.elsewhere).isSuperset(of: ["changes", "observe"]))
        _ = try await manager.save([.create("Note", values: ["text": "a"])], workflow: .afterRemote)
        #expect(try await objects.next()?.objects.count == 1, "changes arrive as before")
        try await manager.close()
    }

    @Test func `a save opens and closes the database of the outbox elsewhere`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try RequestManager(try await workspace(place))
        _ = calls.take()
        _ = try await manager.save([.create("Note", values: ["text": "a"])], workflow: .afterRemote)
        #expect(try await place.server.content().contains("a"))
        try await manager.close()
        let made = calls.take()
        #expect(made.byTasks == [])
        #expect(Set(["open", "close"]).isSubset(of: made.elsewhere))
    }

    @Test func `a sync reads what is unknown of the records elsewhere`() async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        let store = try await workspace.openLockedStore(command: "a test")
        _ = try await workspace.sync(into: store)
        let made = calls.take()
        #expect(made.byTasks == [])
        #expect(Set(["open", "unknownFields"]).isSubset(of: made.elsewhere))
        try store.close()
    }

    @Test func `what became of edits that a push did not report is read elsewhere`() async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        let store = try workspace.openStore()
        _ = calls.take()
        let pusher = StorePusher(
            workspace, store, Workspace.PushOptions(), command: "a test", onBusy: { _ in }, report: { _ in })
        #expect(try await pusher.push([1]).count == 1)
        let made = calls.take()
        #expect(made.byTasks == [])
        #expect(made.elsewhere.contains("outboxEntry"))
        try store.close()
    }

    @Test func `a watch looks for edits elsewhere`() async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        let watch = Task { try await workspace.watch(WatchOptions(every: .seconds(1))) { _ in } }
        try await eventually("the database is there") { FileManager.default.fileExists(atPath: place.database) }
        let edit: @Sendable () throws -> Bool = {
            let store = try workspace.openStoreForEdits(command: "a test")
            defer { try? store.close() }
            return try store.edit([LocalEdit(.create, entity: "Note", values: ["text": "ours"])]).count == 1
        }
        // A round of the watch may have the database for a moment.
        try await eventually("an edit is made") { (try? await ImportThread().run(edit)) == true }
        try await eventually("it is sent") { try await place.server.content().contains("ours") }
        watch.cancel()
        try await watch.value
        let made = calls.take()
        #expect(made.byTasks == [])
        #expect(Set(["close", "dataVersion", "nextToSend", "open", "outbox"]).isSubset(of: made.elsewhere))
    }
}

/// The names of the calls that were made.
private final class StoreCalls: Sendable {
    private let state = Mutex((byTasks: Set<String>(), elsewhere: Set<String>()))

    func note(_ name: String) {
        withUnsafeCurrentTask { task in
            _ = state.withLock { task == nil ? $0.elsewhere.insert(name) : $0.byTasks.insert(name) }
        }
    }

    /// Returns the calls that were made by tasks, and by threads without a task, since the last time.
    func take() -> (byTasks: [String], elsewhere: [String]) {
        state.withLock { state in
            defer { state = ([], []) }
            return (state.byTasks.sorted(), state.elsewhere.sorted())
        }
    }
}

/// A store that notes the calls of tasks that would wait for it.
private final class NotedStore: ForwardingStore, @unchecked Sendable {
    // Constant.
    private let calls: StoreCalls

    init(_ base: any Store, _ calls: StoreCalls) {
        self.calls = calls
        super.init(base)
    }

    override func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry] {
        calls.note("outbox")
        return try super.outbox(entity: entity, state: state)
    }

    override func outboxEntry(_ id: Int64) throws -> OutboxEntry? {
        calls.note("outboxEntry")
        return try super.outboxEntry(id)
    }

    override func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry? {
        calls.note("nextToSend")
        return try super.nextToSend(at: instant, entities: entities, excluding: excluding, among: entries)
    }

    override func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        calls.note("hasObject")
        return try super.hasObject(root, key: key, before: instant)
    }

    override func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        calls.note("unknownFields")
        return try super.unknownFields(since: instant)
    }

    override func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        calls.note("changes")
        return try super.changes(of: entities, every: interval)
    }

    override func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        calls.note("observe")
        return try super.observe(query, every: interval)
    }

    override func dataVersion() throws -> Int64 {
        calls.note("dataVersion")
        return try super.dataVersion()
    }

    override func close() throws {
        calls.note("close")
        try super.close()
    }
}
