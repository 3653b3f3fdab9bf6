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

/// A store that cannot roll edits back.
private final class LostStore: ForwardingStore, @unchecked Sendable {
    // It has no state of its own.
    override func dropOutbox(_ ids: [Int64]) throws { throw StoreError(.io, "the server is away") }
}
