import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

/// What is around an object: the object that it is nested in, and its place in its list.
@Suite struct SurroundingsTests {
    @Test func `a nested objects key is made of what is around it`() throws {
        let order: Literal = [
            "id": 7, "ship": ["city": "Oslo"],
            "lines": [
                ["sku": "a", "parts": [["name": "x"], ["name": "y"]]], ["sku": "b", "parts": [["name": "x"]]],
            ],
        ]
        let model = try CompiledModel.of(
            Entity("Order", key: ["id"], [.of("id", .integer)], [.many("lines", "Line", inverse: "order")]),
            Entity(
                "Line", key: ["order_id", "position"],
                [
                    .of("order_id", .integer, from: ["@parent", "id"]), .of("position", .integer, from: ["@index"]),
                    .of("city", .text, from: ["@parent", "ship", "city"]), .of("sku", .text),
                ], [.one("order", "Order"), .many("parts", "Part")]),
            Entity(
                "Part", key: ["order_id", "line", "name"],
                [
                    .of("order_id", .integer, from: ["@parent", "@parent", "id"]),
                    .of("line", .integer, from: ["@parent", "@index"]), .of("name", .text),
                ]))
        #expect(
            try mapped(order, as: "Order", in: model) == """
                Order id=7
                Line order_id=7 position=0 city='Oslo' sku='a' order=7
                Part order_id=7 line=0 name='x'
                Part order_id=7 line=0 name='y'
                Line order_id=7 position=1 city='Oslo' sku='b' order=7
                Part order_id=7 line=1 name='x'
                1.parts: 7/0/'x' 7/0/'y'
                4.parts: 7/1/'x'
                0.lines: 7/0 7/1
                """)
    }

    @Test func `an object that takes the position of another takes none of its values`() throws {
        var line = Entity(
            "Line", key: ["order", "position"],
            [
                .of("order", .integer, from: ["@parent", "id"]), .of("position", .integer, from: ["@index"]),
                .of("sku", .text), .of("discount", .integer),
            ], [.many("parts", "Part")])
        line.isScanned = false
        let order = Entity("Order", key: ["id"], [.of("id", .integer)], [.many("lines", "Line")])
        let part = Entity("Part", key: ["name"], [.of("name", .text)])
        let records: [Literal] = [
            ["id": 1, "lines": [["sku": "apple", "discount": 50, "parts": ["x"]]]],
            ["id": 2, "lines": [["sku": "pear"]]],
        ]
        func lines(_ model: CompiledModel) throws -> [String] {
            try mapped(records[0], records[1], as: "Order", in: model).split(separator: "\n").map(String.init)
        }
        let positional = try lines(CompiledModel.of(order, line, part))
        #expect(positional.contains("Line order=2 position=0 sku='pear' discount=null"))
        #expect(positional.contains { $0.hasSuffix(".parts:") }, "its list is empty")
        line.isScanned = true
        let listed = try lines(CompiledModel.of(order, line, part))
        #expect(listed.contains("Line order=2 position=0 sku='pear'"), "a listing of its own has the values")
    }

    @Test func `a member of its own counts more`() throws {
        let line = Entity(
            "Line", key: ["order", "position"],
            [.of("order", .integer, from: ["@parent", "id"]), .of("position", .integer, from: ["@index"])])
        let model = try CompiledModel.of(
            line, Entity("Order", key: ["id"], [.of("id", .integer)], [.many("lines", "Line")]))
        #expect(
            try mapped(["@parent": ["id": 3, "more": 1], "@index": 9], as: "Line", in: model)
                == "Line order=3 position=9", "as a bridge brings records of arrays in arrays")
        #expect(
            try mapped(["id": 1, "lines": [["@index": 5]]], as: "Order", in: model)
                == "Order id=1\nLine order=1 position=5\n0.lines: 1/5")
        #expect(
            try mapped(["sku": "a"], as: "Line", in: model) == "! 0: the key Line.order is missing",
            "there is nothing around a record of a listing")
    }

    @Test func `a rejected record leaves nothing for the next`() throws {
        let model = try CompiledModel.of(
            Entity("Order", key: ["id"], [.of("id", .integer)], [.many("lines", "Line")]),
            Entity(
                "Line", key: ["order", "position"],
                [.of("order", .integer, from: ["@parent", "id"]), .of("position", .integer, from: ["@index"])]))
        #expect(
            try mapped(["id": 1, "lines": [[:], 5]], ["id": 2, "lines": [[:]]], as: "Order", in: model) == """
                Order id=2
                Line order=2 position=0
                0.lines: 2/0
                ! 0: Order.lines: the number 5 cannot name a Line, whose key has 2 attributes; an object can
                """)
    }
}
