import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import TestSupport
import StoreTestSupport
import Testing

/// Random edits, imports and answers against a small remote: nothing is lost, and in the end both sides agree.
@Suite(.namingTheStore) struct OutboxModelTests {
    /// A remote with users and posts: it gives new users a number and new posts a text as their key.
    private struct Remote {
        struct User: Equatable {
            var name: String?
            var age: Int64?
            var boss: Int64?
            var tags: [String] = []
        }
        struct Post: Equatable {
            var title: String?
            var author: Int64?
        }
        var users: [Int64: User] = [:]
        var posts: [String: Post] = [:]
        var lastKey: Int64 = 100

        func record(user id: Int64) -> Literal? {
            users[id].map { user in
                [
                    "id": .integer(id), "name": user.name.map { .text($0) } ?? .null,
                    "age": user.age.map { .integer($0) } ?? .null, "boss": user.boss.map { .integer($0) } ?? .null,
                    "tags": .array(user.tags.map { .text($0) }),
                ]
            }
        }

        func record(post id: String) -> Literal? {
            posts[id].map { post in
                [
                    "id": .text(id), "title": post.title.map { .text($0) } ?? .null,
                    "author": post.author.map { .integer($0) } ?? .null,
                ]
            }
        }
    }

    private enum Refusal: Error { case lostReference(String) }

    /// Does what an entry says; returns the key of a new object.
    private func apply(_ entry: OutboxEntry, to remote: inout Remote) throws -> [StoredValue]? {
        func number(_ value: StoredValue?) throws -> Int64? {
            guard case .integer(let number)? = value else { return nil }
            return number
        }
        func text(_ value: StoredValue?) -> String? { if case .text(let text)? = value { text } else { nil } }
        if entry.entity == "User" {
            var id = try number(entry.key[0]) ?? 0
            if entry.operation == .delete {
                remote.users[id] = nil
                for (key, user) in remote.users where user.boss == id { remote.users[key]?.boss = nil }
                for (key, post) in remote.posts where post.author == id { remote.posts[key]?.author = nil }
                return nil
            }
            var user = remote.users[id] ?? Remote.User()
            for change in entry.changes {
                switch change.name {
                case "name": user.name = text(change.new)
                case "age": user.age = try number(change.new)
                case "boss":
                    user.boss = try number(change.new)
                    if let boss = user.boss, boss < 0 { throw Refusal.lostReference("boss \(boss)") }
                default: break
                }
            }
            for link in entry.links { user.tags = link.new.compactMap { text($0[0]) } }
            if entry.operation == .create {
                remote.lastKey += 1
                id = remote.lastKey
            }
            remote.users[id] = user
            return entry.operation == .create ? [.integer(id)] : nil
        }
        var id = text(entry.key[0]) ?? ""
        if entry.operation == .delete {
            remote.posts[id] = nil
            return nil
        }
        var post = remote.posts[id] ?? Remote.Post()
        for change in entry.changes {
            if change.name == "title" { post.title = text(change.new) }
            if change.name == "author" {
                post.author = try number(change.new)
                if let author = post.author, author < 0 { throw Refusal.lostReference("author \(author)") }
            }
        }
        if entry.operation == .create {
            remote.lastKey += 1
            id = "p\(remote.lastKey)"
        }
        remote.posts[id] = post
        return entry.operation == .create ? [.text(id)] : nil
    }

    @Test(.overBothStores, arguments: 1...40)
    func `nothing is lost and both sides agree`(_ seed: UInt64) throws { try play(seed) }

    // A fifth of the seeds: a server takes seven times as long as the others.
    @Test(
        .overServers,
        .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"),
        arguments: 1...8)
    func `nothing is lost on a server`(_ seed: UInt64) throws { try play(seed) }

