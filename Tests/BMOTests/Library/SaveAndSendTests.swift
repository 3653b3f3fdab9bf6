import BMO
import Foundation
import SQLiteStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// What becomes of saves on a server that keeps what it is sent.
@Suite(.overBothStores, .namingTheStore) struct SaveAndSendTests {
    private struct Topic: Codable {
        var id: Int?
        var name: String?
    }

    private struct Note: Codable {
        var id: Int?
        var text: String
        var topic: Topic?
        var tags: [Topic]?
    }

    /// What became of the only entry.
    private func outcome(_ save: ObjectSave) async throws -> EditOutcome {
        let outcomes = try await save.remote
        return try #require(outcomes.count == 1 ? outcomes.values.first : nil, "\(outcomes)")
    }

    @Test func `a new object counts at once, is sent, and gets the remote's key`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let save = try await manager.save([.create("Note", values: ["text": "milk"])])
        let temporary = try #require(save.saved.first?.id)
        #expect(temporary == ObjectID(entity: "Note", key: [-1]))
        let one = ObjectID(entity: "Note", key: [1])
        #expect(try await outcome(save) == .sent(key: [.integer(1)]))
        #expect(try await save.current.map(\.id) == [one])
        #expect(try await place.server.content() == #"[{"text": "milk", "id": 1}]"#)
        #expect(try await manager.get(one)?["text"] == "milk")
        #expect(try await manager.get(temporary) == nil)

