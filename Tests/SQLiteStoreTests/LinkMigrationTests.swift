import Importer
import ImportTestSupport
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The links and the history of a database whose configuration gives them other names, targets or keys.
@Suite struct LinkMigrationTests {
    /// Posts with tags and an author, whose columns may have given names.
    private static func posts(
        _ columns: [String] = [], author: [String] = [], key: String = "id", target: String = "Tag",
        size: AttributeType = .text
    ) throws -> CompiledModel {
        var tags = Relationship.many("tags", target)
        tags.linkColumns = columns
        var one = Relationship.one("author", "Tag")
        one.columns = author
        return try .of(
            Entity("Tag", key: [key], [.of("id", .integer), .of("slug", .text)]),
            Entity("Label", key: ["id"], [.of("id", .integer), .of("size", size)]),
            Entity("Post", key: ["id"], [.of("id", .integer), .of("title", .text)], [tags, one]))
    }

    private func run(_ fixture: StoreFixture, _ entity: String, _ records: Literal...) throws {
        try fixture.store.beginRun(kind: "sync")
        let page = try fixture.begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        try page.commit(progress: nil)
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    /// A database whose runs 1 and 2 brought two tags, and a post that has both.
    private func filled(_ model: CompiledModel, _ kind: StoreKind = .sqlite) throws -> StoreFixture {
        let fixture = try StoreFixture(model, kind: kind)
        try run(fixture, "Tag", ["id": 1, "slug": "a"], ["id": 2, "slug": "b"])
        try run(fixture, "Post", ["id": 1, "title": "x", "tags": [1, 2], "author": 2])
        return fixture
    }

    private func migrate(_ fixture: StoreFixture, to model: CompiledModel) throws -> MigrationResult {
        try fixture.store.close()
        let result = try fixture.place.stores.migrate(fixture.path, to: model, backup: fixture.path + "-before")
        try fixture.reopen(model)
        #expect(try fixture.faults().isEmpty)
        return result
    }

    @Test(
        arguments: [
            ([], ["post_id", "tag_id"]), (["post_id", "tag_id"], ["post", "tag"]), (["post_id", "tag_id"], []),
            (["post_id", "tag_id"], ["post_id", "tag"]), (["a", "b"], ["b", "a"]), (["a", "b"], ["b", "c"]),
        ] as [([String], [String])])
    func `links stay where their columns get other names`(old: [String], new: [String]) throws {
        let fixture = try filled(Self.posts(old))
        let model = try Self.posts(new)
        try fixture.reopen(model)
        let ends = new.isEmpty ? ["source", "target"] : new
        #expect(
            try fixture.file().table("Post_tags") == "\(ends[0]) | position | \(ends[1])\n1 | 0 | 1\n1 | 1 | 2")
        #expect(try fixture.faults().isEmpty)
        #expect(try fixture.place.stores.migrationPlan(of: fixture.path, to: model).isEmpty)
        let post: Literal = ["id": 1, "title": "x", "tags": [1, 2], "author": 2]
        #expect(try fixture.add("Post", post).unchanged == 1)
    }

    @Test func `columns with names of their own follow their target to its new key`() throws {
        let fixture = try filled(Self.posts(["post_id", "tag_id"], author: ["author_id"]))
        _ = try migrate(fixture, to: Self.posts(["post_id", "tag_id"], author: ["author_id"], key: "slug"))
        let file = try fixture.file()
        #expect(try file.table("Post_tags") == "post_id | position | tag_id\n1 | 0 | 'a'\n1 | 1 | 'b'")
        #expect(try file.rows("SELECT author_id FROM Post") == [["'b'"]])
        #expect(try fixture.stubs().isEmpty)
    }

    @Test func `links to another entity are lost, and the next scan asks for all of them`() throws {
        let fixture = try filled(Self.posts())
        try fixture.store.close()
        let file = try fixture.file()
        try file.rows(
            "INSERT INTO bmo_cursors VALUES ('Post', '', '', 'a', NULL, NULL, 'r', 't', 't'), "
                + "('Tag', '', '', 'b', NULL, NULL, 'r', 't', 't')")
        let model = try Self.posts(target: "Label")
        let plan = try fixture.place.stores.migrationPlan(of: fixture.path, to: model)
        #expect(plan.steps.map(\.description) == ["change the reference Post_tags.target from Tag to Label"])
        #expect(plan.steps.map(\.cost) == ["2 links are lost"])
        let notes = try migrate(fixture, to: model).notes
        #expect(notes == ["Post.tags: 2 links could not be kept; the next sync of Post asks for all lists again"])
        #expect(try file.rows("SELECT entity FROM bmo_cursors") == [["'Tag'"]])
        #expect(try file.rows("SELECT * FROM bmo_quarantine").isEmpty)
    }

    @Test(arguments: [StoreKind.sqlite, .memory])
    func `a change of a list is not undone after the key of its target has changed`(kind: StoreKind) throws {
        let fixture = try filled(Self.posts(), kind)
        try run(fixture, "Post", ["id": 1, "title": "x", "tags": [1], "author": 2])
        _ = try migrate(fixture, to: Self.posts(key: "slug"))
        let error = try storeError { _ = try fixture.store.undo(run: 3) }
        #expect(error.message.hasSuffix("run 3 cannot be undone: run 4, a migration, deleted changes of it"))
    }

    @Test(arguments: [StoreKind.sqlite, .memory])
    func `a run is not undone in part after a migration`(kind: StoreKind) throws {
        let fixture = try filled(Self.posts(), kind)
        try run(fixture, "Label", ["id": 1, "size": "7"])
        try run(fixture, "Tag", ["id": 1, "slug": "c"])
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("Label", ["id": 1, "size": "8"])
        try fixture.add("Tag", ["id": 2, "slug": "d"])
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        _ = try migrate(fixture, to: Self.posts(size: .integer))
        let error = try storeError { _ = try fixture.store.undo(run: 5) }
        #expect(error.message.hasSuffix("run 5 cannot be undone: run 6, a migration, deleted changes of it"))
        #expect(try fixture.table("Tag", "slug") == [["'c'"], ["'d'"]])
        #expect(try fixture.store.undo(run: 4) == 7, "none of its changes is gone")
        #expect(try fixture.table("Tag", "slug") == [["'a'"], ["'d'"]])
    }
}