    private func play(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        let policies: [ConflictPolicy] = [.manual, .remote, .local]
        let world = try StoreFixture.outbox(conflicts: policies[Int(seed) % 3])
        try world.sync("Tag", ["name": "a"], ["name": "b"], ["name": "c"])
        var remote = Remote()
        for id in 1...4 { remote.users[Int64(id)] = Remote.User(name: "n\(id)", age: Int64(id), tags: ["a"]) }
        for id in 1...3 { remote.posts["p\(id)"] = Remote.Post(title: "t\(id)", author: Int64(id)) }
        try syncAll(world, remote)
        var sent: (entry: OutboxEntry, key: [StoredValue]?, isDone: Bool)?
        for step in 0..<80 {
            switch random.next() % 12 {
            case 0...5: try edit(world, step, &random)
            case 6: change(&remote, step, &random)
            case 7: try syncAll(world, remote)
            case 8...9:
                // One is sent; whether it arrives is told later.
                guard sent == nil, let next = try world.next() else { continue }
                try world.store.markSending(next.id)
                let isDone = random.next() % 4 != 0 && exists(next, remote)
                sent = (next, isDone ? try apply(next, to: &remote) : nil, isDone)
            case 10:
                try settle(world, remote, &sent)
            default:
                let waiting = try world.store.outbox().filter { $0.state != .sending }
                guard let entry = waiting.randomElement(using: &random) else { continue }
                // Refused where others build upon it.
                try? world.store.dropOutbox([entry.id])
            }
            try world.expectSound()
        }
        try settle(world, remote, &sent)
        #expect(try world.store.runs().count { $0.kind == "edit" } > 20 && world.store.outbox().count > 5)
        try finish(world, &remote)
        #expect(try world.outbox().isEmpty && world.conflicts().isEmpty)
        try syncAll(world, remote)
        #expect(try world.outbox().isEmpty)
        try expectAgreement(world, remote)
    }

    private func exists(_ entry: OutboxEntry, _ remote: Remote) -> Bool {
        guard entry.operation == .update else { return true }
        if case .integer(let id) = entry.key[0] { return remote.users[id] != nil }
        if case .text(let id) = entry.key[0] { return remote.posts[id] != nil }
        return false
    }

    private func settle(
        _ world: StoreFixture, _ remote: Remote, _ sent: inout (entry: OutboxEntry, key: [StoredValue]?, isDone: Bool)?
    ) throws {
        guard let (entry, key, isDone) = sent else { return }
        sent = nil
        guard isDone else {
            return try world.store.settle(
                entry.id, .waits(until: nil, OutboxFailure(code: "network", message: "not sent")))
        }
        let now = key ?? entry.key
        var answer: Literal?
        if case .integer(let id) = now[0] { answer = remote.record(user: id) }
        if case .text(let id) = now[0] { answer = remote.record(post: id) }
        if let answer, entry.operation != .delete {
            try world.acknowledge(entry.id, key: key, answer)
        } else {
            try world.acknowledge(entry.id, key: key)
        }
    }

    /// Sends all, deciding conflicts for the local side, until nothing is left.
    private func finish(_ world: StoreFixture, _ remote: inout Remote) throws {
        for _ in 0..<500 {
            guard let entry = try world.next() else {
                let stuck = try world.store.outbox().filter { $0.state == .conflict }
                guard let first = stuck.first else { return }
                try world.store.resolve(entity: first.entity, key: first.key, take: .local)
                continue
            }
            try world.store.markSending(entry.id)
            guard exists(entry, remote) else {
                try world.store.settle(entry.id, .conflict(OutboxFailure(code: "not_found", message: "404")))
                try world.store.resolve(entity: entry.entity, key: entry.key, take: .remote)
                continue
            }
            var sent: (entry: OutboxEntry, key: [StoredValue]?, isDone: Bool)? = (
                entry, try apply(entry, to: &remote), true
            )
            try settle(world, remote, &sent)
        }
        Issue.record("the outbox does not end: \(try world.outbox())")
    }

