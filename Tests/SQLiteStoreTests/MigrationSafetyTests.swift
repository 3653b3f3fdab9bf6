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

/// What a migration keeps: the file's mode, the disk's space, edits that wait.
@Suite struct MigrationSafetyTests {
    private static func model(code: AttributeType = .text, key: String = "id") throws -> CompiledModel {
        try .of(
            Entity("Country", key: [key], [.of("id", .text), .of("code", code)]),
            Entity("Note", key: ["id"], [.of("id", .integer), .of("text", .text)], [.one("country", "Country")]),
            Entity("Trip", key: ["id"], [.of("id", .integer), .of("text", .text)], [.many("stops", "Country")]),
            Entity("Other", key: ["id"], [.of("id", .integer), .of("text", .text)]))
    }

    private func filled() throws -> StoreFixture {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("Country", ["id": "1", "code": "NO"], ["id": "2", "code": "SE"])
        try fixture.add("Note", ["id": 1, "text": "a", "country": "1"])
        try fixture.add("Trip", ["id": 1, "stops": ["1"]])
        try fixture.add("Other", ["id": 1])
        return fixture
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test(arguments: [0o600, 0o640] as [mode_t])
    func `the copy has the mode of the file`(_ wanted: mode_t) throws {
        let fixture = try filled()
        try fixture.store.close()
        chmod(fixture.path, wanted)
        let backup = fixture.folder.appending("backup.sqlite")
        _ = try SQLiteStore.migrate(path: fixture.path, to: Self.model(code: .integer), backup: backup)
        #expect(mode(backup) == wanted && mode(fixture.path) == wanted)
        #expect(try SQLiteFile(backup).value("SELECT count(*) FROM Country") == "2")
    }

    @Test func `a copy that cannot be made leaves nothing`() throws {
        let fixture = try filled()
        try fixture.store.close()
        let error = try storeError {
            _ = try SQLiteStore.migrate(
                path: fixture.path, to: Self.model(code: .integer), backup: fixture.folder.appending("none/backup"))
        }
        #expect(error.message.contains("the copy") && error.message.contains("No such file or directory"))
    }

    /// An edit may have the old key of an object whose key changes.
    @Test(arguments: ["Note", "Trip", "Country", "Other"])
    func `edits that may have an old key are in the way`(_ entity: String) throws {
        let fixture = try filled()
        let key: StoredValue = entity == "Country" ? .text("1") : .integer(1)
        let edit: LocalEdit =
            switch entity {
            case "Note": LocalEdit(.update, entity: entity, key: [key], values: ["country": .text("2")])
            case "Trip": LocalEdit(.update, entity: entity, key: [key], links: ["stops": [[.text("2")]]])
            case "Country": LocalEdit(.update, entity: entity, key: [key], values: ["code": .text("FI")])
            default: LocalEdit(.update, entity: entity, key: [key], values: ["text": .text("b")])
            }
        _ = try fixture.store.edit([edit])
        try fixture.store.close()
        let backup = fixture.folder.appending("backup.sqlite")
        func migrate() throws {
            _ = try SQLiteStore.migrate(path: fixture.path, to: Self.model(key: "code"), backup: backup)
        }
        guard entity != "Other" else { return try migrate() }
        let error = try storeError(migrate)
        #expect(error.message == "\(fixture.path): \(entity) has 1 edit that the remote does not have yet")
        #expect(access(backup, F_OK) != 0, "the file is as it was: no copy is needed")
        try fixture.reopen()
        #expect(try fixture.store.outbox().count == 1)
    }
}
