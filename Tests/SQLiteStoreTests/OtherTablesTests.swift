import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Tables and columns in the file that bmo did not make: they and their rows stay as they are.
@Suite struct OtherTablesTests {
    private static func model(_ attributes: Attribute..., more: Entity...) throws -> CompiledModel {
        try CompiledModel(
            Model(
                entities: [
                    Entity(
                        "Customer", key: ["id"], [.of("id", .integer), .of("name", .text)] + attributes,
                        [.many("friends", "Customer")])
                ] + more))
    }

    private static let refusal =
        "the file has the table customer that bmo did not create and does not change; name another file under "
        + "`database:`, or rename the one in the file or the entity in the configuration"

    private func expectRefusal(
        _ words: String, _ path: String, _ model: CompiledModel,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        for open in [
            { _ = try SQLiteStore(path: path, model: model) },
            { _ = try SQLiteStore(rehearsing: path, model: model) },
            { _ = try SQLiteStore(reading: path, model: model) },
            { _ = try SQLiteStore.migrationPlan(path: path, model: model) },
            { _ = try SQLiteStore.migrate(path: path, to: model, backup: path + "-backup") },
        ] as [() throws -> Void] {
            let error = try storeError(sourceLocation: sourceLocation, open)
            #expect(error.code == .schema, sourceLocation: sourceLocation)
            #expect(error.description == "\(path): \(words)", sourceLocation: sourceLocation)
        }
        #expect(access(path + "-backup", F_OK) != 0, sourceLocation: sourceLocation)
    }

