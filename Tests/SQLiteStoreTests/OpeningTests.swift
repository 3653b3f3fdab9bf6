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

/// Files that cannot be opened, and what is said of them.
@Suite struct OpeningTests {
    private let folder: TemporaryFolder
    private let model: CompiledModel

    init() throws {
        folder = try TemporaryFolder()
        model = try CompiledModel.of(Entity("E", key: ["id"], [.of("id", .integer)]))
    }

    private func failure(_ path: String) throws -> StoreError {
        try storeError { _ = try SQLiteStore(path: path, model: model) }
    }

    @Test func `a file that is not a database is left alone`() throws {
        let text = String(repeating: "not a database\n", count: 100)
        let path = try folder.write(text, to: "notes.txt")
        let error = try failure(path)
        #expect(error.code == .open)
        #expect(
            error.description == "\(path): the file is damaged or not an SQLite database (file is not a database); "
                + "restore it, or name another file")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `a damaged database is reported as damaged`() throws {
        let fixture = try StoreFixture(model)
        for id in 0..<2000 as Range<Int64> { try fixture.add("E", ["id": .integer(id)]) }
        try fixture.store.close()
        var bytes = try Data(contentsOf: URL(filePath: fixture.path))
        for index in 100..<4096 { bytes[index] = 0xA5 }
        try bytes.write(to: URL(filePath: fixture.path))
        let error = try failure(fixture.path)
        #expect(error.code == .open && error.message.contains("damaged"))
    }

