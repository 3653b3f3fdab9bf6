import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Fields that nothing reads: kept in a column, or noted by name.
@Suite struct ExtraFieldTests {
    private static func city(keepsExtra: Bool) throws -> CompiledModel {
        var city = Entity(
            "City", key: ["id"],
            [.of("id", .integer), .of("name", .text), .of("zip", .text, from: ["address", "zip"])],
            [.one("twin", "City")])
        city.keepsExtra = keepsExtra
        return try CompiledModel.of(city)
    }

    @Test(arguments: StoreKind.allCases)
    func `what no attribute reads is kept as one object`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.city(keepsExtra: true), kind: kind)
        let oslo: Literal = [
            "id": 1, "mayor": ["name": "A"], "name": "Oslo", "area": 454.5, "address": ["zip": "0001", "road": "x"],
        ]
        #expect(try database.load("City", oslo) == "City +1")
        #expect(try database.text(of: "City") == #"1 'Oslo' '0001' null '{"mayor":{"name":"A"},"area":454.5}'"#)
        #expect(try database.load("City", oslo) == "City =1")
        #expect(
            try database.load("City", ["id": 2, "twin": ["id": 1, "name": "Oslo", "short": true]]) == "City +1 =1",
            "what a nested object leaves out or adds says nothing of the whole")
        #expect(try database.addBatches([[["id": 1, "name": "Oslo"]]], of: "City", extent: .whole) == "City ~1")
        #expect(try database.text(of: "City") == "1 'Oslo' '0001' null null\n2 null null 1 null")
    }

    @Test(arguments: StoreKind.allCases)
    func `what comes nested alone keeps the members that nothing reads`(_ kind: StoreKind) throws {
        var seat = Entity("Seat", key: ["id"], [.of("id", .integer)])
        seat.keepsExtra = true
        seat.isScanned = false
        let database = try StoreFixture(
            CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)], [.one("seat", "Seat")]), seat),
            kind: kind)
        try database.load("City", ["id": 1, "seat": ["id": 9, "row": "a", "wide": true]])
        #expect(try database.text(of: "Seat") == #"9 '{"row":"a","wide":true}'"#)
        try database.load("City", ["id": 1, "seat": ["id": 9, "row": "b"]])
        #expect(try database.text(of: "Seat") == #"9 '{"row":"b","wide":true}'"#, "a copy may be partial")
    }

    @Test(arguments: StoreKind.allCases)
    func `a partial record changes the members that it has, and keeps the others`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.city(keepsExtra: true), kind: kind)
        func add(_ record: Literal, _ extent: RecordExtent) throws -> String {
            try database.addBatches([[record]], of: "City", extent: extent)
        }
        #expect(try add(["id": 1, "name": "Oslo", "area": 454.5, "a b": "a", "x": nil], .whole) == "City +1")
        for extent in [RecordExtent.part, .changes] {
            #expect(try add(["id": 1, "name": "Oslo"], extent) == "City =1", "\(extent)")
            #expect(try add(["id": 1, "area": 454.5], extent) == "City =1", "\(extent)")
        }
        #expect(try add(["id": 1, "area": nil, "mayor": ["name": "A"]], .changes) == "City ~1")
        let all = #"'{"area":null,"a b":"a","x":null,"mayor":{"name":"A"}}'"#
        #expect(try database.table("City", "extra") == [[all]])
        #expect(try add(["id": 1, "area": nil, "mayor": ["name": "A"]], .changes) == "City =1")
        #expect(try add(["id": 1, "x": 1], .whole) == "City ~1")
        #expect(try database.table("City", "extra") == [[#"'{"x":1}'"#]], "a whole record has all members")
        #expect(try add(["id": 2, "x": 1], .changes) == "City +1")
    }

    @Test(arguments: StoreKind.allCases)
    func `where missing members change nothing, those without an attribute stay`(_ kind: StoreKind) throws {
        var city = Entity("City", key: ["id"], [.of("id", .integer)])
        city.keepsExtra = true
        city.absent = .keep
        let database = try StoreFixture(CompiledModel.of(city), kind: kind)
        try database.addBatches([[["id": 1, "x": 1, "y": 2]]], of: "City", extent: .whole)
        try database.addBatches([[["id": 1, "x": 3]]], of: "City", extent: .whole)
        #expect(try database.table("City", "extra") == [[#"'{"x":3,"y":2}'"#]])
    }

    @Test(arguments: StoreKind.allCases)
    func `a partial record of an object that was deleted here loses no member`(_ kind: StoreKind) throws {
        var city = Entity("City", key: ["id"], [.of("id", .integer)])
        city.keepsExtra = true
        city.conflicts = .remote
        let database = try StoreFixture(CompiledModel.of(city), kind: kind)
        try database.addBatches([[["id": 1, "x": 1, "y": 2]]], of: "City", extent: .whole)
        _ = try database.store.edit([LocalEdit(.delete, entity: "City", key: [.integer(1)])])
        try database.addBatches([[["id": 1, "x": 1]]], of: "City", extent: .changes)
        #expect(try database.table("City", "extra").isEmpty, "the record has nothing new")
        #expect(try database.store.outbox().count == 1)
        try database.addBatches([[["id": 1, "x": 3]]], of: "City", extent: .changes)
        #expect(try database.table("City", "extra") == [[#"'{"x":3,"y":2}'"#]])
        #expect(try database.store.outbox().isEmpty, "the remote's change wins")
    }

    @Test func `a field that nothing reads is noted once`() throws {
        let model = try Self.city(keepsExtra: false)
        let mapper = Mapper(model)
        func noted(_ records: Literal...) throws -> [String] {
            _ = mapper.map(try Literal.batch(records), as: 0)
            return mapper.takeUnknownFields().map(\.path).sorted()
        }
        #expect(
            try noted(
                ["id": 1, "a.b": 1, "address": ["zip": "1", "road": "x"], "area": nil],
                ["id": 2, "area": 3, "twin": ["id": 3, "mayor": "A"]])
                == ["a\\.b", "address.road", "area", "mayor"])
        #expect(try noted(["id": 1, "area": 1, "founded": 1900]) == ["founded"])
        #expect(try noted(["id": 1, "address": [["zip": "1"]]]) == [])
    }

    @Test func `what a relationship reads is not unknown beside an attribute`() throws {
        let city = Entity(
            "City", key: ["id"],
            [.of("id", .integer), .of("name", .text), .of("twin_name", .text, from: ["twin", "name"])],
            [.one("twin", "City")])
        let mapper = Mapper(try CompiledModel.of(city))
        _ = mapper.map(
            try Literal.batch([["id": 1, "twin": ["id": 2, "name": "Oslo", "mayor": "A"]]]), as: 0)
        #expect(mapper.takeUnknownFields().map(\.path) == ["mayor"], "told once, of the nested object")
    }

    @Test func `what conditions and sources read is not unknown`() throws {
        var sub = Entity("Capital", key: [], [.of("parliament", .text)])
        sub.superentity = "City"
        sub.matcher = Matcher([.equals(RemotePath(["status", "kind"]), ["capital"])])
        var city = Entity("City", key: ["id"], [.of("id", .integer), .of("area", .real, from: ["facts", "area"])])
        city.sources = [EntitySource(name: "facts", bridge: "remote", attributes: [.of("area", .real)])]
        city.sourcedNames = ["area"]
        city.deletes.tombstone = Matcher([.has(RemotePath(["gone"]))])
        let mapper = Mapper(try CompiledModel.of(city, sub))
        _ = mapper.map(
            try Literal.batch([
                ["id": 1, "status": ["kind": "x", "since": 1], "gone": nil, "facts": ["area": 1]], ["id": 2, "x": 1],
            ]), as: 0)
        #expect(mapper.takeUnknownFields().map(\.path).sorted() == ["status.since", "x"])
    }
}