    @Test func `a table of another tool is refused before anything is written`() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("theirs.sqlite")
        let file = try SQLiteFile(path, creates: true)
        try file.rows("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, notes TEXT)")
        try file.rows("INSERT INTO customer VALUES (1, 'Mine', 'a'), (2, 'Two', 'b')")
        let before = try Data(contentsOf: URL(filePath: path))
        try expectRefusal(Self.refusal, path, Self.model())
        #expect(try Data(contentsOf: URL(filePath: path)) == before, "not even its mode changes")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["theirs.sqlite"])
    }

    @Test func `a table of another tool is refused in a file of bmo too`() throws {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("Customer", ["id": 1, "friends": [2]])
        try fixture.store.close()
        try fixture.file().rows("CREATE TABLE Shop (id INTEGER PRIMARY KEY)")
        try fixture.file().rows("CREATE VIEW Ware AS SELECT 1 AS id")
        let model = try Self.model(
            more: Entity("Shop", key: ["id"], [.of("id", .integer)]), Entity("Ware", key: ["id"], [.of("id", .integer)])
        )
        try expectRefusal(
            Self.refusal.replacing("table customer", with: "table Shop, the view Ware").replacing(
                "the one", with: "the ones"),
            fixture.path, model)
        try fixture.reopen()
        #expect(try fixture.rows("Customer") == ["1 null", "2 null"])
    }

    @Test func `an old name that is a table of another tool is none of ours`() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("theirs.sqlite")
        let file = try SQLiteFile(path, creates: true)
        try file.rows("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
        var entity = Entity("Customer", key: ["id"], [.of("id", .integer)])
        entity.renamedFrom = "people"
        try SQLiteStore(path: path, model: .of(entity)).close()
        #expect(try file.table("people") == "id | name")
        #expect(try file.table("Customer") == "id")
    }

    @Test func `a file of an earlier version still opens`() throws {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("Customer", ["id": 1, "name": "a"])
        try fixture.store.close()
        // Before there were migrations the names of the tables were in the text of the schema alone.
        try fixture.file().rows("DELETE FROM bmo_meta WHERE name = 'made'")
        try fixture.reopen(Self.model(.of("size", .integer)))
        #expect(try fixture.rows("Customer") == ["1 'a' null"])
    }

    @Test func `a column without history is reported before an undo`() throws {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("Customer", ["id": 1, "name": "a"], ["id": 2, "name": "b"])
        try fixture.file().rows("ALTER TABLE Customer ADD COLUMN note TEXT")
        func change(_ body: (PageImport) throws -> Void) throws -> Int64 {
            try fixture.store.beginRun(kind: "sync")
            let page = try fixture.begin("Customer")
            try body(page)
            try page.commit(progress: nil)
            try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
            return try #require(try fixture.store.runs(limit: 1).first).id
        }
        let update = try change { try $0.add(try Literal.batch([["id": 1, "name": "c"]]), location: nil) }
        #expect(try fixture.store.columnsWithoutHistory(undoing: update) == [])
        let deletion = try change { try $0.delete(try Literal.batch([["id": 2]]), location: nil) }
        #expect(try fixture.store.columnsWithoutHistory(undoing: deletion) == ["Customer.note"])
        #expect(try fixture.store.undo(run: deletion) > deletion)
        #expect(try fixture.file().table("Customer") == "id | name | note\n1 | 'c' | null\n2 | 'b' | null")
    }

    @Test func `a generated column stays in a migration, with its index, and is not reported before an undo`() throws {
        let fixture = try StoreFixture(Self.model(.of("size", .text), .of("old", .text)))
        try fixture.add("Customer", ["id": 1, "name": "a", "size": "7", "old": "x"], ["id": 2, "name": "b"])
        let file = try fixture.file()
        try file.rows(
            "ALTER TABLE Customer ADD COLUMN \"the, (one\" /* ,( */ TEXT GENERATED ALWAYS AS (name || ',)') VIRTUAL")
        try file.rows("ALTER TABLE Customer ADD COLUMN note TEXT")
        try file.rows("ALTER TABLE Customer ADD COLUMN twice TEXT AS (old || old)")
        try file.rows("CREATE INDEX mine ON Customer (\"the, (one\")")
        try fixture.store.beginRun(kind: "sync")
        let page = try fixture.begin("Customer")
        try page.delete(try Literal.batch([["id": 2]]), location: nil)
        try page.commit(progress: nil)
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        let run = try #require(try fixture.store.runs(limit: 1).first).id
        #expect(try fixture.store.columnsWithoutHistory(undoing: run) == ["Customer.note"])
        try fixture.store.close()
        let model = try Self.model(.of("size", .integer))
        let migration = try SQLiteStore.migrate(
            path: fixture.path, to: model, backup: fixture.folder.appending("backup.sqlite"))
        let gone = migration.notes.filter { $0.contains("generated") }
        #expect(gone.first?.hasPrefix("the generated column twice of Customer is gone: ") == true, "\(gone)")
        #expect(gone.first?.hasSuffix("no such column: old") == true, "\(gone)")
        #expect(try file.rows("SELECT size, \"the, (one\" FROM Customer") == [["7", "'a,)'"]])
        #expect(try file.rows("SELECT name FROM sqlite_schema WHERE name = 'mine'") == [["'mine'"]])
        #expect(try file.faults().isEmpty)
    }

    @Test func `an attribute with the name of a generated column is refused`() throws {
        let fixture = try StoreFixture(Self.model())
        try fixture.file().rows("ALTER TABLE Customer ADD COLUMN Up TEXT AS (upper(name))")
        try fixture.store.close()
        let model = try Self.model(.of("up", .text))
        let words =
            "Customer.Up is a generated column, which cannot have the values of an attribute; drop the generated column "
            + "with an SQLite client, or name the attribute otherwise"
        try expectRefusal(words, fixture.path, model)
        try fixture.file().rows("ALTER TABLE Customer DROP COLUMN Up")
        try fixture.reopen(model)
        try fixture.add("Customer", ["id": 1, "name": "a", "up": "b"])
        #expect(try fixture.file().table("Customer") == "id | name | up\n1 | 'a' | 'b'")
    }

    @Test func `a foreign column stays in a migration`() throws {
        let fixture = try StoreFixture(Self.model(.of("size", .text), .of("old", .text)))
        try fixture.add("Customer", ["id": 1, "name": "a", "size": "7", "old": "x", "friends": [1]])
        try fixture.file().rows("ALTER TABLE Customer ADD COLUMN note TEXT DEFAULT 'none'")
        try fixture.file().rows("ALTER TABLE Customer_friends ADD COLUMN since INTEGER")
        try fixture.file().rows("UPDATE Customer SET note = 'mine'")
        let model = try Self.model(.of("size", .integer))
        // What is not used any more is known as bmo's, however often the file is opened without it.
        for _ in 0..<2 { try fixture.reopen(Self.model(.of("size", .text))) }
        try fixture.store.close()
        let plan = try SQLiteStore.migrationPlan(path: fixture.path, model: model)
        #expect(
            plan.steps.map(\.description) == [
                "convert Customer.size from text to integer", "drop the column Customer.old",
            ])
        let migration = try SQLiteStore.migrate(
            path: fixture.path, to: model, backup: fixture.folder.appending("backup.sqlite"))
        #expect(
            migration.notes.first
                == "Customer.note, which bmo did not create, is kept, without its constraints")
        #expect(try fixture.file().table("Customer") == "id | name | size | note\n1 | 'a' | 7 | 'mine'")
        #expect(try fixture.file().table("Customer_friends") == "source | position | target | since\n1 | 0 | 1 | null")
        #expect(try fixture.file().faults().isEmpty)
        try fixture.reopen(model)
        #expect(try fixture.add("Customer", ["id": 1, "name": "a", "size": 7]).unchanged == 1)
        let again = try SQLiteStore.migrationPlan(path: fixture.path, model: model)
        #expect(again.isEmpty)
    }
}
