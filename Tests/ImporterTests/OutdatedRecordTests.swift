import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Records in quarantine that leave it because the remote has listed or deleted their object since, in both stores.
@Suite struct OutdatedRecordTests {
    private func fixture(_ kind: StoreKind) throws -> StoreFixture {
        var model = try world().model
        model.entities[1].deletes.tombstone = Matcher([.has(RemotePath(["gone"]))])
        return try StoreFixture(try CompiledModel(model), kind: kind)
    }

    private func kept(_ database: StoreFixture) throws -> [String] {
        try database.store.quarantined().map(\.record.representation)
    }

    private static let bad: Literal = ["id": 1, "name": ["x": 1]]

    @Test(arguments: StoreKind.allCases)
    func `a record leaves when its object is listed again`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        try database.load("City", Self.bad, ["id": 2, "name": ["y": 1]])
        #expect(try database.store.quarantined().map(\.record.key) == ["[1]", "[2]"])
        try database.load("City", ["id": 3, "name": "Nice"])
        #expect(try kept(database).count == 2)
        try database.load("City", ["id": 1, "name": "Lyon"])
        #expect(try kept(database) == [#"{"id":2,"name":{"y":1}}"#])
        try database.load("City", ["id": 2, "gone": true])
        #expect(try kept(database).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a record whose key comes from several paths leaves when its object is listed again`(
        _ kind: StoreKind
    ) throws {
        let id = Attribute(
            name: "id", type: .integer, source: .paths([RemotePath(["id"]), RemotePath(["number"])]),
            transformers: [.first])
        let city = Entity("City", key: ["id"], [id, .of("name", .text)])
        let database = try StoreFixture(try CompiledModel.of(city), kind: kind)
        try database.load("City", ["number": 1, "name": ["x": 1]])
        #expect(try database.store.quarantined().map(\.record.key) == ["[1]"])
        try database.load("City", ["number": 1, "name": "Lyon"])
        #expect(try kept(database).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a record leaves when its object is reported as deleted, although it has no row`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        try database.load("City", Self.bad)
        _ = try database.delete("City", ["id": 1])
        #expect(try kept(database).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `of a batch's records of one object the last counts`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        try database.load("City", Self.bad, ["id": 1, "name": "Lyon"])
        #expect(try kept(database).isEmpty)
        try database.load("City", ["id": 1, "name": "Lyons"], Self.bad)
        #expect(try kept(database).count == 1)
        #expect(try database.text(of: "City") == "1 'Lyons' null null")
        try database.load("City", ["id": 1, "gone": true], Self.bad)
        #expect(try kept(database).count == 1, "it exists again")
    }

    @Test(arguments: StoreKind.allCases)
    func `a record of changes does not replace one whose values were not imported`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        try database.load("City", Self.bad)
        try database.addBatches([[["id": 1, "name": "Lyon"]]], of: "City", extent: .changes)
        #expect(try kept(database).count == 1)
        try database.addBatches([[["id": 1, "gone": true]]], of: "City", extent: .changes)
        #expect(try kept(database).isEmpty, "the object is gone, whatever its values were")
    }

    @Test(arguments: StoreKind.allCases)
    func `a page that is rolled back keeps them`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        try database.load("City", Self.bad)
        try database.load("City", ["id": 1, "name": "Lyon"], end: .rollback)
        #expect(try kept(database).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `records of another source stay when the object is listed`(_ kind: StoreKind) throws {
        let database = try fixture(kind)
        let index = try #require(database.model.index(of: "City"))
        var origin = PageImport.Origin(bridge: "further", page: 1)
        (origin.source, origin.parent) = ("facts", "[7]")
        let page = try PageImport(index, of: database.model, from: origin, into: database.store)
        try page.add(try Literal.batch([Self.bad]), location: nil)
        try page.commit(progress: nil)
        try database.load("City", Self.bad)
        let records = try database.store.quarantined().map(\.record)
        #expect(records.map(\.source) == ["facts", ""] && records.map(\.parent) == ["[7]", nil])
        try database.load("City", ["id": 1, "name": "Lyon"])
        #expect(try database.store.quarantined().map(\.record.source) == ["facts"])
        _ = try database.delete("City", ["id": 1])
        #expect(try kept(database).isEmpty)
    }
}
