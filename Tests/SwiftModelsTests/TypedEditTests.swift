import BMO
import BMOTesting
import Foundation
import Model
import TestSupport
import Testing

/// Typed creations, edits and deletions, with what the remote receives of them.
@Suite struct TypedEditTests {
    private let remote = ScriptedRemote()

    private func withManager(_ body: (RequestManager) async throws -> Void) async throws {
        remote["NoteList"] = [["id": 1, "name": "shop"]]
        remote["Tag"] = [["name": "red", "id": 7], ["name": "blue", "id": 8]]
        remote["Note"] = [["id": 1, "title": "milk", "stars": 5, "list": 1, "tags": [["name": "red"]]]]
        let manager = try await RequestManager.testing(config: TypedQueryTests.config, remote: remote)
        _ = try await manager.sync(.init(entities: ["NoteList", "Tag", "Note"]))
        _ = remote.takeRequests()
        try await body(manager)
        try await manager.close()
    }

    private func asked() -> [String] { remote.takeRequests().map(\.description) }

    @Test func `a new object is there at once, and has the key of the remote later`() async throws {
        try await withManager { manager in
            let shop = try #require(try await manager.get(NoteList.self, 1))
            let save = try await manager.create(Note.self) {
                $0.title = "bread"
                $0.stars = 2
                $0.isDone = nil
                $0.list = ObjectReference(shop)
                $0.stars = ($0.stars ?? 0) + 1
            }
            #expect(save.object?.title == "bread")
            #expect(save.object?.stars == 3)
            #expect(try #require(save.object).id < 0)
            let note = try #require(try await save.current)
            #expect(note.id == 2)
            #expect(note.list?.key == 1)
            #expect(asked() == [#"create Note {"title":"bread","stars":3,"list":1}"#])
        }
    }

    @Test func `an edit sends what it changes and no more`() async throws {
        try await withManager { manager in
            let milk = try #require(try await manager.get(Note.self, 1))
            // The row is newer than the value.
            _ = try await manager.save([.update(milk.objectID, values: ["class": "food"])], workflow: .localOnly)
            let save = try await manager.edit(milk) {
                $0.title = "oat milk"
                $0.stars = nil
            }
            #expect(save.object?.title == "oat milk")
            #expect(save.object?.class == "food")
            #expect(try await save.current?.stars == nil)
            let sent = asked().joined()
            #expect(sent.contains(#""title":"oat milk""#) && sent.contains(#""stars":null"#), "\(sent)")
            #expect(!sent.contains("list"), "\(sent)")
            _ = try await manager.edit(try #require(save.object)) { $0.title = "oat milk" }.outcome
            #expect(asked().isEmpty)
        }
    }

    @Test func `the targets of relationships are edited`() async throws {
        try await withManager { manager in
            let query = Note.all.including(Note.tags)
            let milk = try #require(try await manager.objects(query).first)
            let blue = try #require(try await manager.get(Tag.self, "blue"))
            let save = try await manager.edit(milk) {
                $0.tags?.append(blue)
                $0.list = nil
            }
            _ = try await save.outcome
            let saved = try #require(try await manager.objects(query).first)
            #expect(saved.tags?.map(\.name) == ["red", "blue"])
            #expect(saved.list == nil)
        }
    }

    @Test func `a deletion goes to the remote`() async throws {
        try await withManager { manager in
            let milk = try #require(try await manager.get(Note.self, 1))
            let save = try await manager.delete(milk)
            #expect(save.object == nil)
            _ = try await save.outcome
            #expect(asked() == [#"delete Note {"id":1}"#])
            #expect(remote["Note"].isEmpty)
        }
    }

    @Test func `a user info reaches the bridge with each typed edit, and comes back with the save`() async throws {
        try await withManager { manager in
            let info = try UserInfo(["tenant": "acme"])
            let made = try await manager.create(Note.self, workflow: .afterRemote, userInfo: info) {
                $0.title = "bread"
            }
            #expect(made.userInfo == info)
            let bread = try #require(made.object)
            let edited = try await manager.edit(bread, workflow: .afterRemote, userInfo: info) { $0.stars = 4 }
            var copy = try #require(edited.object)
            copy.title = "rye"
            let saved = try await manager.save(
                copy, replacing: try #require(edited.object), workflow: .afterRemote, userInfo: info)
            let gone = try await manager.delete(copy, workflow: .afterRemote, userInfo: info)
            #expect([edited.userInfo, saved.userInfo, gone.userInfo] == [info, info, info])
            let told = remote.takeRequests().map {
                "\($0.operation.rawValue) for \($0.userInfo["tenant"]?.string ?? "none")"
            }
            #expect(told == ["create for acme", "update for acme", "update for acme", "delete for acme"])
        }
    }

    @Test func `an edit that the remote refuses is rolled back if that is asked`() async throws {
        try await withManager { manager in
            let milk = try #require(try await manager.get(Note.self, 1))
            remote.fail(.remote, "no such title", on: .update)
            let error = try await #require(throws: RequestError.self) {
                try await manager.edit(milk, workflow: .afterRemote) { $0.title = "mlik" }
            }
            #expect(error.message.contains("no such title"))
            #expect(try await manager.get(Note.self, 1)?.title == "milk")
        }
    }
}
