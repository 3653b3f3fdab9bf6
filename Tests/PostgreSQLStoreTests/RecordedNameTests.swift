import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The names that the history has after columns and lists were renamed and dropped.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RecordedNameTests {
    /// A model of posts with these attributes and lists of tags.
    private static func posts(_ attributes: [Attribute], _ lists: [Relationship] = []) throws -> CompiledModel {
        try .of(
            Entity("Tag", key: ["id"], [.of("id", .integer)]),
            Entity("Post", key: ["id"], [.of("id", .integer)] + attributes, lists))
    }

    private static func list(_ name: String, table: String? = nil, renamedFrom old: String? = nil) -> Relationship {
        var list = Relationship.many(name, "Tag")
        (list.table, list.renamedFrom) = (table, old)
        return list
    }

    private static func attribute(_ name: String, renamedFrom old: String) -> Attribute {
        var attribute = Attribute.of(name, .text)
        attribute.renamedFrom = old
        return attribute
    }

    private func run(_ fixture: StoreFixture, _ post: Literal) throws {
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("Post", post)
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    private func migrate(_ fixture: StoreFixture, to model: CompiledModel, backup: String = "before") throws {
        try fixture.store.close()
        _ = try PostgreSQLStores().migrate(fixture.path, to: model, backup: "\(fixture.path)-\(backup)")
        try fixture.reopen(model)
    }

    /// The names and values that a run's changes of posts have.
    private func changes(of run: Int64, _ fixture: StoreFixture) throws -> [String] {
        var lines: [String] = []
        try fixture.store.changes(of: run, entity: "Post") { change in
            lines += change.columns.map { "\($0.name) \($0.old?.literal ?? "-")>\($0.new?.literal ?? "-")" }
            lines += change.links.map { link in
                func words(_ keys: [[StoredValue]]) -> String { keys.joined().map(\.literal).joined(separator: ",") }
                return "\(link.relationship) [\(words(link.old))]>[\(words(link.new))]"
            }
        }
        return lines
    }

    /// A database in which run 2 changed the name and the title of a post, and whose title was dropped since.
    private func withoutTitle() throws -> StoreFixture {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([.of("name", .text), .of("title", .text)]))
        try run(fixture, ["id": 1, "name": "a", "title": "x"])
        try run(fixture, ["id": 1, "name": "b", "title": "y"])
        try migrate(fixture, to: Self.posts([.of("name", .text)]))
        return fixture
    }

    @Test func `a column that takes the name of a dropped one does not take its history`() throws {
        let fixture = try withoutTitle()
        #expect(try changes(of: 2, fixture) == ["name 'a'>'b'", "title (dropped) 'x'>'y'"])
        try fixture.reopen(Self.posts([Self.attribute("title", renamedFrom: "name")]))
        #expect(try changes(of: 2, fixture) == ["title 'a'>'b'", "title (dropped) 'x'>'y'"])
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.title (dropped) any more"])
    }

    @Test func `a column that another bmo dropped does not share its name with the one that takes it`() throws {
        let fixture = try withoutTitle()
        _ = try fixture.server.rows(
            """
            UPDATE \(fixture.schema).bmo_changes SET old = replace(old, ' (dropped)', ''),
                new = replace(new, ' (dropped)', '')
            """)
        #expect(try changes(of: 2, fixture) == ["name 'a'>'b'", "title 'x'>'y'"])
        try fixture.reopen(Self.posts([Self.attribute("title", renamedFrom: "name")]))
        #expect(try changes(of: 2, fixture) == ["title 'a'>'b'", "title (dropped) 'x'>'y'"])
        try migrate(fixture, to: Self.posts([]), backup: "between")
        #expect(
            try changes(of: 2, fixture) == ["title (dropped 2) 'a'>'b'", "title (dropped) 'x'>'y'"],
            "each keeps a name of its own")
    }

    @Test func `a renamed list leaves a column of its name alone`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([.of("tags", .text)]))
        try run(fixture, ["id": 1, "tags": "x"])
        try run(fixture, ["id": 1, "tags": "y"])
        try migrate(fixture, to: Self.posts([]))
        _ = try fixture.server.rows(
            """
            UPDATE \(fixture.schema).bmo_changes SET old = replace(old, ' (dropped)', ''),
                new = replace(new, ' (dropped)', '')
            """)
        try fixture.reopen(Self.posts([], [Self.list("tags")]))
        try run(fixture, ["id": 1, "tags": [1, 2]])
        let run = try #require(try fixture.store.lastRunWithChanges())
        #expect(try changes(of: run, fixture) == ["tags []>[1,2]"])
        try fixture.reopen(Self.posts([], [Self.list("labels", renamedFrom: "tags")]))
        #expect(try changes(of: run, fixture) == ["labels []>[1,2]"])
        #expect(try changes(of: 2, fixture) == ["tags 'x'>'y'"])
    }

    @Test func `a renamed list whose table has a written name keeps the old one in the history`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], [Self.list("tags", table: "post_tags")]))
        try run(fixture, ["id": 1, "tags": [1, 2]])
        try run(fixture, ["id": 1, "tags": [1]])
        try fixture.store.close()
        let model = try Self.posts([], [Self.list("labels", table: "post_tags", renamedFrom: "tags")])
        #expect(try PostgreSQLStores().migrationPlan(of: fixture.path, to: model).steps.isEmpty)
        try fixture.reopen(model)
        #expect(try changes(of: 2, fixture) == ["tags [2]>[]"])
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.tags any more"])
    }

    @Test func `a later list does not take the history of a dropped one of its name`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], [Self.list("tags")]))
        for (count, name) in ["tags (dropped)", "tags (dropped 2)"].enumerated() {
            try run(fixture, ["id": 1, "tags": [1, 2]])
            try run(fixture, ["id": 1, "tags": [1]])
            let last = try #require(try fixture.store.lastRunWithChanges())
            try migrate(fixture, to: Self.posts([]), backup: "before-\(count)")
            #expect(try changes(of: last, fixture) == ["\(name) [2]>[]"])
            try fixture.reopen(Self.posts([], [Self.list("tags")]))
            let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: last) }
            #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.\(name) any more"])
        }
    }

    @Test func `an edit of a renamed list waits for the list of the new name`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], [Self.list("tags")]))
        try run(fixture, ["id": 1, "tags": [1, 2]])
        _ = try fixture.store.edit([
            LocalEdit(.update, entity: "Post", key: [.integer(1)], links: ["tags": [[.integer(2)]]])
        ])
        try fixture.reopen(Self.posts([], [Self.list("labels", renamedFrom: "tags")]))
        let links = try fixture.store.outbox().flatMap(\.links)
        #expect(links.map(\.relationship) == ["labels"])
        #expect(links.map(\.new) == [[[.integer(2)]]])
    }

    @Test func `links stay where their columns get other names, and go with their target`() throws {
        func model(_ columns: [String], target: String = "Tag") throws -> CompiledModel {
            var tags = Relationship.many("tags", target)
            tags.linkColumns = columns
            return try .of(
                Entity("Tag", key: ["id"], [.of("id", .integer)]), Entity("Label", key: ["id"], [.of("id", .integer)]),
                Entity("Post", key: ["id"], [.of("id", .integer)], [tags]))
        }
        let fixture = try StoreFixture(overPostgreSQL: model(["a", "b"]))
        try run(fixture, ["id": 1, "tags": [2, 3, 4]])
        try run(fixture, ["id": 1, "tags": [2, 3]])
        for columns in [["b", "a"], ["post_id", "tag_id"], []] {
            try fixture.reopen(model(columns))
            #expect(try fixture.table("Post_tags") == [["1", "0", "2"], ["1", "1", "3"]], "\(columns)")
            #expect(try PostgreSQLStores().migrationPlan(of: fixture.path, to: model(columns)).isEmpty)
        }
        let plan = try PostgreSQLStores().migrationPlan(of: fixture.path, to: model([], target: "Label"))
        #expect(plan.steps.map(\.cost) == ["2 links are lost"])
        try migrate(fixture, to: model([], target: "Label"))
        #expect(try fixture.table("Post_tags").isEmpty)
        let error = try storeError { _ = try fixture.store.undo(run: 2) }
        #expect(error.message.hasSuffix("run 2 cannot be undone: run 3, a migration, deleted changes of it"))
    }
}
