import BMO
import Mapping
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// What becomes of a save whose push fails as a whole, as it does when the database cannot be reached.
@Suite(.overBothStores, .namingTheStore) struct FailedPushTests {
    private let note = ObjectEdit.create("Note", values: ["text": "a"])

    @Test func `an edit that was not sent because the push failed is rolled back`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let save = try await manager.save([note], workflow: .acceptedOnly, pusher: FailingPusher())
        let outcomes = try await save.remote
        let failure = try #require(outcomes.values.first?.failure)
        #expect(outcomes.values.map(\.kind) == [.dropped])
        #expect(failure.code == "database" && failure.message == "the server closed the connection")
        #expect(try place.outbox(manager).isEmpty)
        #expect(try await manager.count(ObjectRequest("Note")) == 0)
        try await manager.close()
    }

    @Test func `an edit that may have been sent before the push failed is kept`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let store = try manager.workspace.openStore()
        let save = try await manager.save([note], workflow: .acceptedOnly, pusher: FailingPusher(marking: store))
        #expect(try await save.remote.values.map(\.kind) == [.unknown])
        #expect(try place.outbox(manager) == [.sending])
        #expect(try await manager.count(ObjectRequest("Note")) == 1)
        try store.close()
        try await manager.close()
    }

    @Test(arguments: [SaveWorkflow.localFirst, .rollBack])
    func `an edit of another workflow waits when the push fails`(_ workflow: SaveWorkflow) async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let save = try await manager.save([note], workflow: workflow, pusher: FailingPusher())
        await #expect(throws: StoreError.self) { try await save.remote }
        #expect(try place.outbox(manager) == [.pending])
        try await manager.close()
    }

    @Test(arguments: [SaveWorkflow.localFirst, .rollBack])
    func `an edit that a pusher does not report waits`(_ workflow: SaveWorkflow) async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let save = try await manager.save([note], workflow: workflow, pusher: SilentPusher())
        #expect(try await save.remote.values.map(\.kind) == [.waits])
        let topic = ObjectEdit.create("Topic", values: ["name": "t"])
        let error = try await #require(throws: RequestError.self) {
            try await manager.save([topic], workflow: .afterRemote, pusher: SilentPusher())
        }
        #expect(error.isRetryable && error.remedy?.contains("stays in the outbox") == true, "\(error)")
        #expect(try place.outbox(manager) == [.pending, .pending])
        try await manager.close()
    }

    @Test func `an edit that stays because a later one depends on it is named`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        _ = try await manager.save([note], workflow: .afterRemote)
        let store = try manager.workspace.openStore()
        let object = ObjectID(entity: "Note", key: [1])
        let save = try await manager.save(
            [.update(object, values: ["text": "b"])], workflow: .acceptedOnly,
            pusher: OvertakenPusher(store: store, manager: manager, object: object))
        let error = try await #require(throws: StoreError.self) { try await save.remote }
        #expect(error.message.contains("could not be rolled back: later edits depend on it"), "\(error)")
        #expect(error.remedy?.hasPrefix("it stays as outbox ") == true, "\(error)")
        #expect(try place.outbox(manager) == [.pending, .pending])
        try store.close()
        try await manager.close()
    }

    @Test func `an edit that cannot be rolled back either is named, with what to do`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let store = LostStore(try manager.workspace.openStore())
        let edit = LocalEdit(.create, entity: "Note", values: ["text": .text("a")])
        let made = try manager.workspace.save([edit], workflow: .acceptedOnly, in: store)
        let error = try await #require(throws: StoreError.self) {
            try await made.send(by: FailingPusher(), in: store)
        }
        #expect(
            error.description == """
                the server closed the connection; the edit could not be rolled back: the server is away; it stays as \
                outbox 1: `bmo push` sends it, `bmo outbox drop 1` rolls it back
                """)
        #expect(try place.outbox(manager) == [.pending])
        try store.close()
        try await manager.close()
    }
}

/// A pusher that fails; before, it may mark the entries as being sent.
private struct FailingPusher: Pusher {
    var marking: (any Store)?

    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] {
        for entry in entries { try marking?.markSending(entry) }
        throw StoreError(.io, "the server closed the connection")
    }
}

/// A pusher that leaves its edits to others.
private struct SilentPusher: Pusher {
    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] { [:] }
}

/// A pusher that does not reach the remote, and sees another edit of the object in the meantime.
private struct OvertakenPusher: Pusher {
    let store: any Store
    let manager: RequestManager
    let object: ObjectID

    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] {
        for entry in entries { try store.markSending(entry) }
        _ = try await manager.save([.update(object, values: ["city": "Lyon"])], workflow: .localOnly)
        let outcome = EditOutcome.waits(until: nil, OutboxFailure(code: "unreachable", message: "the server is away"))
        for entry in entries { try store.settle(entry, outcome) }
        return Dictionary(entries.map { ($0, outcome) }, uniquingKeysWith: { $1 })
    }
}

/// A store that cannot roll edits back.
private final class LostStore: ForwardingStore, @unchecked Sendable {
    // It has no state of its own.
    override func dropOutbox(_ ids: [Int64]) throws { throw StoreError(.io, "the server is away") }
}
