import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Local edits: the row changes at once, and the outbox says what the remote has to be told.
@Suite(.overAllStores, .namingTheStore) struct OutboxEditTests {
    private let world: StoreFixture

    init() throws {
        world = try StoreFixture.outbox()
        try world.sync("User", ["id": 1, "name": "Ann", "age": 30], ["id": 2, "name": "Bob", "boss": 1])
        try world.sync("Post", ["id": "p1", "title": "One", "author": 1])
    }

    @Test func `an update changes the row and is noted`() throws {
        let receipt = try world.update("User", 1, set: ["name": "Anna", "age": 30])
        #expect(receipt.entry == 1)
        try world.expectOutbox("1 update User [1] name: Ann -> Anna")
        #expect(try world.lines(of: "User").first?.contains("Anna") == true)
        #expect(try world.store.pendingFields(entity: "User", key: [1]) == ["name"])
        let run = try #require(try world.store.runs().first)
        #expect(run.kind == "edit" && run.outcome == "finished" && run.counts.updated == 1)
    }

    @Test func `what is taken back before it is sent is known`() throws {
        func entry(_ receipt: EditReceipt) throws -> Int64 { try #require(receipt.entry) }
        let sent = try entry(world.update("User", 2, set: ["name": "Bobby"]))
        try world.acknowledge(sent, ["id": 2, "name": "Bobby"])
        #expect(try !world.store.wasDropped(sent))

        let dropped = try entry(world.update("User", 1, set: ["name": "Anna"]))
        try world.store.dropOutbox([dropped])
        let unmade = try entry(world.update("User", 1, set: ["name": "Anna"]))
        try world.update("User", 1, set: ["name": "Ann"])
        let post = try world.create("Post", ["title": "New"])
        try world.delete("Post", post.key[0])
        let undone = try entry(world.update("User", 1, set: ["name": "Anna"]))
        _ = try world.store.undo(run: try #require(try world.store.runs().first).id)
        try world.expectOutbox()
        for entry in [dropped, unmade, try entry(post), undone] {
            #expect(try world.store.wasDropped(entry), "\(entry)")
        }
        #expect(try !world.store.wasDropped(undone + 1))
    }

    @Test func `an object with a key of bytes is found`() throws {
        let fixture = try StoreFixture(
            CompiledModel.of(Entity("File", key: ["hash"], [.of("hash", .data), .of("name", .text)])))
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("File", ["hash": .bytes([0, 255]), "name": "a"], ["hash": .bytes([]), "name": "empty"])
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        let layout = fixture.model.entities[0]
        for (key, isThere) in [([0, 255], true), ([], true), ([0], false)] as [([UInt8], Bool)] {
            let key = [StoredValue.bytes(key)]
            #expect(try fixture.store.hasObject(layout, key: key, before: "2999-01-01T00:00:00Z") == isThere, "\(key)")
        }
    }

    @Test func `edits of an object that was not sent become one`() throws {
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

    @Test func `what is being sent is left alone`() throws {
        try world.update("User", 1, set: ["name": "Anna"])
        try world.store.markSending(1)
        try world.update("User", 1, set: ["name": "Annie"])
        try world.delete("User", 2)
        try world.expectOutbox(
            "1 update User [1] name: Ann -> Anna sending", "2 update User [1] name: Anna -> Annie",
            "3 delete User [2] id: 2 -> gone name: Bob -> gone age: null -> gone seen: null -> gone "
                + "boss: 1 -> gone favorite: null -> gone entity: User -> gone level: null -> gone tags:  -> ")
        #expect(try world.next()?.id == 3)
        try world.acknowledge(1)
        #expect(try world.next()?.id == 2)
    }

    @Test func `what may have arrived takes no edits`() throws {
        try world.create("User", ["name": "Cid"])
        let key = try #require(try world.store.outboxEntry(1)?.idempotencyKey)
        let failure = OutboxFailure(code: "remote", message: "busy")
        // An answer said that it was not done: it takes edits, and its time is over once it is sent again.
        try world.store.markSending(1)
        try world.store.settle(1, .waits(until: "2001-01-01T00:00:00.000000Z", failure))
        try world.update("User", -1, set: ["age": 5])
        let sent = try #require(try world.store.markSending(1))
        #expect((sent.notBefore ?? "") > "2002" && sent.attempts == 2 && sent.idempotencyKey != key)
        #expect(sent.changes.contains { $0.name == "age" && $0.new == 5 }, "what joined it meanwhile goes along")
        // Nobody knows whether that one was done; after a look it is to be sent again.
        #expect(try world.store.recoverSending().map(\.notBefore) == [sent.notBefore], "when it was sent")
        try world.store.settle(1, .waits(until: nil, failure))
        try world.update("User", -1, set: ["age": 6])
        try world.expectOutbox("1 create User [-1] name: Cid age: 5", "2 update User [-1] age: 5 -> 6")
        #expect(try world.store.outboxEntry(1)?.idempotencyKey == sent.idempotencyKey)
        try world.acknowledge(1, key: [77], ["id": 77, "name": "Cid", "age": 5])
        try world.expectOutbox("2 update User [77] age: 5 -> 6")
        try world.expectSound()
    }

    @Test func `what is not to be sent any more is not marked`() throws {
        try world.update("User", 1, set: ["name": "Anna"])
        try world.store.dropOutbox([1])
        #expect(try world.store.markSending(1) == nil)
        try world.update("User", 1, set: ["name": "Anna"])
        try world.store.settle(2, .conflict(OutboxFailure(code: "conflict", message: "another")))
        #expect(try world.store.markSending(2) == nil)
        try world.expectSound()
    }

    @Test func `temporary keys are replaced everywhere`() throws {
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
        try world.expectTable(
            "User", "1|Ann|30|null|null|null|User|null", "2|Bob|null|null|77|null|User|null",
            "77|Cid|4|null|1|p2|User|null")
        try world.expectSound()
    }

    private func expectRefusal(
        _ words: String, sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let before = try (world.lines(of: "User"), world.lines(of: "Post"), world.outbox(), world.store.runs().count)
        let error = try storeError(sourceLocation: sourceLocation, body)
        #expect(error.code == .request && error.remedy != nil, sourceLocation: sourceLocation)
        #expect(error.message == words, sourceLocation: sourceLocation)
        let after = try (world.lines(of: "User"), world.lines(of: "Post"), world.outbox(), world.store.runs().count)
        #expect(before == after, sourceLocation: sourceLocation)
    }

    @Test func `what cannot be is refused in words`() throws {
        try expectRefusal("there is no entity \"Usr\"") { try world.create("Usr") }
        try expectRefusal("User has no column \"nme\"") { try world.update("User", 1, set: ["nme": "x"]) }
        try expectRefusal("User.posts is a relationship to many, and no column") {
            try world.update("User", 1, set: ["posts": "x"])
        }
        try expectRefusal("User.entity is a column that bmo itself writes") {
            try world.update("User", 1, set: ["entity": "Admin"])
        }
        try expectRefusal("User has no column \"level\"") { try world.update("User", 1, set: ["level": 1]) }
        try expectRefusal("User.age has the type integer, and \"old\" is not such a value") {
            try world.update("User", 1, set: ["age": "old"])
        }
        try expectRefusal("there is no User 9") { try world.update("User", 9, set: ["name": "x"]) }
        try expectRefusal("there is no Admin 1") { try world.update("Admin", 1, set: ["name": "x"]) }
        try expectRefusal("User.id is part of the key of 1 and cannot be changed") {
            try world.update("User", 1, set: ["id": 5])
        }
        try expectRefusal("User 1 exists already") { try world.create("User", ["id": 1]) }
        try expectRefusal("User.boss is to refer to User 9, which does not exist") {
            try world.update("User", 1, set: ["boss": 9])
        }
        try expectRefusal("User.tags is to refer to Tag x, which does not exist") {
            try world.update("User", 1, links: ["tags": [["x"]]])
        }
        try expectRefusal("User has no relationship to many \"tag\"") {
            try world.update("User", 1, links: ["tag": []])
        }
        try expectRefusal("User.id is part of the key and cannot be null") {
            try world.create("User", ["id": .null])
        }
        try expectRefusal("the key of Part has 2 parts, but the given key has 1") { try world.delete("Part", "x") }
        try world.sync("Post", ["id": "p2", "author": 5])
        try expectRefusal("only the key of User 5 is known here: other objects refer to it") {
            try world.update("User", 5, set: ["name": "x"])
        }
        // All of a call or nothing.
        try expectRefusal("there is no User 9") {
            _ = try world.store.edit([
                LocalEdit(.create, entity: "User"), LocalEdit(.delete, entity: "User", key: [9]),
            ])
        }
    }

    @Test func `a stub may be referred to and becomes an object`() throws {
        try world.sync("Post", ["id": "p2", "author": 5])
        try world.update("User", 1, set: ["boss": 5])
        try world.create("User", ["id": 5, "name": "Eve"])
        try world.expectOutbox("1 update User [1] boss: null -> 5", "2 create User [5] id: 5 name: Eve")
        try world.store.dropOutbox([2, 1])
        #expect(try world.store.stubCount(of: "User") == 1)
        try world.expectSound()
    }

    @Test func `keys of several parts are made where none is given`() throws {
        let receipt = try world.create("Part", ["city": "Oslo", "note": "n"])
        #expect(receipt.key == ["Oslo", -1])
        try world.expectOutbox("1 create Part [Oslo, -1] city: Oslo note: n")
        try world.acknowledge(1, key: ["Oslo", 12], ["city": "Oslo", "number": 12, "note": "N"])
        try world.expectTable("Part", "Oslo|12|N")
        #expect(try world.outbox().isEmpty)
    }

    @Test func `sub entities are edited as what they are`() throws {
        let admin = try world.create("Admin", ["name": "Ada", "level": 3])
        try world.update("User", admin.key[0], set: ["level": 4])
        try world.expectOutbox("1 create Admin [-1] name: Ada level: 4")
        try world.acknowledge(1, key: [50])
        try world.delete("Admin", 50)
        #expect(try world.store.outbox(entity: "Admin").map(\.operation) == [.delete])
    }

    @Test func `links are edited from either end`() throws {
        let red = try world.create("Tag", ["name": "red"])
        try world.create("Tag", ["name": "blue"])
        try world.update("User", 1, links: ["tags": [["red"], ["blue"]]])
        try world.update("Tag", "red", links: ["users": [[2]]])
        try world.expectOutbox(
            "1 create Tag [red] name: red", "2 create Tag [blue] name: blue",
            "3 update User [1] tags:  -> [blue] after [2]", "4 update User [2] tags:  -> [red] after [1]")
        try world.update("User", 2, links: ["posts": [["p1"]]])
        #expect(try world.outbox().last == "5 update Post [p1] author: 1 -> 2")
        try world.expectTable("User_tags", "1|0|blue", "2|0|red")
        try world.acknowledge(1, key: ["RED"])
        try world.expectTable("User_tags", "1|0|blue", "2|0|RED")
        #expect(try world.outbox()[2] == "4 update User [2] tags:  -> [RED]")
        #expect(red.key == ["red"])
        try world.expectSound()
    }

    @Test func `new objects that refer to each other are created and then updated`() throws {
        let user = try world.create("User", ["name": "Cid"])
        let post = try world.create("Post", ["title": "T", "author": user.key[0]])
        try world.update("User", user.key[0], set: ["favorite": post.key[0]])
        try world.expectOutbox(
            "1 create User [-1] name: Cid", "2 create Post [\(post.key[0])] title: T author: -1 after [1]",
            "3 update User [-1] favorite: null -> \(post.key[0]) after [2]")
        let own = try world.create("User", ["id": 8, "boss": 8])
        #expect(try world.outbox().suffix(2) == ["4 create User [8] id: 8", "5 update User [8] boss: null -> 8"])
        #expect(own.entry == 4)
        // Only the last of them can go first.
        let error = try storeError { try world.store.dropOutbox([1]) }
        #expect(error.message == "later edits depend on it: 2, 3")
        try world.store.dropOutbox([1, 2, 3, 4, 5])
        try world.expectTable("Post", "p1|One|1")
        #expect(try world.lines(of: "User").count == 2)
        try world.expectSound()
    }

    @Test func `a new object that others refer to is not deleted`() throws {
        try world.create("User", ["name": "Cid"])
        try world.update("Post", "p1", set: ["author": -1])
        try expectRefusal("User -1 was never sent, but other objects refer to it") { try world.delete("User", -1) }
        try world.update("Post", "p1", set: ["author": 1])
        try world.delete("User", -1)
        #expect(try world.outbox().isEmpty)
    }

    @Test func `edits are undone as long as they wait`() throws {
        func undo() throws { _ = try world.store.undo(run: try #require(try world.store.runs().first).id) }
        let before = try (world.lines(of: "User"), world.lines(of: "Post"))
        try world.update("User", 1, set: ["name": "Anna"], links: ["posts": [], "tags": []])
        try world.delete("User", 1)
        try undo()
        try world.expectOutbox("1 update Post [p1] author: 1 -> null", "3 update User [1] name: Ann -> Anna")
        try world.create("User", ["name": "Cid"])
        try undo()
        let runs = try world.store.runs().map { "\($0.kind)" }
        #expect(runs.prefix(2) == ["undo", "edit"])
        try world.update("User", 2, set: ["age": 5])
        try world.store.markSending(try #require(try world.store.outbox(entity: "User").last).id)
        #expect(throws: UndoRefusal.self) { try undo() }
        try world.store.dropOutbox([1, 3])
        let error = try storeError { try undo() }
        #expect(error.message.hasSuffix("is a drop of local edits, which the remote may have received"))
        #expect(try world.lines(of: "Post") == before.1 && world.lines(of: "User").first == before.0.first)
        try world.expectSound()
    }

    @Test func `an edit that was split is undone as a whole, where it waits`() throws {
        func undo() throws { _ = try world.store.undo(run: try #require(try world.store.runs().first).id) }
        try world.create("User", ["name": "Old"])
        try world.update("User", -1, set: ["name": "New", "age": 5, "boss": -1])
        try world.expectOutbox("1 create User [-1] name: New age: 5", "2 update User [-1] boss: null -> -1")
        try undo()
        try world.expectOutbox("1 create User [-1] name: Old age: null")
        #expect(try world.table("User", "name", "age", "boss").contains(["'Old'", "null", "null"]))
        // Split from the beginning, alone and with another new object.
        try world.create("User", ["id": 8, "boss": 8])
        try undo()
        _ = try world.store.edit(inTurn: [
            { _ in LocalEdit(.create, entity: "User", values: ["name": "Cid"]) },
            { LocalEdit(.create, entity: "Post", values: ["title": "T", "author": $0[0].key[0]]) },
            { LocalEdit(.update, entity: "User", key: $0[0].key, values: ["favorite": $0[1].key[0]]) },
        ])
        #expect(try world.outbox().count == 4)
        try undo()
        try world.expectOutbox("1 create User [-1] name: Old age: null")
        #expect(try world.table("User", "id").count == 3)
        try world.expectTable("Post", "p1|One|1")
        try world.expectSound()
    }

    @Test func `an edit that may have arrived is not undone`() throws {
        try world.delete("User", 2)
        let run = try #require(try world.store.runs().first).id
        try world.store.markSending(1)
        var failure = OutboxFailure(code: "remote", message: "no answer")
        failure.mayHaveArrived = true
        try world.store.settle(1, .waits(until: nil, failure))
        let entry = try #require(try world.store.outboxEntry(1))
        #expect(entry.state == .pending && entry.mayHaveArrived && entry.failure == failure)
        #expect(throws: UndoRefusal.self) { _ = try world.store.undo(run: run) }
        #expect(try world.store.outbox().map(\.operation) == [.delete])
    }

    @Test func `an edit of a list that leads to one object now is not undone`() throws {
        func model(_ tag: Relationship) throws -> CompiledModel {
            try .of(
                Entity("Tag", key: ["id"], [.of("id", .integer)]),
                Entity("Post", key: ["id"], [.of("id", .integer)], [tag]))
        }
        let fixture = try StoreFixture(model(.many("tag", "Tag")))
        try fixture.sync("Tag", ["id": 1])
        try fixture.sync("Post", ["id": 1, "tag": [1]])
        try fixture.update("Post", 1, links: ["tag": []])
        let run = try #require(try fixture.store.runs().first).id
        try fixture.reopen(model(.one("tag", "Tag")))
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: run) }
        #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.tag any more"])
    }

    @Test(.overSQLiteOnly) func `an entry that another program has damaged is named and can be dropped`() throws {
        try world.update("User", 1, set: ["name": "Anna"])
        try world.update("User", 2, set: ["name": "Bobby"])
        try world.file().rows("UPDATE bmo_outbox SET changes = '{bad' WHERE id = 1")
        let error = try storeError { _ = try world.outbox() }
        #expect(error.message.contains("edit 1 in bmo_outbox cannot be read: no JSON"))
        #expect(error.remedy?.hasPrefix("`bmo outbox drop 1`") == true)
        try world.store.dropOutbox([1])
        try world.expectOutbox("2 update User [2] name: Bob -> Bobby")
        #expect(try world.store.wasDropped(1))
        // Without its create, an object that others may refer to would never get the remote's key.
        try world.create("User", ["name": "Cid"])
        try world.file().rows("UPDATE bmo_outbox SET changes = '{bad' WHERE id = 3")
        let refusal = try storeError { try world.store.dropOutbox([3]) }
        #expect(refusal.message.contains("edit 3 in bmo_outbox cannot be read"))
    }

    @Test func `a deleted object that is made again is updated`() throws {
        try world.delete("User", 1)
        #expect(try world.store.stubCount(of: "User") == 1)
        try world.create("User", ["id": 1, "name": "Ann", "age": 31])
        try world.expectOutbox("1 update User [1] age: 30 -> 31")
        try world.update("User", 1, set: ["age": 30])
        #expect(try world.outbox().isEmpty && world.store.stubCount(of: "User") == 0)
        try world.expectSound()
    }

    @Test func `an object that a sync brought before the answer becomes one with it`() throws {
        try world.create("User", ["name": "Cid"])
        try world.update("Post", "p1", set: ["author": -1])
        try world.store.markSending(1)
        try world.update("User", -1, set: ["age": 5])
        try world.sync("User", ["id": 77, "name": "CID", "age": 1])
        try world.acknowledge(1, key: [77], ["id": 77, "name": "CID", "age": 1])
        try world.expectOutbox("2 update Post [p1] author: 1 -> 77", "3 update User [77] age: 1 -> 5")
        try world.expectTable("Post", "p1|One|77")
        #expect(try world.lines(of: "User").last == "77|CID|5|null|null|null|User|null")
        try world.expectSound()
    }
}
