import ImportTestSupport
import Importer
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Foreign keys while relationships come, go and get other names.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct ReferenceMigrationTests {
    /// A model of posts with these attributes and relationships, and of authors.
    private static func posts(
        _ attributes: [Attribute] = [], _ relationships: [Relationship] = [],
        authorKey: [Attribute] = [.of("id", .integer)]
    ) throws -> CompiledModel {
        try .of(
            Entity("Post", key: ["id"], [.of("id", .integer)] + attributes, relationships),
            Entity("Author", key: authorKey.map(\.name), authorKey))
    }

    private static let author = [Relationship.one("author", "Author")]

    private func rows(_ fixture: StoreFixture, _ query: String) throws -> [String] {
        try fixture.server.rows(query.replacing("%", with: fixture.schema))
    }

    private func foreignKeys(_ fixture: StoreFixture) throws -> [String] {
        try rows(
            fixture,
            """
            SELECT conname FROM pg_constraint WHERE contype = 'f' AND connamespace = '%'::regnamespace ORDER BY 1
            """)
    }

    /// The number of a table's indexes on a column alone.
    private func indexes(_ fixture: StoreFixture, of table: String, on column: String) throws -> Int {
        try rows(
            fixture,
            """
            SELECT indexname FROM pg_indexes
            WHERE schemaname = '%' AND tablename = '\(table)' AND position('(\(column))' in indexdef) > 0
            """
        ).count
    }

    private func plan(_ fixture: StoreFixture, _ model: CompiledModel) throws -> [String] {
        let plan = try PostgreSQLStores().migrationPlan(of: fixture.path, to: model)
        #expect(plan.obstacles.isEmpty, "\(plan)")
        return plan.steps.map(\.description)
    }

    /// Lists all objects of an entity in a scan of one page; returns the number of deleted rows.
    @discardableResult
    private func list(_ entity: String, _ records: [Literal], in fixture: StoreFixture) throws -> Int {
        let scope = ScanScope(entity: entity)
        try fixture.store.beginScan(scope, afterPage: nil)
        defer { fixture.store.endScan(scope) }
        let page = try fixture.begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil))).deleted.values.reduce(0, +)
    }

    @Test func `a relationship that becomes an attribute loses its foreign key with the next sync`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], Self.author))
        try list("Author", [["id": 1], ["id": 2]], in: fixture)
        try fixture.add("Post", ["id": 1, "author": 1], ["id": 2, "author": 2])
        let after = try Self.posts([.of("author", .integer)])
        #expect(try plan(fixture, after) == ["remove the reference Post.author to Author"])
        try PostgreSQLStores().open(fixture.path, model: after, for: .reading(entities: nil)).close()
        try fixture.reopen(after)
        #expect(try foreignKeys(fixture).isEmpty)
        try fixture.add("Post", ["id": 3, "author": 77])
        #expect(try list("Author", [["id": 1]], in: fixture) == 1)
        #expect(try fixture.table("Post") == [["1", "1"], ["2", "2"], ["3", "77"]])
        #expect(try plan(fixture, after).isEmpty)
    }

    @Test(arguments: [AttributeType.integer, .text])
    func `an attribute that becomes a relationship gets a foreign key and stubs`(_ type: AttributeType) throws {
        func value(_ number: Int64) -> Literal { type == .text ? .text("\(number)") : .integer(number) }
        let key = [Attribute.of("id", type)]
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([.of("author", type)], authorKey: key))
        try fixture.add("Author", ["id": value(1)])
        try fixture.add("Post", ["id": 1, "author": value(1)], ["id": 2, "author": value(99)], ["id": 3])
        let after = try Self.posts([], Self.author, authorKey: key)
        #expect(try plan(fixture, after) == ["add the reference Post.author to Author"])
        try fixture.reopen(after)
        #expect(try fixture.stubs() == ["Author [\(type == .text ? "\"99\"" : "99")]"])
        #expect(try foreignKeys(fixture) == ["Post_author_fkey"])
        #expect(try indexes(fixture, of: "Post", on: "author") == 1)
        #expect(try fixture.faults().isEmpty)
        // The next change of the tables has nothing left to do for it.
        try fixture.reopen(Self.posts([.of("title", .text)], Self.author, authorKey: key))
        #expect(try fixture.add("Author", ["id": value(2)], ["id": value(99)]).inserted == 2, "one was a stub")
        #expect(try fixture.stubs().isEmpty)
    }

    @Test func `stubs of a table that refers to itself and to others are added`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([.of("parent", .integer)], Self.author))
        try fixture.add("Author", ["id": 1])
        try fixture.add("Post", ["id": 1, "author": 1, "parent": 99])
        try fixture.reopen(Self.posts([], Self.author + [.one("parent", "Post")]))
        #expect(try fixture.stubs() == ["Post [99]"])
        #expect(try foreignKeys(fixture) == ["Post_author_fkey", "Post_parent_fkey"])
    }

    @Test func `a text that becomes a reference to a number is converted, and refers to a stub`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([.of("author", .text)]))
        try fixture.add("Author", ["id": 1])
        try fixture.add("Post", ["id": 1, "author": "1"], ["id": 2, "author": "99"], ["id": 3, "author": "x"])
        try fixture.store.close()
        let after = try Self.posts([], Self.author)
        let result = try PostgreSQLStores().migrate(fixture.path, to: after, backup: fixture.path + "-before")
        #expect(
            result.plan.steps.map(\.description) == [
                "convert Post.author from text to bigint", "add the reference Post.author to Author",
            ])
        try fixture.reopen(after)
        #expect(try fixture.table("Post") == [["1", "1"], ["2", "99"], ["3", "null"]])
        #expect(try fixture.stubs() == ["Author [99]"])
    }

    @Test func `a deletion does not clear a column that an attribute uses now`() throws {
        let key = [Attribute.of("org", .integer), .of("id", .integer)]
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], Self.author, authorKey: key))
        try list("Author", [["org": 1, "id": 1], ["org": 1, "id": 2]], in: fixture)
        try fixture.add("Post", ["id": 1, "author": ["org": 1, "id": 1]], ["id": 2, "author": ["org": 1, "id": 2]])
        let after = try Self.posts([.of("author_id", .integer)], authorKey: key)
        #expect(
            try plan(fixture, after) == [
                "remove the reference Post.author_org, author_id to Author", "drop the column Post.author_org",
            ])
        try fixture.reopen(after)
        #expect(try list("Author", [["org": 1, "id": 1]], in: fixture) == 1)
        #expect(try fixture.table("Post", "id", "author_id") == [["1", "1"], ["2", "2"]])
    }

    @Test func `a deletion does not delete rows whose unused reference cannot be null`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], Self.author))
        try list("Author", [["id": 1], ["id": 2]], in: fixture)
        try fixture.add("Post", ["id": 1, "author": 1], ["id": 2, "author": 2])
        _ = try rows(fixture, #"ALTER TABLE %."Post" ALTER author SET NOT NULL"#)
        let after = try Self.posts()
        #expect(
            try plan(fixture, after) == ["remove the reference Post.author to Author", "drop the column Post.author"])
        try fixture.reopen(after)
        #expect(try list("Author", [["id": 1]], in: fixture) == 1)
        #expect(try fixture.table("Post") == [["1", "1"], ["2", "2"]])
    }

    @Test func `a new relationship may have the name that another one had`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], Self.author))
        var writer = Relationship.one("writer", "Author", from: ["author"])
        writer.renamedFrom = "author"
        try fixture.reopen(Self.posts([], [writer]))
        let second = Relationship.one("author", "Author", from: ["second"])
        writer.renamedFrom = nil
        try fixture.reopen(Self.posts([], [writer, second]))
        #expect(try foreignKeys(fixture) == ["Post_author_fkey", "Post_author_fkey_2"])
        for column in ["writer", "author"] { #expect(try indexes(fixture, of: "Post", on: column) == 1, "\(column)") }
        try fixture.add("Post", ["id": 1, "author": 1, "second": 2])
        #expect(try fixture.table("Post", "id", "writer", "author") == [["1", "1", "2"]])
    }

    @Test func `a new entity may have the name that another one had`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.posts([], Self.author))
        let people = Entity("Author", key: ["id"], [.of("id", .integer)])
        var article = Entity("Article", key: ["id"], [.of("id", .integer)], Self.author)
        article.renamedFrom = "Post"
        try fixture.reopen(CompiledModel.of(article, people))
        let post = Entity("Post", key: ["id"], [.of("id", .integer)], Self.author)
        try fixture.reopen(CompiledModel.of(article, people, post))
        for table in ["Article", "Post"] { #expect(try indexes(fixture, of: table, on: "author") == 1, "\(table)") }
        #expect(try foreignKeys(fixture).count == 2)
    }

    @Test func `foreign keys of others stay, also on the column of a relationship`() throws {
        let attributes = [Attribute.of("kind", .integer)]
        let before = try Self.posts(attributes + [.of("size", .text)], Self.author)
        let fixture = try StoreFixture(overPostgreSQL: before)
        try fixture.add("Author", ["id": 1])
        try fixture.add("Post", ["id": 1, "author": 1, "kind": 1, "size": "7"])
        try fixture.store.close()
        _ = try rows(
            fixture,
            """
            CREATE TABLE public.kinds_% (id bigint PRIMARY KEY); INSERT INTO public.kinds_% VALUES (1);
            ALTER TABLE %."Post" ADD CONSTRAINT mine FOREIGN KEY (kind) REFERENCES public.kinds_%,
                ADD CONSTRAINT other FOREIGN KEY (author) REFERENCES public.kinds_%
            """)
        #expect(try plan(fixture, before).isEmpty)
        let after = try Self.posts(attributes + [.of("size", .integer)], Self.author)
        _ = try PostgreSQLStores().migrate(fixture.path, to: after, backup: fixture.path + "-before")
        #expect(try foreignKeys(fixture) == ["Post_author_fkey", "mine", "other"])
        #expect(try fixture.table("Post", "id", "author", "kind", "size") == [["1", "1", "1", "7"]])
    }
}
