import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Stubs go with the last reference to them, in both stores.
@Suite struct AbandonedStubTests {
    private func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity("A", key: ["id"], [.of("id", .integer), .of("name", .text)]),
            Entity(
                "B", key: ["id"], [.of("id", .integer), .of("name", .text)],
                [.one("a", "A"), .many("others", "A"), .many("children", "C", inverse: "parent")]),
            Entity("C", key: ["id"], [.of("id", .integer)], [.one("parent", "B", inverse: "children")]))
    }

    @Test(arguments: StoreKind.allCases)
    func `a stub goes when an update moves the last reference`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try model(), kind: kind)
        try database.load("B", ["id": 1, "a": 3], ["id": 2, "a": 3])
        try database.load("B", ["id": 1, "a": 4])
        #expect(try database.text(of: "A") == "3 null\n4 null", "2 still refers to it")
        try database.load("B", ["id": 2, "a": nil])
        #expect(try database.text(of: "A") == "4 null")
        #expect(try database.text(of: "stubs") == "A [4]")
        try database.load("A", ["id": 4, "name": "four"])
        try database.load("B", ["id": 1, "a": nil])
        #expect(try database.text(of: "A") == "4 'four'", "it is no stub")
    }

    @Test(arguments: StoreKind.allCases)
    func `a stub goes with the last link to it`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try model(), kind: kind)
        try database.load("B", ["id": 1, "others": [3, 4]], ["id": 2, "others": [4]])
        try database.load("B", ["id": 1, "others": []])
        #expect(try database.text(of: "A") == "4 null")
        #expect(try database.delete("B", ["id": 2]) == "B -1")
        #expect(try database.text() == "B\n  1 null null")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a stub that refers to something stays until it does not`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try model(), kind: kind)
        try database.load("B", ["id": 1, "children": [7, 8]])
        #expect(try database.text(of: "C") == "7 1\n8 1")
        try database.load("B", ["id": 1, "children": [8]])
        #expect(try database.text(of: "C") == "8 1", "7 was nothing but a child of 1")
    }

    @Test(arguments: StoreKind.allCases)
    func `what is referred to again on the same page stays`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try model(), kind: kind)
        try database.load("B", ["id": 1, "a": 3])
        try database.addBatches([[["id": 1, "a": nil]], [["id": 2, "a": 3]]], of: "B")
        #expect(try database.text(of: "A") == "3 null")
        #expect(try database.text(of: "stubs") == "A [3]")
    }

    @Test(arguments: StoreKind.allCases)
    func `a page that is taken back leaves the stub`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try model(), kind: kind)
        try database.load("B", ["id": 1, "a": 3])
        try database.addBatches([[["id": 1, "a": nil]]], of: "B", end: .rollback)
        try database.load("B", ["id": 5])
        #expect(try database.text(of: "A") == "3 null")
    }
}