    @Test func `a table of the bookkeeping that is missing is named at the start`() throws {
        let tables = try bookkeeping(of: StoreFixture(model))
        #expect(tables.count > 10 && tables.contains("bmo_meta"))
        for table in tables {
            let fixture = try StoreFixture(model)
            try fixture.add("E", ["id": 1])
            try fixture.store.close()
            try fixture.file().rows("DROP TABLE \(table)")
            let error = try failure(fixture.path)
            #expect(error.code == .schema)
            #expect(
                error.message
                    == "\(fixture.path): the table \(table), in which bmo keeps its own state, is missing")
            #expect(error.remedy?.hasPrefix("restore the file from a backup") == true)
        }
    }

    @Test func `several that are missing are named together, and rows can still be read`() throws {
        let fixture = try StoreFixture(model)
        try fixture.add("E", ["id": 1])
        try fixture.store.close()
        for table in ["bmo_seen", "bmo_cursors"] { try fixture.file().rows("DROP TABLE \(table)") }
        let wider = try CompiledModel.of(Entity("E", key: ["id"], [.of("id", .integer), .of("name", .text)]))
        for model in [model, wider] {
            let error = try storeError { _ = try SQLiteStore(path: fixture.path, model: model) }
            #expect(error.message.contains("the tables bmo_cursors, bmo_seen, in which"))
        }
        let reader = try SQLiteStore(reading: fixture.path, model: model)
        #expect(try reader.rows(of: RowQuery("E")).count == 1)
        try reader.close()
    }

    @Test(arguments: ["DELETE FROM bmo_meta", "UPDATE bmo_meta SET value = 'abc' WHERE name = 'version'"])
    func `a file that does not say its version is refused by all`(damage: String) throws {
        let fixture = try StoreFixture(model)
        try fixture.add("E", ["id": 1])
        try fixture.store.close()
        try fixture.file().rows(damage)
        let path = fixture.path
        for open in [
            { _ = try SQLiteStore(path: path, model: model) },
            { _ = try SQLiteStore(reading: path, model: model) },
            { _ = try SQLiteStore.migrationPlan(path: path, model: model) },
            { _ = try SQLiteStore.migrate(path: path, to: model, backup: path + "-backup") },
        ] as [() throws -> Void] {
            let error = try storeError(open)
            #expect(error.code == .schema && error.message.contains("bmo_meta"), "\(error)")
            #expect(error.remedy?.hasPrefix("restore the file from a backup") == true)
        }
    }

    @Test func `a file with two names is not written`() throws {
        let fixture = try StoreFixture(model)
        try fixture.add("E", ["id": 1])
        try fixture.store.close()
        let path = fixture.path
        let other = fixture.folder.appending("it's other.sqlite")
        try FileManager.default.linkItem(atPath: path, toPath: other)
        for open in [
            { _ = try SQLiteStore(path: other, model: model) },
            { _ = try SQLiteStore(rehearsing: other, model: model) },
            { _ = try SQLiteStore.migrate(path: other, to: model, backup: other + "-backup") },
        ] as [() throws -> Void] {
            let error = try storeError(open)
            #expect(error.code == .open && error.message.hasPrefix("\(other): the file has 2 names (hard links)"))
            #expect(error.remedy?.contains(#"/it'\''s other.sqlite'` lists"#) == true)
        }
        let reader = try SQLiteStore(reading: other, model: model)
        #expect(try reader.rows(of: RowQuery("E")).count == 1)
        try reader.close()
        #expect(try SQLiteStores().faults(of: other).count == 1)
        try FileManager.default.removeItem(atPath: other)
        #expect(try SQLiteStores().faults(of: path).isEmpty)
        try fixture.reopen()
    }

    @Test func `damage in the pages and a name that is too long are found`() throws {
        let fixture = try StoreFixture(model)
        try fixture.add("E", ["id": 1])
        try fixture.store.close()
        let root = try fixture.file().value("SELECT rootpage FROM sqlite_schema WHERE name = 'E'")
        let page = try #require(Int(root))
        var bytes = try Data(contentsOf: URL(filePath: fixture.path))
        for index in (page - 1) * 4096..<page * 4096 { bytes[index] = 0xA5 }
        try bytes.write(to: URL(filePath: fixture.path))
        let damage = try SQLiteStores().faults(of: fixture.path)
        #expect(damage.first?.message.hasPrefix("\(fixture.path): the file is damaged: ") == true)
        #expect(try SQLiteStores().faults(of: folder.appending("new.sqlite")).isEmpty)
        let long = try SQLiteStores().faults(of: folder.appending(String(repeating: "x", count: 250)))
        #expect(long.first?.message.contains("cannot be created: ") == true)
    }

    private func bookkeeping(of fixture: StoreFixture) throws -> [String] {
        try fixture.store.close()
        return try fixture.file().rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'bmo_%'")
            .joined().map { $0.replacing("'", with: "") }
    }

    @Test func `a folder is not a database`() throws {
        let error = try failure(folder.path)
        #expect(error.code == .open)
        #expect(
            error.description
                == "\(folder.path): the database cannot be read or written (unable to open database file); "
                + "check the file and its folder")
    }

    @Test func `a folder that is not there is named`() throws {
        let path = folder.appending("missing/bmo.sqlite")
        let error = try failure(path)
        #expect(error.code == .open && error.message.hasPrefix("\(path): "))
    }

    @Test func `a folder that cannot be written is named`() throws {
        // Permissions do not stop root; /proc stops everybody.
        let path = geteuid() == 0 ? "/proc/self/bmo.sqlite" : folder.appending("bmo.sqlite")
        if geteuid() != 0 { #expect(chmod(folder.path, 0o555) == 0) }
        let error = try failure(path)
        #expect(error.code == .open)
        #expect(error.message.hasPrefix("\(path): the database cannot be read or written"))
        #expect(error.remedy == "check the file and its folder")
        #expect(FileManager.default.fileExists(atPath: path) == false)
        if geteuid() != 0 { chmod(folder.path, 0o755) }
    }

    @Test func `a foreign database is extended, not harmed`() throws {
        let path = folder.appending("theirs.sqlite")
        let file = try SQLiteFile(path, creates: true)
        try file.rows("CREATE TABLE theirs (x)")
        try file.rows("INSERT INTO theirs VALUES (1)")
        let store = try SQLiteStore(path: path, model: model)
        #expect(try file.table("theirs") == "x\n1")
        #expect(try file.table("E") == "id")
        try store.close()
    }

    @Test func `a closed store says so`() throws {
        let fixture = try StoreFixture(model)
        try fixture.store.close()
        _ = try storeError { _ = try fixture.begin("E") }
        _ = try storeError { _ = try fixture.rows("E") }
        try fixture.store.close()
    }

    @Test func `the file is in WAL mode`() throws {
        let fixture = try StoreFixture(model)
        #expect(try fixture.file().value("PRAGMA journal_mode") == "'wal'")
    }
}
