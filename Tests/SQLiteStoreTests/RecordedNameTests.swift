import ImportTestSupport
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The names that the history of a file has after columns and lists were renamed.
@Suite struct RecordedNameTests {
    private static func posts(_ attributes: [Attribute] = [], _ lists: Relationship...) throws -> CompiledModel {
        try .of(
            Entity("Tag", key: ["id"], [.of("id", .integer)]),
            Entity("Post", key: ["id"], [.of("id", .integer)] + attributes, lists))
    }

    private static func list(_ name: String, table: String? = nil, renamedFrom old: String? = nil) -> Relationship {
        var list = Relationship.many(name, "Tag")
        (list.table, list.renamedFrom) = (table, old)
        return list
    }

    /// A file in which run 2 shortened a list of two tags.
    private func shortened(_ model: CompiledModel) throws -> StoreFixture {
        let fixture = try StoreFixture(model)
        for post: Literal in [["id": 1, "at": 5, "tags": [1, 2]], ["id": 1, "at": 6, "tags": [1]]] {
            try fixture.store.beginRun(kind: "sync")
            try fixture.add("Post", post)
            try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        }
        return fixture
    }

    private func lists(_ fixture: StoreFixture) throws -> [String] {
        try fixture.file().rows("SELECT new FROM bmo_changes WHERE change = 'relinked' ORDER BY id").joined().map(
            \.self)
    }

    @Test func `a renamed list whose table has a written name keeps the old one in the history`() throws {
        let fixture = try shortened(Self.posts([], Self.list("tags", table: "post_tags")))
        let model = try Self.posts([], Self.list("labels", table: "post_tags", renamedFrom: "tags"))
        #expect(try fixture.place.stores.migrationPlan(of: fixture.path, to: model).steps.isEmpty)
        try fixture.reopen(model)
        #expect(try lists(fixture) == [#"'{"relationship":"tags","at":1,"keys":[]}'"#])
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.tags any more"])
    }

    @Test func `a list that takes the name of a dropped one does not take its history`() throws {
        let fixture = try shortened(Self.posts([], Self.list("tags"), Self.list("others")))
        try fixture.store.close()
        let backup = fixture.folder.appending("before.sqlite")
        let without = try Self.posts([], Self.list("others"))
        _ = try fixture.place.stores.migrate(fixture.path, to: without, backup: backup)
        try fixture.reopen(Self.posts([], Self.list("tags", renamedFrom: "others")))
        #expect(try lists(fixture) == [#"'{"relationship":"tags (dropped)","at":1,"keys":[]}'"#])
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.tags (dropped) any more"])
    }

    @Test func `a later list does not take the history of a dropped one of its name`() throws {
        let fixture = try shortened(Self.posts([], Self.list("tags")))
        for (count, name) in ["tags (dropped)", "tags (dropped 2)"].enumerated() {
            let last = try #require(try fixture.store.lastRunWithChanges())
            try fixture.store.close()
            let backup = fixture.folder.appending("before-\(count).sqlite")
            _ = try fixture.place.stores.migrate(fixture.path, to: Self.posts(), backup: backup)
            #expect(try lists(fixture).last == #"'{"relationship":"\#(name)","at":1,"keys":[]}'"#)
            try fixture.reopen(Self.posts([], Self.list("tags")))
            let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: last) }
            #expect(refusal.conflicts.map(\.reason) == ["the configuration has no Post.\(name) any more"])
            // A second list of the name, which is dropped in the next turn.
            for tags: Literal in [[1, 2], [1]] {
                try fixture.store.beginRun(kind: "sync")
                try fixture.add("Post", ["id": 1, "tags": tags])
                try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
            }
        }
    }

    @Test func `a renamed attribute leaves the members of recorded lists alone`() throws {
        let fixture = try shortened(Self.posts([.of("at", .integer)], Self.list("tags")))
        var time = Attribute.of("time", .integer)
        time.renamedFrom = "at"
        try fixture.reopen(Self.posts([time], Self.list("tags")))
        #expect(try lists(fixture) == [#"'{"relationship":"tags","at":1,"keys":[]}'"#])
        _ = try fixture.store.undo(run: 2)
        #expect(try fixture.table("Post", "id", "time") == [["1", "5"]])
        #expect(try fixture.table("Post_tags") == [["1", "0", "1"], ["1", "1", "2"]])
    }
}
