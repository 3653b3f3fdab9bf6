import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Imports of objects with edits that wait: what was edited here stays, and what both sides changed is told.
@Suite(.overAllStores, .namingTheStore) struct OutboxImportTests {
    private func world(_ conflicts: ConflictPolicy = .manual) throws -> StoreFixture {
        let world = try StoreFixture.outbox(conflicts: conflicts)
        try world.sync("Tag", ["name": "red"], ["name": "blue"], ["name": "green"])
        try world.sync(
            "User", ["id": 1, "name": "Ann", "age": 30, "seen": "2020-01-01T00:00:00Z", "tags": ["red", "blue"]],
            ["id": 2, "name": "Bob"])
        try world.sync("Post", ["id": "p1", "title": "One", "author": 1])
        return world
    }

    private func user(_ world: StoreFixture) throws -> String { try #require(try world.lines(of: "User").first) }

    @Test func `what the remote did not change stays edited`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna"], links: ["tags": [["red"], ["green"]]])
        try world.sync("User", ["id": 1, "name": "Ann", "age": 31, "tags": ["red", "blue"]])
        #expect(try user(world).hasPrefix("1|Anna|31|"))
        try world.expectTable("User_tags", "1|0|red", "1|1|green")
        try world.expectOutbox("1 update User [1] name: Ann -> Anna tags: [red][blue] -> [red][green]")
        try world.expectConflicts()
    }

