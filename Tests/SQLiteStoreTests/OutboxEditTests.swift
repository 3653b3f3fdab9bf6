import ImportTestSupport
import Importer
import Mapping
import Model
import SQLiteStore
import Testing

/// Local edits: the row changes at once, and the outbox says what the remote has to be told.
@Suite struct OutboxEditTests {
    private let world: OutboxFixture

    init() throws {
        world = try OutboxFixture()
        try world.sync("User", ["id": 1, "name": "Ann", "age": 30], ["id": 2, "name": "Bob", "boss": 1])
        try world.sync("Post", ["id": "p1", "title": "One", "author": 1])
    }

    @Test func anUpdateChangesTheRowAndIsNoted() throws {
        let receipt = try world.update("User", 1, set: ["name": "Anna", "age": 30])
        #expect(receipt.entry == 1)
        try world.expectOutbox("1 update User [1] name: Ann -> Anna")
        #expect(try world.table("User").first?.contains("Anna") == true)
        #expect(try world.store.pendingFields(entity: "User", key: [1]) == ["name"])
        let run = try #require(try world.store.runs().first)
        #expect(run.kind == "edit" && run.outcome == "finished" && run.counts.updated == 1)
    }

    @Test func editsOfAnObjectThatWasNotSentBecomeOne() throws {
        try world.update("User", 1, set: ["name": "Anna"])
        try world.update("User", 1, set: ["name": "Annie", "age": 31])
        try world.expectOutbox("1 update User [1] name: Ann -> Annie age: 30 -> 31")
        try world.update("User", 1, set: ["name": "Ann"])
        try world.expectOutbox("1 update User [1] age: 30 -> 31")
        try world.update("User", 1, set: ["age": 30])
        try world.expectOutbox()

        let post = try world.create("Post", ["title": "New"])
        try world.update("Post", post.key[0], set: ["title": "Newer", "author": 1])
        try world.expectOutbox("2 create Post [\(post.key[0])] title: Newer author: 1")
        try world.delete("Post", post.key[0])
        try world.expectOutbox()
        try world.expectTable("Post", "p1|One|1")
        try world.expectSound()
    }

    @Test func whatIsBeingSentIsLeftAlone() throws {
        try world.update("User", 1, set: ["name": "Anna"])
        try world.store.markSending(1)
        try world.update("User", 1, set: ["name": "Annie"])
        try world.delete("User", 2)
        try world.expectOutbox(
                "1 update User [1] name: Ann -> Anna sending", "2 update User [1] name: Anna -> Annie",
                "3 delete User [2] id: 2 -> gone name: Bob -> gone age: null -> gone seen: null -> gone "
                    + "boss: 1 -> gone favorite: null -> gone level: null -> gone type: User -> gone tags:  -> ")
        #expect(try world.next()?.id == 3)
        try world.acknowledge(1)
        #expect(try world.next()?.id == 2)
    }

    @Test func temporaryKeysAreReplacedEverywhere() throws {
        let user = try world.create("User", ["name": "Cid", "boss": 1])
        #expect(user.key == [-1])
        let post = try world.create("Post", ["title": "Two", "author": user.key[0]])
        try world.update("User", 2, set: ["boss": user.key[0]], links: ["posts": [["p1"]]])
        try world.update("User", user.key[0], set: ["favorite": post.key[0]])
        try world.expectOutbox(
                "1 create User [-1] name: Cid boss: 1",
                "2 create Post [\(post.key[0])] title: Two author: -1 after [1]",
                "3 update Post [p1] author: 1 -> 2", "4 update User [2] boss: 1 -> -1 after [1]",
                "5 update User [-1] favorite: null -> \(post.key[0]) after [2]")
        #expect(try world.next()?.id == 1)
        try world.acknowledge(1, key: [77], ["id": 77, "name": "Cid", "age": 4])
        #expect(try world.next()?.id == 2)
        try world.acknowledge(2, key: ["p2"])
        try world.expectOutbox(
                "3 update Post [p1] author: 1 -> 2", "4 update User [2] boss: 1 -> 77",
                "5 update User [77] favorite: null -> p2")
        try world.expectTable("Post", "p1|One|2", "p2|Two|77")
        try world.expectTable("User", "x")
        try world.expectSound()
    }
}