        let update = try await manager.save([.update(one, values: ["city": "Lyon", "text": "milk"])])
        #expect(try await outcome(update) == .sent(key: nil))
        #expect(try await place.server.content("notes/1").contains(#"{"city": "Lyon"}"#))
        #expect(try await manager.save([.update(one, values: ["city": "Lyon"])]).saved.isEmpty, "no change")
        #expect(try await outcome(try await manager.save([.delete(one)], workflow: .afterRemote)) == .sent(key: nil))
        #expect(try await place.server.content() == "[]")
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }

    @Test func `what is deleted or changed during a fetch is not brought back by the page that was asked for before`()
        async throws
    {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager(timeout: 60)
        let (one, two) = (ObjectID(entity: "Note", key: [1]), ObjectID(entity: "Note", key: [2]))
        for text in ["milk", "bread"] {
            _ = try await manager.save([.create("Note", values: ["text": .text(text)])], workflow: .afterRemote)
        }
        _ = try await place.server.curl("plain/hold", "-X", "POST")
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        try await eventually("the listing is held") { try place.server.events().contains { $0.event == "HELD" } }
        _ = try await manager.save([.delete(one)], workflow: .afterRemote)
        _ = try await manager.save([.update(two, values: ["text": "butter"])], workflow: .afterRemote)
        _ = try await place.server.curl("plain/release", "-X", "POST")
        let result = try await fetch.remote
        #expect(result.inserted.isEmpty && result.updated.isEmpty && result.deleted.isEmpty, "\(result)")
        #expect(try await manager.get(one) == nil)
        #expect(try await manager.get(two)?["text"] == "butter")
        try await manager.close()
    }

    @Test func `new objects inside a new object are created first, and it refers to the keys that they got`()
        async throws
    {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let old = try await manager.save([.create("Topic", values: ["name": "old"])], workflow: .afterRemote)
        #expect(try await outcome(old) == .sent(key: [.integer(1)]))
        #expect(try await old.current.map(\.id) == [ObjectID(entity: "Topic", key: [1])])
        let note = Note(
            text: "bread", topic: Topic(name: "food"), tags: [Topic(id: 1), Topic(name: "fresh"), Topic(name: "daily")])
        let save = try await manager.save([try .create("Note", note)], workflow: .afterRemote)
        #expect(save.saved.map(\.id.entity) == ["Topic", "Topic", "Topic", "Note"])
        #expect(try await save.remote.values.nonEmptyAllSatisfy { if case .sent(_?) = $0 { true } else { false } })
        // Those that do not refer to each other are sent at the same time.
        let topics = try JSONDecoder().decode([Topic].self, from: Data(try await place.server.content("topics").utf8))
        let ids = Dictionary(topics.map { ($0.name ?? "", $0.id ?? 0) }, uniquingKeysWith: { $1 })
        #expect(ids.keys.sorted() == ["daily", "food", "fresh", "old"] && Set(ids.values) == [1, 2, 3, 4])
        let (food, fresh, daily) = (try #require(ids["food"]), try #require(ids["fresh"]), try #require(ids["daily"]))
        #expect(
            try await place.server.content()
                == #"[{"text": "bread", "topic": \#(food), "tags": [1, \#(fresh), \#(daily)], "id": 1}]"#)
        let saved = try #require(try await manager.get("Note", 1, including: ["topic", "tags"]))
        let names: [LocalValue?]? = saved.objects("tags")?.map { $0["name"] }
        #expect(names == ["old", "fresh", "daily"])
        #expect(saved.reference("topic") == ObjectID(entity: "Topic", key: [.integer(Int64(food))]))
        try await manager.close()
    }

    @Test func `what the remote changed meanwhile is a conflict, and rolled back where that is asked for`() async throws
    {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        for text in ["a", "b"] {
            _ = try await manager.save([.create("Note", values: ["text": .text(text)])], workflow: .afterRemote)
        }
        for id in [1, 2] { try await place.server.change(id, #"{"text": "theirs"}"#) }
        let first = ObjectID(entity: "Note", key: [1])
        let second = ObjectID(entity: "Note", key: [2])
        let kept = try await outcome(try await manager.save([.update(first, values: ["text": "ours"])]))
        guard case .conflict(let failure?) = kept else { throw DeadlineError(description: "\(kept)") }
        #expect(failure.remote?.contains("changed by somebody else") == true, "\(failure)")
        #expect(try await manager.get(first)?["text"] == "ours")
        let lost = try await outcome(
            try await manager.save([.update(second, values: ["text": "ours"])], workflow: .rollBack))
        guard case .conflict = lost else { throw DeadlineError(description: "\(lost)") }
        #expect(try await manager.get(second)?["text"] == "theirs")
        #expect(try await place.server.content("notes/1").contains("theirs"))
        #expect(try place.outbox(manager) == [.conflict])
        try await manager.close()
    }

    @Test func `what the remote refuses stays, is rolled back, or fails the save, as the workflow says`() async throws {
        let place = try LibraryWorkspace.notes(style: "refuse")
        let manager = try await place.manager()
        let note = ObjectEdit.create("Note", values: ["text": "a"])
        let refused = try await outcome(try await manager.save([note]))
        guard case .refused(let failure) = refused else { throw DeadlineError(description: "\(refused)") }
        #expect(failure.remote?.contains("text must not be empty") == true, "\(failure)")
        #expect(try await manager.count(ObjectRequest("Note")) == 1)
        #expect(try place.outbox(manager) == [.refused])

        let withTopic = try ObjectEdit.create("Note", Note(text: "b", topic: Topic(name: "t")))
        let outcomes = try await manager.save([withTopic], workflow: .rollBack).remote
        #expect(outcomes.count == 2)
        for outcome in outcomes.values {
            guard case .refused = outcome else { throw DeadlineError(description: "\(outcomes)") }
        }
        #expect(try await manager.count(ObjectRequest("Note")) == 1)
        #expect(try await manager.count(ObjectRequest("Topic")) == 0, "what it refers to is taken back too")

        let error = try await #require(throws: RequestError.self) {
            try await manager.save([note], workflow: .afterRemote)
        }
        #expect(error.step == .contacting && error.entity == "Note")
        #expect(error.remote?.contains("text must not be empty") == true, "\(error)")
        #expect(try await manager.count(ObjectRequest("Note")) == 1)
        #expect(try place.outbox(manager) == [.refused])
        try await manager.close()
    }

    @Test func `what cannot be sent waits for a push, also over the end of the program`() async throws {
        let place = try LibraryWorkspace.notes()
        var gone: RemoteServer? = try RemoteServer.fixture("objects.py")
        let url = try #require(gone?.url)
        gone = nil
        let offline = try await place.manager(url: url)
        let note = ObjectEdit.create("Note", values: ["text": "a"])
        let waiting = try await outcome(try await offline.save([note], workflow: .rollBack))
        guard case .waits(_, let failure?) = waiting else { throw DeadlineError(description: "\(waiting)") }
        #expect(failure.code == "unreachable")
        let error = try await #require(throws: RequestError.self) {
            try await offline.save([.create("Note", values: ["text": "b"])], workflow: .afterRemote)
        }
        #expect(error.isUnreachable && error.isRetryable)
        #expect(error.remedy?.contains("stays in the outbox") == true, "\(error)")
        let dropped = try await outcome(
            try await offline.save([.create("Note", values: ["text": "c"])], workflow: .acceptedOnly))
        #expect(dropped.kind == .dropped && dropped.failure?.code == "unreachable", "\(dropped)")
        #expect(try await offline.count(ObjectRequest("Note")) == 2, "it is rolled back")
        try await offline.close()

        let manager = try await place.manager()
        #expect(try place.outbox(manager) == [.pending, .pending])
        try await eventually("both are due") { try await manager.push().succeeded }
        let remote = try await place.server.content()
        #expect(remote.contains(#""text": "a""#) && remote.contains(#""text": "b""#))
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }

    @Test(arguments: [SaveWorkflow.rollBack, .afterRemote])
    func `an edit that may have arrived is never rolled back`(workflow: SaveWorkflow) async throws {
        let place = try LibraryWorkspace.notes(style: "drop")
        let manager = try await place.manager(match: "# no match")
        let note = ObjectEdit.create("Note", values: ["text": "a"])
        if workflow == .afterRemote {
            let error = try await #require(throws: RequestError.self) {
                try await manager.save([note], workflow: workflow)
            }
            #expect(error.remedy?.contains("checks whether it arrived") == true, "\(error)")
        } else {
            let unknown = try await outcome(try await manager.save([note], workflow: workflow))
            guard case .unknown = unknown else { throw DeadlineError(description: "\(unknown)") }
        }
        #expect(try await place.server.content().contains(#""text": "a""#), "it did arrive")
        #expect(try place.outbox(manager) == [.unknown])
        #expect(try await manager.count(ObjectRequest("Note")) == 1)
        try await manager.close()
    }

    @Test func `an object that another manager sends has the remote's key`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let other = try await place.manager()
        let save = try await manager.save([.create("Note", values: ["text": "a"])], workflow: .localOnly)
        #expect(try await save.current == save.saved)
        #expect(try await other.push().count(.sent) == 1)
        #expect(try await save.current.map(\.id) == [ObjectID(entity: "Note", key: [1])])
        try await other.close()
        try await manager.close()
    }

    @Test func `saves at the same time wait for each other's sending`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let outcomes = try await withThrowingTaskGroup(of: [EditOutcome].self) { group in
            for number in 0..<20 {
                group.addTask {
                    let save = try await manager.save([.create("Note", values: ["text": .text("n\(number)")])])
                    return Array(try await save.remote.values)
                }
            }
            group.addTask {
                _ = try await manager.push()
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(outcomes.map { "\($0)" }).count == 20, "each has a key of its own: \(outcomes)")
        #expect(try await manager.count(ObjectRequest("Note")) == 20)
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }

    @Test func `the end of a manager waits for what is on its way, and leaves the rest in the outbox`() async throws {
        let place = try LibraryWorkspace.notes(style: "slow")
        let manager = try await place.manager()
        let first = try await manager.save([.create("Note", values: ["text": "a"])])
        try await eventually("it is on its way") { try place.server.events().contains { $0.event == "POST" } }
        let second = try await manager.save([.create("Note", values: ["text": "b"])])
        try await manager.close()
        #expect(try await first.current.map(\.id) == [ObjectID(entity: "Note", key: [1])])
        #expect(try await outcome(second) == .waits(until: nil, nil))
        #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
        let next = try await place.manager()
        #expect(try place.outbox(next) == [.pending])
        #expect(try await next.push().succeeded)
        try await next.close()
    }

    @Test(.overSQLiteOnly) func `while another process sends, an edit waits and the save says who it is`() async throws
    {
        let place = try LibraryWorkspace.notes()
        var options = RequestManager.Options()
        options.lockTimeout = .none
        let manager = try await place.manager(options: options)
        let lock = try SQLiteStores().lock(place.folder.appending("bmo.sqlite") + "-push", command: "another push")
        let note = ObjectEdit.create("Note", values: ["text": "a"])
        let save = try await manager.save([note])
        let busy = try await #require(throws: StoreError.self) { try await save.remote }
        #expect(busy.code == .busy && busy.message.contains("another push"), "\(busy)")
        let error = try await #require(throws: RequestError.self) {
            try await manager.save([note], workflow: .afterRemote)
        }
        #expect(error.isRetryable && error.message.contains("another push"), "\(error)")
        #expect(try place.outbox(manager) == [.pending, .pending])
        lock.release()
        #expect(try await manager.push().count(.sent) == 2)
        try await manager.close()
    }

    @Test(.overSQLiteOnly, arguments: [SaveWorkflow.localFirst, .rollBack, .afterRemote])
    func `an edit that is dropped before its turn is not reported as sent`(_ workflow: SaveWorkflow) async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let lock = try SQLiteStores().lock(place.folder.appending("bmo.sqlite") + "-push", command: "another push")
        let saving = Task {
            try await manager.save([.create("Note", values: ["text": "a"])], workflow: workflow).remote
        }
        let store = try manager.workspace.openStore()
        let entry = try await eventually("it waits") { try store.outbox().first?.id }
        try store.dropOutbox([entry])
        try store.close()
        lock.release()
        if workflow == .afterRemote {
            let error = try await #require(throws: RequestError.self) { try await saving.value }
            #expect(error.code == "dropped" && !error.isRetryable, "\(error)")
            #expect(error.message.contains("rolled back here before it was sent"), "\(error)")
        } else {
            #expect(try await saving.value == [entry: .dropped(nil)])
        }
        #expect(try await place.server.content() == "[]")
        try await manager.close()
    }

    @Test(.overSQLiteOnly, arguments: [SaveWorkflow.localFirst, .rollBack, .afterRemote])
    func `an edit that an import gives up before its turn is not reported as sent`(_ workflow: SaveWorkflow)
        async throws
    {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager(conflicts: "remote")
        let create = ObjectEdit.create("Note", values: ["text": "a"])
        _ = try await manager.save([create], workflow: .afterRemote)
        let note = ObjectID(entity: "Note", key: [1])
        let lock = try SQLiteStores().lock(place.folder.appending("bmo.sqlite") + "-push", command: "another push")
        let saving = Task {
            try await manager.save([.update(note, values: ["text": "ours"])], workflow: workflow).remote
        }
        let entry = try await eventually("it waits") {
            let store = try manager.workspace.openStore()
            defer { try? store.close() }
            return try store.outbox().first?.id
        }
        try await place.server.change(1, #"{"text": "theirs"}"#)
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(try await manager.get(note)?["text"] == "theirs")
        lock.release()
        if workflow == .afterRemote {
            let error = try await #require(throws: RequestError.self) { try await saving.value }
            #expect(error.code == "dropped" && !error.isRetryable, "\(error)")
        } else {
            #expect(try await saving.value == [entry: .dropped(nil)])
        }
        #expect(try await place.server.content("notes/1").contains("theirs"))
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }

    @Test func `an edit that gives way to the remote's version is not reported as sent`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager(conflicts: "remote")
        let create = ObjectEdit.create("Note", values: ["text": "a"])
        _ = try await manager.save([create], workflow: .afterRemote)
        let note = ObjectID(entity: "Note", key: [1])
        try await place.server.change(1, #"{"text": "theirs"}"#)
        let edit = ObjectEdit.update(note, values: ["text": "ours"])
        #expect(try await outcome(try await manager.save([edit])).kind == .dropped)
        #expect(try await manager.get(note)?["text"] == "theirs")
        // The same by a push of its own.
        let entry = try #require(try await manager.save([edit], workflow: .localOnly).saved.first?.entry)
        try await place.server.change(1, #"{"text": "theirs again"}"#)
        let report = try await manager.push()
        #expect(report.edits.map(\.entry) == [entry] && report.count(.dropped) == 1 && report.succeeded, "\(report)")
        #expect(report.edits.first?.failure?.message.contains("the remote's object was changed too") == true)
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }

    @Test func `what is not to be sent waits until it is`() async throws {
        let place = try LibraryWorkspace.notes()
        var options = RequestManager.Options()
        options.sendsEdits = false
        let silent = try await place.manager(options: options)
        let note = ObjectEdit.create("Note", values: ["text": "a"])
        #expect(try await silent.save([note]).remote.isEmpty)
        let error = try await #require(throws: RequestError.self) {
            try await silent.save([note], workflow: .afterRemote)
        }
        #expect(error.message.contains("sendsEdits"))
        try await silent.close()

        let manager = try await place.manager()
        #expect(try await manager.save([note], workflow: .localOnly).remote.isEmpty)
        let sent = try await manager.save([.create("Topic", values: ["name": "t"])], workflow: .afterRemote)
        #expect(sent.saved.count == 1)
        #expect(try await place.server.content() == "[]", "a save sends its own edits")
        let report = try await manager.push()
        #expect(report.succeeded && report.count(.sent) == 2)
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
        let closed = try await #require(throws: RequestError.self) { try await manager.push() }
        #expect(closed.code == "closed")
    }

    @Test func `what the configuration does not let be written is refused as by the command`() async throws {
        let place = try LibraryWorkspace.notes()
        let manager = try await place.manager()
        let error = try await #require(throws: RequestError.self) {
            try await manager.save([.create("Note", values: ["id": 5, "etag": "x", "text": "a"])])
        }
        #expect(error.step == .requested && error.code == "request")
        #expect(error.message.contains(#"Note.id comes from the remote only ("write: false")"#), "\(error)")
        #expect(error.message.contains("Note.etag comes from the remote only"), "\(error)")
        #expect(try place.outbox(manager).isEmpty)
        try await manager.close()
    }
}