    @Test func `what the remote has already need not be sent`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna", "age": 31], links: ["tags": [["green"]]])
        try world.sync("User", ["id": 1, "name": "Anna", "age": 30, "tags": ["green"]])
        try world.expectOutbox("1 update User [1] age: 30 -> 31")
        try world.sync("User", ["id": 1, "age": 31])
        try world.expectOutbox()
    }

    @Test func `what both changed waits for a decision`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna", "age": 31], links: ["tags": [["green"]]])
        try world.sync("User", ["id": 1, "name": "Anne", "age": 30, "tags": ["blue"]])
        #expect(try user(world).hasPrefix("1|Anna|31|"))
        try world.expectOutbox(
            "1 update User [1] name: Ann -> Anna age: 30 -> 31 tags: [red][blue] -> [green] conflict")
        try world.expectConflicts(
            "User [1] name: Ann | Anna | Anne", #"User [1] tags: [["red"],["blue"]] | [["green"]] | [["blue"]]"#)
        #expect(try world.next() == nil)
        let error = try storeError { try world.store.retryOutbox([1]) }
        #expect(error.message == "edit 1 has an unresolved conflict of name")

        try world.store.resolve(entity: "User", key: [1], column: "name", take: .local)
        try world.expectOutbox(
            "1 update User [1] name: Anne -> Anna age: 30 -> 31 tags: [red][blue] -> [green] conflict")
        try world.store.resolve(entity: "User", key: [1], take: .remote)
        try world.expectOutbox("1 update User [1] name: Anne -> Anna age: 30 -> 31")
        try world.expectTable("User_tags", "1|0|blue")
        try world.sync("User", ["id": 1, "name": "Anne", "age": 30, "tags": ["blue"]])
        try world.expectConflicts()
        #expect(try world.next()?.id == 1)
    }

    @Test func `a conflict goes with its reason`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna"])
        try world.sync("User", ["id": 1, "name": "Anne"])
        try world.sync("User", ["id": 1, "name": "Ann"])
        try world.expectConflicts()
        try world.expectOutbox("1 update User [1] name: Ann -> Anna")
        // The remote refused to change what had changed; it was another column.
        try world.store.markSending(1)
        try world.store.settle(1, .conflict(OutboxFailure(code: "conflict", message: "412")))
        try world.expectOutbox("1 update User [1] name: Ann -> Anna conflict")
        try world.sync("User", ["id": 1, "name": "Ann", "age": 99])
        try world.expectOutbox("1 update User [1] name: Ann -> Anna")
    }

    @Test func `the remote may win`() throws {
        let world = try world(.remote)
        try world.update("User", 1, set: ["name": "Anna", "age": 31])
        try world.sync("User", ["id": 1, "name": "Anne", "age": 30])
        #expect(try user(world).hasPrefix("1|Anne|31|"))
        try world.expectOutbox("1 update User [1] age: 30 -> 31")
        let lost = try world.lastChange()
        #expect(lost.columns == [.init(name: "name", old: "Anna", new: "Anne")])
    }

    @Test func `what an import gives up is known`() throws {
        let world = try world(.remote)
        func entry(_ receipt: EditReceipt) throws -> Int64 { try #require(receipt.entry) }
        let lost = try entry(world.update("User", 1, set: ["name": "Anna"]))
        let settled = try entry(world.update("User", 2, set: ["name": "Bo"]))
        try world.store.beginRun(kind: "sync")
        func page(commits: Bool) throws {
            let page = try world.begin("User")
            try page.add(
                try Literal.batch([["id": 1, "name": "Anne"], ["id": 2, "name": "Bo"]]), location: nil)
            if commits { try page.commit(progress: nil) } else { page.rollback() }
        }
        try page(commits: false)
        try page(commits: true)
        // Whoever waits need not wait for the sync's end, and its summary does not take it along.
        for isRunning in [true, false] {
            #expect(try world.store.wasDropped(lost))
            #expect(try !world.store.wasDropped(settled), "the remote has it")
            if isRunning {
                try world.store.endRun(outcome: "finished", summary: #"{"entities":[1]}"#, always: false)
            }
        }
        let summary = try world.store.runs(limit: 1).first?.summary
        #expect(summary == #"{"entities":[1],"given_up":[\#(lost)]}"#)

        let links = try entry(world.update("User", 1, links: ["tags": [["green"]]]))
        try world.sync("User", ["id": 1, "tags": ["blue"]])
        let deleted = try entry(world.delete("User", 2))
        try world.sync("User", ["id": 2, "name": "Bobby"])
        let gone = try entry(world.update("User", 2, set: ["age": 40]))
        try world.store.beginRun(kind: "sync")
        try remoteDeletes(2, in: world)
        try world.store.endRun(outcome: "finished", summary: nil, always: false)
        for entry in [links, deleted, gone] { #expect(try world.store.wasDropped(entry), "\(entry)") }
        let part = try entry(world.update("User", 1, set: ["name": "Anna", "age": 31]))
        try world.sync("User", ["id": 1, "name": "Annie", "age": 30])
        try world.expectOutbox("\(part) update User [1] age: 30 -> 31")
        #expect(try !world.store.wasDropped(part), "the rest of it is sent")
        try world.expectSound()
    }

    @Test func `the edit may win`() throws {
        let world = try world(.local)
        try world.update("User", 1, set: ["name": "Anna"], links: ["tags": [["green"]]])
        for _ in 0..<2 { try world.sync("User", ["id": 1, "name": "Anne", "tags": ["blue"]]) }
        #expect(try user(world).hasPrefix("1|Anna|"))
        try world.expectOutbox("1 update User [1] name: Anne -> Anna tags: [blue] -> [green]")
        let lost = try world.lastChange()
        #expect(lost.columns == [.init(name: "name", old: "Anne", new: "Anna")] && lost.links.count == 1)
    }

    @Test func `the newer may win`() throws {
        let world = try world(.newest(attribute: "seen"))
        try world.update("User", 1, set: ["name": "Anna"])
        try world.sync("User", ["id": 1, "name": "Anne", "seen": "2020-01-02T00:00:00Z"])
        try world.expectOutbox("1 update User [1] name: Anne -> Anna")
        try world.sync("User", ["id": 1, "name": "Anny", "seen": "2999-01-02T00:00:00Z"])
        try world.expectOutbox()
        #expect(try user(world).hasPrefix("1|Anny|"))
    }

    @Test func `what the remote deleted and was edited here stays`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna"], links: ["tags": [["green"]]])
        try remoteDeletes(1, in: world)
        #expect(try user(world).hasPrefix("1|Anna|"))
        try world.expectConflicts("User [1] -: - | - | -")
        try world.store.resolve(entity: "User", key: [1], take: .local)
        try world.expectOutbox(
            "1 create User [1] id: 1 name: Anna age: 30 seen: 2020-01-01T00:00:00.000000Z tags:  -> [green]")

        try world.update("User", 2, set: ["name": "Bo"])
        try remoteDeletes(2, in: world)
        try world.store.resolve(entity: "User", key: [2], take: .remote)
        #expect(try world.lines(of: "User").count == 1 && world.store.outbox().count == 1)
        try world.expectConflicts()
        try world.expectSound()
    }

    private func remoteDeletes(_ id: Int, in world: StoreFixture) throws {
        let page = try world.begin("User")
        try page.delete(try Literal.batch([["id": .integer(Int64(id))]]), location: nil)
        try page.commit(progress: nil)
    }

    @Test func `what was deleted here stays away`() throws {
        let world = try world()
        try world.delete("User", 1)
        try world.delete("User", 2)
        #expect(try world.lines(of: "User") == ["1|null|null|null|null|null|User|null"])
        try world.sync(
            "User", ["id": 1, "name": "Ann", "age": 30, "tags": ["red", "blue"]], ["id": 2, "name": "Bob"])
        #expect(try world.lines(of: "User") == ["1|null|null|null|null|null|User|null"])
        try world.expectConflicts()
        try world.sync("Post", ["id": "p2", "author": ["id": 2, "name": "Bob"]])
        #expect(try world.lines(of: "User").count == 2 && world.store.stubCount(of: "User") == 2)
        try world.sync("User", ["id": 2, "name": "Bobby"])
        try world.expectConflicts("User [2] -: - | - | -")
        try world.store.resolve(entity: "User", key: [2], take: .remote)
        #expect(try world.lines(of: "User").last?.hasPrefix("2|Bobby|") == true)
        try remoteDeletes(1, in: world)
        try world.expectOutbox()
        try world.expectSound()
    }

    @Test func `a dropped edit shows what the remote has now`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna", "age": 31], links: ["tags": [["green"]]])
        try world.sync("User", ["id": 1, "name": "Anne", "tags": ["blue", "red"]])
        try world.store.dropOutbox([1])
        #expect(try user(world).hasPrefix("1|Anne|30|"))
        try world.expectTable("User_tags", "1|0|blue", "1|1|red")
        try world.expectConflicts()
        try world.delete("User", 1)
        try world.sync("User", ["id": 1, "age": 32])
        try world.store.dropOutbox([2])
        #expect(try user(world).hasPrefix("1|Anne|32|"))
        try world.expectTable("User_tags", "1|0|blue", "1|1|red")
        #expect(try world.store.stubCount(of: "User") == 0)
        try world.expectSound()
    }

    @Test func `a new object that the remote has too becomes an update`() throws {
        let world = try world()
        try world.create("User", ["id": 9, "name": "Nia", "age": 3])
        try world.sync("User", ["id": 9, "name": "Nia", "age": 4, "boss": 1])
        try world.expectOutbox("1 update User [9] age: null -> 3 conflict")
        try world.expectConflicts("User [9] age: - | 3 | 4")
        try world.sync("User", ["id": 9, "name": "Nia", "age": 4])
        try world.store.dropOutbox([1])
        #expect(try world.lines(of: "User").last == "9|Nia|4|null|1|null|User|null")
    }

    @Test func `a remote key that looks like a temporary one does not take the object`() throws {
        let world = try world()
        try world.create("User", ["name": "Cid"])
        try world.update("User", 1, set: ["boss": -1])
        try world.sync("User", ["id": -1, "name": "Minus"])
        try world.expectTable(
            "User", "-3|Cid|null|null|null|null|User|null", "-1|Minus|null|null|null|null|User|null",
            "1|Ann|30|2020-01-01T00:00:00.000000Z|-3|null|User|null", "2|Bob|null|null|null|null|User|null")
        try world.expectOutbox("1 create User [-3] name: Cid", "2 update User [1] boss: null -> -3 after [1]")
        #expect(try world.store.outboxEntry(1)?.hasTemporaryKey == true)
        try world.expectSound()
    }

    @Test func `relationships seen from the other end stay edited`() throws {
        let world = try world()
        try world.update("Post", "p1", set: ["author": 2])
        try world.update("User", 2, links: ["tags": [["red"]]])
        try world.sync("User", ["id": 1, "posts": [["id": "p1", "title": "One"]]], ["id": 2, "posts": []])
        try world.sync("Tag", ["name": "red", "users": [1]], ["name": "blue", "users": [1, 2]])
        try world.expectTable("Post", "p1|One|2")
        try world.expectTable("User_tags", "1|0|red", "1|1|blue", "2|0|red")
        try world.expectSound()
    }

    @Test func `a reference that was edited stays where the other end lists bare keys`() throws {
        let world = try world()
        try world.sync("User", ["id": 3, "name": "Cy"])
        try world.update("Post", "p1", set: ["author": 2])
        try world.sync("User", ["id": 1, "name": "Ann", "posts": ["p1"]])
        try world.expectTable("Post", "p1|One|2")
        try world.expectOutbox("1 update Post [p1] author: 1 -> 2")
        try world.expectConflicts()
        try world.sync("User", ["id": 3, "name": "Cy", "posts": ["p1"]])
        try world.expectTable("Post", "p1|One|2")
        try world.expectConflicts("Post [p1] author: 1 | 2 | 3")
    }

    @Test func `an object that was deleted here does not come back by its key in a list`() throws {
        let world = try world()
        try world.delete("Post", "p1")
        let outbox = try world.outbox()
        try world.sync("User", ["id": 1, "name": "Ann", "posts": ["p1"]])
        try world.expectTable("Post")
        #expect(try world.outbox() == outbox)
    }

    @Test func `what is on its way is left alone`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna"])
        try world.store.markSending(1)
        try world.update("User", 1, set: ["name": "Annie"])
        try world.sync("User", ["id": 1, "name": "Anna"])
        try world.expectConflicts()
        try world.sync("User", ["id": 1, "name": "Ann"])
        try world.expectConflicts()
        #expect(try user(world).hasPrefix("1|Annie|"))
        // The remote writes names in its own way.
        try world.acknowledge(1, ["id": 1, "name": "ANNA"])
        try world.expectOutbox("2 update User [1] name: ANNA -> Annie")
        try world.expectConflicts()
    }

    @Test func `what became of sending is kept`() throws {
        let world = try world()
        try world.update("User", 1, set: ["name": "Anna"])
        let key = try #require(try world.store.outboxEntry(1)).idempotencyKey
        try world.store.markSending(1)
        #expect(try world.store.recoverSending().map(\.id) == [1])
        #expect(try world.store.outboxEntry(1)?.state == .unknown)
        try world.store.markSending(1)
        let busy = OutboxFailure(code: "busy", message: "503", remedy: "wait", remote: "later")
        try world.store.settle(1, .waits(until: "2500-01-01T00:00:00.000000Z", busy))
        let entry = try #require(try world.store.outboxEntry(1))
        #expect(entry.failure == busy && entry.attempts == 2 && entry.idempotencyKey == key)
        #expect(try world.store.nextToSend(at: "2499-01-01", entities: nil, excluding: []) == nil)
        #expect(try world.next()?.id == 1)
        try world.store.retryOutbox([1])
        #expect(try world.store.nextToSend(at: "2000-01-01", entities: ["User"], excluding: [])?.id == 1)
        #expect(try world.store.nextToSend(at: "2000-01-01", entities: ["Post"], excluding: []) == nil)
        #expect(try world.store.nextToSend(at: "2000-01-01", entities: nil, excluding: [1]) == nil)
        try world.store.markSending(1)
        try world.store.settle(1, .refused(busy))
        #expect(try world.next() == nil)
        try world.update("User", 1, set: ["age": 1])
        let changed = try #require(try world.next())
        #expect(changed.changes.count == 2 && changed.idempotencyKey != key)
    }

    /// A sync imports the remote's row before the reply to the create arrives; both rows are edited, and become one.
    @Test(arguments: [true, false])
    func `the newest edit decides what a new object has after its reply`(isLocalNewest: Bool) throws {
        let world = try world()
        let post = try world.create("Post", ["title": "New", "author": 1])
        try world.store.markSending(1)
        try world.sync("Post", ["id": "p9", "title": "New", "author": 1])
        let author = try world.create("User", ["name": "Cid"]).key[0]
        let edits: [(key: StoredValue, author: StoredValue)] = [(post.key[0], 2), ("p9", author)]
        for edit in isLocalNewest ? edits.reversed() : edits {
            try world.update("Post", edit.key, set: ["author": edit.author])
        }
        try world.acknowledge(1, key: ["p9"], ["id": "p9", "title": "New", "author": 1])
        try world.expectOutbox(
            "2 create User [-2] name: Cid",
            isLocalNewest ? "3 update Post [p9] author: 1 -> -2 after [2]" : "3 update Post [p9] author: 1 -> 2",
            isLocalNewest ? "4 update Post [p9] author: -2 -> 2" : "4 update Post [p9] author: 2 -> -2 after [2]")
        try world.expectTable("Post", "p1|One|1", isLocalNewest ? "p9|New|2" : "p9|New|-2")

        // An edit waits for the create in both cases, although a newer one replaces its value in the row.
        let error = try storeError { try world.delete("User", author) }
        #expect(error.message == "User -2 was never sent, but other objects refer to it")
    }
}
