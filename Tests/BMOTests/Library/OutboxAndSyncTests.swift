import BMO
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// What a program does with edits that wait, conflicts, whole syncs and their undoing.
@Suite(.overBothStores, .namingTheStore) struct OutboxAndSyncTests {
    private let first = ObjectID(entity: "Note", key: [1])

    /// A place with notes of these texts on the server and here.
    private func place(_ texts: String...) async throws -> (LibraryWorkspace<NoteServer>, RequestManager) {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        for text in texts {
            _ = try await manager.save([.create("Note", values: ["text": .text(text)])], workflow: .afterRemote)
        }
        return (place, manager)
    }

    @Test func `a conflict is listed, decided, and the local value sent`() async throws {
        let (place, manager) = try await place("a", "b")
        for id in [1, 2] {
            try await place.server.change(id, #"{"text": "theirs"}"#)
            let edit = ObjectEdit.update(ObjectID(entity: "Note", key: [.integer(Int64(id))]), values: ["text": "ours"])
            _ = try await manager.save([edit]).remote
        }
        let conflicts = try await manager.conflicts(entity: "Note")
        #expect(conflicts.map(\.column) == ["text", "text"])
        #expect(conflicts.map(\.local) == [.text("ours"), .text("ours")])
        #expect(conflicts.map(\.remote) == [.text("theirs"), .text("theirs")])
        #expect(try manager.id(of: conflicts[0]) == first)
        #expect(try await manager.outbox(state: .conflict).map { try manager.id(of: $0) }.first == first)

        try await manager.resolve(conflicts[0], take: .local)
        try await manager.resolve(conflicts[1], take: .remote)
        #expect(try await manager.conflicts().isEmpty)
        #expect(try await manager.push().edits.map(\.outcome.kind) == [.sent])
        #expect(try await place.server.content("notes/1").contains(#""text": "ours""#))
        #expect(try await manager.get("Note", 2)?["text"] == "theirs")
        await #expect(throws: RequestError.self, "it is decided") {
            try await manager.resolve(conflicts[0], take: .local)
        }
        await #expect(throws: RequestError.self) { _ = try await manager.conflicts(entity: "Nota") }
        try await manager.close()
    }

    @Test func `an edit that waits is dropped, or sent when it is due`() async throws {
        let (place, manager) = try await place("a", "b")
        let second = ObjectID(entity: "Note", key: [2])
        _ = try await manager.save([.update(first, values: ["text": "mine"])], workflow: .localOnly)
        _ = try await manager.save([.update(second, values: ["text": "kept"])], workflow: .localOnly)
        let entries = try await manager.outbox(entity: "Note")
        #expect(entries.map(\.state) == [.pending, .pending])
        try await manager.drop([entries[0].id])
        #expect(try await manager.get(first)?["text"] == "a")
        try await manager.retry([entries[1].id])
        #expect(try await manager.push().edits.map(\.outcome.kind) == [.sent])
        #expect(try await place.server.content("notes/2").contains("kept"))
        #expect(try await manager.outbox().isEmpty)
        await #expect(throws: RequestError.self) { try await manager.drop([entries[0].id]) }
        await #expect(throws: RequestError.self) { try await manager.retry([99]) }
        try await manager.close()
    }

    @Test func `a sync brings all entities, and its run is undone`() async throws {
        let (place, manager) = try await place("a")
        try await place.server.change(1, #"{"text": "theirs"}"#)
        // A request that is on its way has the file's lock: the sync waits for it.
        let fetch = try await manager.fetch(ObjectRequest("Topic"))
        let report = try await manager.sync()
        _ = try await fetch.remote
        #expect(report.succeeded && report.entities.map(\.name).sorted() == ["Note", "Topic"])
        #expect(try await manager.get(first)?["text"] == "theirs")
        let run = try #require(report.run)
        #expect(try await manager.runs(limit: 1).map(\.id) == [run])
        #expect(try await manager.changes(of: run, entity: "Note").first?.columns.map(\.name).contains("text") == true)

        let undo = try await manager.undo(run: run)
        #expect(try await manager.get(first)?["text"] == "a")
        try await manager.undo(run: undo)
        #expect(try await manager.get(first)?["text"] == "theirs")
        await #expect(throws: RequestError.self) { try await manager.undo(run: 4711) }
        #expect(try await manager.sync(.init(entities: ["Topic"])).entities.map(\.name) == ["Topic"])
        try await manager.close()
    }

    @Test func `a sync of some entities waits for a request, as one of all does`() async throws {
        let (place, manager) = try await place("a")
        _ = try await place.server.curl("plain/hold", "-X", "POST")
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        try await eventually("the listing is held") { try place.server.events().contains { $0.event == "HELD" } }
        async let report = manager.sync(.init(entities: ["Topic"]))
        _ = try await place.server.curl("plain/release", "-X", "POST")
        _ = try await fetch.remote
        #expect(try await report.succeeded)
        try await manager.close()
    }

    @Test func `the end of a manager ends its sync`() async throws {
        let (place, manager) = try await place("a")
        _ = try await place.server.curl("plain/hold", "-X", "POST")
        async let report = manager.sync()
        try await eventually("the listing is held") { try place.server.events().contains { $0.event == "HELD" } }
        try await manager.close()
        #expect(try await report.wasInterrupted)
        _ = try await place.server.curl("plain/release", "-X", "POST")
    }
}
