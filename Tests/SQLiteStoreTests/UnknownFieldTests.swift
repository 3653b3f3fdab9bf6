import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

@Suite struct UnknownFieldTests {
    private static func city(_ more: Attribute...) throws -> CompiledModel {
        try CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)] + more))
    }

    @Test func `unknown fields are kept once until the model changes`() throws {
        let fixture = try StoreFixture(Self.city())
        try fixture.add("City", ["id": 1])
        #expect(try fixture.store.unknownFields() == [])
        try fixture.add("City", ["id": 1, "size": 3, "area": 4])
        #expect(try fixture.store.unknownFields().map { "\($0.entity).\($0.path)" } == ["City.area", "City.size"])
        try fixture.reopen()
        let bytes = try FileBytes(fixture.path)
        try fixture.add("City", ["id": 1, "size": 3, "area": 4])
        try fixture.store.close()
        #expect(try FileBytes(fixture.path) == bytes, "what is known is not written again")
        try fixture.reopen(Self.city(.of("size", .integer)))
        #expect(try fixture.store.unknownFields() == [])
        try fixture.add("City", ["id": 1, "size": 3, "area": 4])
        #expect(try fixture.store.unknownFields().map(\.path) == ["area"])
        #expect(try fixture.store.unknownFields(since: "9999").isEmpty)
    }

    @Test func `a page that is taken back notes nothing`() throws {
        let fixture = try StoreFixture(Self.city())
        let page = try fixture.begin("City")
        try page.add(try Literal.batch([["id": 1, "size": 3]]), location: nil)
        page.rollback()
        #expect(try fixture.store.unknownFields() == [])
        try fixture.add("City", ["id": 1, "size": 3])
        #expect(try fixture.store.unknownFields().map(\.path) == ["size"])
    }

    @Test func `a hundred thousand names are kept as one thousand and a note`() throws {
        let fixture = try StoreFixture(Self.city())
        let began = ContinuousClock.now
        for batch in 0..<4 {
            let names = (0..<25_000).map { (key: "f\(batch * 25_000 + $0)", value: Literal.integer(1)) }
            try fixture.add("City", .object([(key: "id", value: 1)] + names))
        }
        try fixture.add("City", ["id": 1, "one": 1, "two": 2])
        let fields = try fixture.store.unknownFields()
        #expect(fields.count == 1_001 && fields.contains { $0.path == "(further fields)" })
        #expect(
            ContinuousClock.now - began < .seconds(10), "it took 23 s for 80,000 when each insertion copied them all")
        try fixture.reopen()
        try fixture.add("City", ["id": 1, "three": 3])
        #expect(try fixture.store.unknownFields().count == 1_001)
    }

    @Test func `a name of a megabyte is cut`() throws {
        let fixture = try StoreFixture(Self.city())
        try fixture.add("City", ["id": 1, String(repeating: "n", count: 1 << 20): 3])
        #expect(try fixture.store.unknownFields().map(\.path.count) == [200])
    }
}
