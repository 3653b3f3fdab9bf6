import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import TestSupport
import Testing

/// Users with posts, tags and groups, and what can be told of their edits in a line each.
extension StoreFixture {
    static func outbox(
        conflicts: ConflictPolicy = .manual, deletes: DeletePolicy = DeletePolicy()
    ) throws -> StoreFixture {
        var user = Entity(
            "User", key: ["id"],
            [.of("id", .integer), .of("name", .text), .of("age", .integer), .of("seen", .timestamp)],
            [
                .one("boss", "User"), .many("posts", "Post", inverse: "author"), .many("tags", "Tag"),
                .one("favorite", "Post"),
            ])
        user.conflicts = conflicts
        user.deletes = deletes
        var admin = Entity("Admin", key: [], [.of("level", .integer)])
        admin.superentity = "User"
        return try StoreFixture(
            CompiledModel.of(
                user, admin,
                Entity("Post", key: ["id"], [.of("id", .text), .of("title", .text)], [.one("author", "User")]),
                Entity(
                    "Tag", key: ["name"], [.of("name", .text)], [.many("users", "User", inverse: "tags")]),
                Entity(
                    "Part", key: ["city", "number"],
                    [.of("city", .text), .of("number", .integer), .of("note", .text)])))
    }

    /// What `bmo sync` would do.
    func sync(_ entity: String, _ records: Literal...) throws {
        try store.beginRun(kind: "sync")
        let page = try begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        try page.commit(progress: nil)
        try store.endRun(outcome: "finished", summary: nil, always: false)
    }

    @discardableResult
    func create(
        _ entity: String, _ values: [String: StoredValue] = [:], links: [String: [[StoredValue]]] = [:]
    ) throws -> EditReceipt {
        try #require(try store.edit([LocalEdit(.create, entity: entity, values: values, links: links)]).first)
    }

    @discardableResult
    func update(
        _ entity: String, _ key: StoredValue..., set values: [String: StoredValue] = [:],
        links: [String: [[StoredValue]]] = [:]
    ) throws -> EditReceipt {
        try #require(
            try store.edit([LocalEdit(.update, entity: entity, key: key, values: values, links: links)]).first)
    }

    @discardableResult
    func delete(_ entity: String, _ key: StoredValue...) throws -> EditReceipt {
        try #require(try store.edit([LocalEdit(.delete, entity: entity, key: key)]).first)
    }

    /// Acknowledges an entry with the remote's answer.
    func acknowledge(_ id: Int64, key: [StoredValue]? = nil, _ answer: Literal...) throws {
        let entry = try #require(try store.outboxEntry(id))
        if entry.state != .sending { try store.markSending(id) }
        let page = try begin(entry.entity)
        do {
            try page.acknowledge(id, key: key)
            if !answer.isEmpty { try page.add(try Literal.batch(answer), location: nil) }
            try page.commitKeepingProgress()
        } catch {
            page.rollback()
            throw error
        }
    }

    func next() throws -> OutboxEntry? {
        try store.nextToSend(at: "2999-01-01T00:00:00.000000Z", entities: nil, excluding: [])
    }

    /// What the last run did to one row.
    func lastChange() throws -> RowChange {
        var changes: [RowChange] = []
        try store.changes(of: try #require(try store.lastRunWithChanges())) { changes.append($0) }
        return try #require(changes.first)
    }

    /// The outbox, a line an entry: `1 update User [7] name: "a" -> "b" pending`.
    func outbox() throws -> [String] {
        try store.outbox().map { entry in
            var words = ["\(entry.id) \(entry.operation) \(entry.entity) \(Self.text(entry.key))"]
            for change in entry.changes {
                let old = change.old.map { "\($0) -> " } ?? ""
                words.append("\(change.name): \(old)\(change.new?.description ?? "gone")")
            }
            for link in entry.links {
                words.append(
                    "\(link.relationship): \(link.old.map(Self.text).joined()) -> \(link.new.map(Self.text).joined())")
            }
            if !entry.dependsOn.isEmpty { words.append("after \(entry.dependsOn)") }
            if entry.state != .pending { words.append("\(entry.state)") }
            return words.joined(separator: " ")
        }
    }

    func conflicts() throws -> [String] {
        try store.conflicts().map { conflict in
            "\(conflict.entity) \(Self.text(conflict.key)) \(conflict.column ?? "-"): "
                + "\(conflict.base?.description ?? "-") | \(conflict.local?.description ?? "-") | "
                + "\(conflict.remote?.description ?? "-")"
        }
    }

    private static func text(_ key: [StoredValue]) -> String {
        "[\(key.map(\.description).joined(separator: ", "))]"
    }

    func expectOutbox(_ expected: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let actual = try outbox()
        #expect(actual == expected, "\(actual.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    func expectConflicts(_ expected: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let actual = try conflicts()
        #expect(actual == expected, "\(actual.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    func expectTable(
        _ name: String, _ expected: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let actual = try lines(of: name)
        #expect(actual == expected, "\(actual.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    func lines(of name: String) throws -> [String] {
        try table(name).map { $0.joined(separator: "|").replacing("'", with: "") }
    }

    /// What is wrong with the database.
    func expectSound(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        #expect(try faults().isEmpty, sourceLocation: sourceLocation)
    }
}