    private func edit(_ world: StoreFixture, _ step: Int, _ random: inout SplitMix64) throws {
        let users = try world.table("User", "id").compactMap { Int64($0[0]) }
        // Temporary keys of posts are random, so the order by title makes a seed repeatable.
        let posts = try world.table("Post", "title", "id").sorted { $0[0] < $1[0] }.map {
            $0[1].replacing("'", with: "")
        }
        func user() -> StoredValue { users.randomElement(using: &random).map { .integer($0) } ?? .null }
        let post = posts.randomElement(using: &random) ?? ""
        let tags = ["a", "b", "c"].filter { _ in random.next() % 2 == 0 }
        let edit: LocalEdit =
            switch random.next() % 8 {
            case 0: LocalEdit(.create, entity: "User", values: ["name": .text("new\(step)"), "boss": user()])
            case 1: LocalEdit(.create, entity: "Post", values: ["title": .text("new\(step)"), "author": user()])
            case 2: LocalEdit(.update, entity: "User", key: [user()], values: ["name": .text("edit\(step)")])
            case 3:
                LocalEdit(
                    .update, entity: "User", key: [user()], values: ["age": .integer(Int64(step)), "boss": user()],
                    links: ["tags": tags.map { [.text($0)] }])
            case 4:
                LocalEdit(
                    .update, entity: "Post", key: [.text(post)],
                    values: ["title": .text("edit\(step)"), "author": user()])
            case 5: LocalEdit(.update, entity: "User", key: [user()], links: ["posts": [[.text(post)]]])
            case 6: LocalEdit(.delete, entity: "User", key: [user()])
            default: LocalEdit(.delete, entity: "Post", key: [.text(post)])
            }
        do {
            _ = try world.store.edit([edit])
        } catch let error as StoreError where error.code == .request {
            // A stub, or a new object that others refer to.
        }
    }

    private func change(_ remote: inout Remote, _ step: Int, _ random: inout SplitMix64) {
        guard let id = remote.users.keys.sorted().randomElement(using: &random) else { return }
        switch random.next() % 4 {
        case 0: remote.users[id]?.name = "remote\(step)"
        case 1: remote.users[id]?.age = Int64(1000 + step)
        case 2: remote.users[id]?.tags = ["c"]
        default: if let post = remote.posts.keys.sorted().first { remote.posts[post]?.title = "remote\(step)" }
        }
    }

    private func syncAll(_ world: StoreFixture, _ remote: Remote) throws {
        let store = world.store
        try store.beginRun(kind: "sync")
        for (entity, records) in [
            ("User", remote.users.keys.sorted().compactMap { remote.record(user: $0) }),
            ("Post", remote.posts.keys.sorted().compactMap { remote.record(post: $0) }),
        ] {
            let scope = ScanScope(entity: entity)
            try store.beginScan(scope, afterPage: nil)
            let page = try world.begin(entity)
            try page.add(try Literal.batch(records), location: nil)
            _ = try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil)))
            store.endScan(scope)
        }
        try store.endRun(outcome: "finished", summary: nil, always: false)
    }

    private func expectAgreement(_ world: StoreFixture, _ remote: Remote) throws {
        let stubs = Set(try world.stubs())
        func lines(_ entity: String, _ rows: [[String]]) -> [String] {
            rows.map { row in row.map { $0.replacing("'", with: "") } }.filter { row in
                let key = entity == "User" ? "[\(row[0])]" : "[\"\(row[0])\"]"
                return !stubs.contains("\(entity) \(key)")
            }.map { $0.joined(separator: "|") }
        }
        let lists = Dictionary(grouping: try world.table("User_tags", "source", "target"), by: { $0[0] })
        func text(_ value: (some CustomStringConvertible)?) -> String { value?.description ?? "null" }
        let users = lines(
            "User",
            try world.table("User", "id", "name", "age", "boss").map { row in
                row + [lists[row[0]].map { $0.map { $0[1] }.joined(separator: ",") } ?? "null"]
            })
        #expect(
            users
                == remote.users.sorted { $0.key < $1.key }.map { id, user in
                    let tags = user.tags.isEmpty ? "null" : user.tags.joined(separator: ",")
                    return "\(id)|\(text(user.name))|\(text(user.age))|\(text(user.boss))|\(tags)"
                })
        let posts = lines("Post", try world.table("Post", "id", "title", "author"))
        #expect(
            posts
                == remote.posts.sorted { $0.key < $1.key }.map { id, post in
                    "\(id)|\(text(post.title))|\(text(post.author))"
                })
    }
}
