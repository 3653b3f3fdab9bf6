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

/// A store that only reads: the file's tables stay as they are.
@Suite struct ReadingTests {
    private static func model(_ attributes: Attribute..., more: Entity...) throws -> CompiledModel {
        try CompiledModel(
            Model(
                entities: [
                    Entity(
                        "City", key: ["id"], [.of("id", .integer), .of("name", .text)] + attributes,
                        [.many("twins", "City")])
                ] + more))
    }

    /// A closed file with a city.
    private func filled() throws -> StoreFixture {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("City", ["id": 1, "name": "Oslo"])
        try fixture.store.close()
        return fixture
    }

    private func names(_ store: SQLiteStore) throws -> [String] {
        try store.rows(of: RowQuery("City")).map { $0.values[1].description }
    }

    private func expectLack(
        of words: String, _ fixture: StoreFixture, _ model: CompiledModel, _ entities: [Int]? = nil,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let before = try Data(contentsOf: URL(filePath: fixture.path))
        let error = try storeError(sourceLocation: sourceLocation) {
            _ = try SQLiteStore(reading: fixture.path, model: model, entities: entities)
        }
        #expect(error.code == .schema, sourceLocation: sourceLocation)
        #expect(
            error.description == "\(fixture.path): the database does not have \(words); "
                + "`bmo sync` or `bmo migrate --apply` updates the database", sourceLocation: sourceLocation)
        #expect(try Data(contentsOf: URL(filePath: fixture.path)) == before, sourceLocation: sourceLocation)
    }

    @Test func `what the file lacks is named and not added`() throws {
        let fixture = try filled()
        try expectLack(of: "the column City.size yet", fixture, Self.model(.of("size", .integer)))
        var renamed = try #require(Self.model().model.entities.first)
        renamed.attributes[1].name = "title"
        renamed.attributes[1].renamedFrom = "name"
        try expectLack(of: "the column City.title yet (it is name there)", fixture, .of(renamed))
        renamed.name = "Town"
        renamed.renamedFrom = "City"
        renamed.relationships = []
        try expectLack(of: "the table Town yet (it is City there)", fixture, .of(renamed))
        try fixture.file().rows("UPDATE bmo_meta SET value = '5' WHERE name = 'version'")
        try expectLack(of: "the bookkeeping of this bmo yet", fixture, Self.model(.of("size", .integer)), [])
    }

    @Test func `what is not read may lack`() throws {
        let fixture = try filled()
        let model = try Self.model(more: Entity("Country", key: ["id"], [.of("id", .integer)]))
        try expectLack(of: "the table Country yet", fixture, model)
        try expectLack(of: "the table Country yet", fixture, model, [1])
        let store = try SQLiteStore(reading: fixture.path, model: model, entities: [0])
        #expect(try names(store) == ["Oslo"])
        try store.close()
        let changed = try Self.model(.of("size", .integer))
        let bookkeeping = try SQLiteStore(reading: fixture.path, model: changed, entities: [])
        #expect(try bookkeeping.quarantined().isEmpty)
        try bookkeeping.close()
    }

    @Test func `an unused table is not an obstacle`() throws {
        let fixture = try filled()
        let store = try SQLiteStore(
            reading: fixture.path, model: .of(Entity("City", key: ["id"], [.of("id", .integer)])))
        #expect(try store.status().map(\.rows) == [1])
        try store.close()
    }

    @Test func `it writes nothing`() throws {
        let fixture = try filled()
        let store = try SQLiteStore(reading: fixture.path, model: fixture.model)
        #expect(try storeError { _ = try store.beginPage() }.message == "the database was opened for reading")
        _ = try storeError { try store.retryOutbox([1], sendingUnknown: false) }
        try store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["bmo.sqlite"])
    }

    @Test func `it reads beside a writer`() throws {
        let fixture = try StoreFixture(Self.model())
        try fixture.add("City", ["id": 1, "name": "Oslo"])
        let page = try fixture.begin("City")
        try page.add(try Literal.batch([["id": 2]]), location: nil)
        let store = try SQLiteStore(reading: fixture.path, model: fixture.model)
        #expect(try names(store) == ["Oslo"])
        try page.commit(progress: nil)
        #expect(try names(store) == ["Oslo", "null"])
        try store.close()
    }

    @Test func `a missing file is not created`() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("none.sqlite")
        let error = try storeError { _ = try SQLiteStore(reading: path, model: Self.model()) }
        #expect(error.description == "\(path): there is no such file; `bmo sync` creates it")
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a file without tables of bmo stays as it is`() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("theirs.sqlite")
        try SQLiteFile(path, creates: true).rows("CREATE TABLE theirs (x)")
        let before = try Data(contentsOf: URL(filePath: path))
        let error = try storeError { _ = try SQLiteStore(reading: path, model: Self.model()) }
        #expect(
            error.description == "\(path): bmo has not created anything in the file yet; `bmo sync` adds its tables")
        // What a sync would do can be tried.
        try SQLiteStore(rehearsing: path, model: Self.model()).close()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
}
