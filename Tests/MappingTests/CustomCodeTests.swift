import ImportTestSupport
import Mapping
import Model
import RecordBatch
import TestSupport
import Testing

/// Transformers and matchers in code, alone and in a mapping.
@Suite struct CustomCodeTests {
    private struct NotCents: Error, CustomStringConvertible {
        let description = "it is no number of cents"
    }

    private static let cents = ValueTransformer(
        "cents/1",
        outgoing: { value in
            guard case .decimal(let text) = value, let cents = Int64(text.replacing(".", with: "")) else {
                throw NotCents()
            }
            return .integer(cents)
        },
        incoming: { value in
            guard case .integer(let cents) = value, cents >= 0 else { throw NotCents() }
            let rest = cents % 100
            return .decimal("\(cents / 100).\(rest < 10 ? "0" : "")\(rest)")
        })

    /// What becomes of the records of an entity with one attribute.
    private func mapped(
        _ records: Literal..., by code: ValueTransformer, as type: AttributeType = .decimal,
        limit: Duration = .seconds(60)
    ) throws -> String {
        let price = Attribute(name: "price", type: type, transformers: [.code(code.name)])
        let model = try CompiledModel(
            Model(entities: [Entity("Item", key: ["id"], [.of("id", .integer), price])]),
            code: CustomCode(transformers: [code], limit: limit))
        let page = Mapper(model).map(try Literal.batch(records), as: 0)
        return withExtendedLifetime(page) { page.text(in: model) }
    }

    @Test func `a transformer is tested alone`() throws {
        #expect(try Self.cents.local(.integer(1205)) == .decimal("12.05"))
        #expect(try Self.cents.remote(.decimal("12.05")) == .integer(1205))
        #expect(throws: NotCents.self) { try Self.cents.local(.text("x")) }
        let oneWay = ValueTransformer("one-way/1") { $0 }
        #expect(throws: ValueTransformer.NoWayBack.self) { try oneWay.remote(.integer(1)) }
    }

    @Test func `a transformer that throws rejects its record, and no other`() throws {
        #expect(
            try mapped(
                ["id": 1, "price": 1205], ["id": 2, "price": "free"], ["id": 3, "price": nil], ["id": 4],
                ["id": 5, "price": 7], by: Self.cents) == """
                    Item id=1 price='12.05'
                    Item id=3 price=null
                    Item id=4
                    Item id=5 price='0.07'
                    ! 1: Item.price: the code "cents/1" failed: it is no number of cents
                    """)
    }

    @Test func `a transformer gets each kind of value, and its result is of the attribute's type`() throws {
        let kinds = ValueTransformer("kinds/1") { value in .text("\(value.kind) \(value)") }
        #expect(
            try mapped(
                ["id": 1, "price": true], ["id": 2, "price": 1.5], ["id": 3, "price": [1, ["a": "b"]]],
                ["id": 4, "price": "x"], ["id": 5, "price": .bytes([1])], by: kinds, as: .text) == """
                    Item id=1 price='boolean 1'
                    Item id=2 price='real 1.5'
                    Item id=3 price='json [1,{"a":"b"}]'
                    Item id=4 price='text x'
                    Item id=5 price='bytes AQ=='
                    """)
        #expect(
            try mapped(["id": 1, "price": "x"], by: kinds)
                == """
                ! 0: Item.price: the text "text x" is not a decimal number of at most 1000 digits
                """)
    }

    @Test func `a transformer that takes too long rejects its record`() throws {
        let text = try mapped(["id": 1, "price": 1], by: Self.cents, limit: .zero)
        let words = /! 0: Item\.price: the code "cents\/1" took [^ ]+ seconds, and may take 0\.0 seconds/
        #expect(text.wholeMatch(of: words) != nil, "\(text)")
    }

    @Test func `an edit goes the way back`() throws {
        func remote(_ value: StoredValue, _ code: ValueTransformer) throws -> String {
            let price = Attribute(name: "price", type: .decimal, transformers: [.code(code.name)])
            var item = Entity("Item", key: ["id"], [.of("id", .integer), price])
            item.isWritable = true
            let model = try CompiledModel(Model(entities: [item]), code: CustomCode(transformers: [code]))
            do {
                return try OutgoingPlan(of: 0, in: model).object(["price": value]).json
            } catch {
                return error.description
            }
        }
        #expect(try remote(.decimal("12.05"), Self.cents) == #"{"price":1205}"#)
        #expect(
            try remote(.decimal("1.5"), Self.cents).hasSuffix("it would come back as \"0.15\""),
            "what does not read back is not sent")
        let oneWay = ValueTransformer("one-way/1") { $0 }
        #expect(try remote(.decimal("1.5"), oneWay).hasSuffix("\"write: false\" leaves the attribute out"))
    }

    // MARK: matchers

    private static let book = RecordMatcher("book/1") { record in
        guard let code = record["code"] else { return false }
        guard case .text(let text) = code else { throw NotCents() }
        return text.hasPrefix("978")
    }

    @Test func `a matcher is tested alone`() throws {
        #expect(try Self.book.fits(RemoteRecord(json: #"{"code": "9783"}"#)))
        #expect(try !Self.book.fits(RemoteRecord(json: #"{"code": "5", "other": 1}"#)))
        let record = try RemoteRecord(json: #"{"a": {"b": [1]}, "c": null, "c": 2}"#)
        #expect(record.names == ["a", "c", "c"])
        #expect(record[path: ["a", "b"]] == .json("[1]") && record["c"] == .integer(2))
        #expect(record["d"] == nil && record[path: ["a", "b", "c"]] == nil && record[path: []] == nil)
        #expect(throws: (any Error).self) { try RemoteRecord(json: "[1]") }
    }

    @Test func `a matcher says which sub-entity a record is`() throws {
        var book = Entity("Book", key: [], [.of("pages", .integer)])
        book.superentity = "Item"
        book.matcher = Matcher([.code("book/1"), .lacks(RemotePath(["withdrawn"]))])
        let item = Entity("Item", key: ["id"], [.of("id", .integer)])
        let model = try CompiledModel(Model(entities: [item, book]), code: CustomCode(matchers: [Self.book]))
        let records: [Literal] = [
            ["id": 1, "code": "9783", "pages": 12], ["id": 2, "code": "5"], ["id": 3, "code": 5], ["id": 4],
            ["id": 5, "code": "9783", "withdrawn": true],
        ]
        let page = Mapper(model).map(try Literal.batch(records), as: 0)
        #expect(
            withExtendedLifetime(page) { page.text(in: model) } == """
                Book id=1 entity='Book' pages=12
                Item id=2 entity='Item'
                Item id=4 entity='Item'
                Item id=5 entity='Item'
                ! 2: Item: the code "book/1" failed: it is no number of cents
                """)
    }

    // MARK: merges

    @Test func `a merge brings a value of the attribute's type, or none`() throws {
        func merged(_ body: @escaping @Sendable () throws -> StoredValue, limit: Duration = .seconds(60)) throws
            -> StoredValue?
        {
            var size = Attribute(name: "size", type: .integer)
            size.merge = "size/1"
            let merge = ValueMerge("size/1") { _, _, _ in try body() }
            let model = try CompiledModel(
                Model(entities: [Entity("Item", key: ["id"], [.of("id", .integer), size])]),
                code: CustomCode(merges: [merge], limit: limit))
            let field = try #require(model.entities[0].fields.first { $0.name == "size" })
            return try #require(field.merge).merged(base: nil, remote: .integer(1), local: .integer(2))
        }
        #expect(try merged { .integer(3) } == .integer(3))
        #expect(try merged { .text("4") } == .integer(4))
        #expect(try merged { .null } == .null)
        #expect(try merged { .text("four") } == nil)
        #expect(try merged { throw NotCents() } == nil)
        #expect(try merged({ .integer(3) }, limit: .zero) == nil)
        let sum = ValueMerge("sum/1") { base, remote, local in
            .text("\(base.map { "\($0)" } ?? "-") \(remote) \(local)")
        }
        #expect(try sum.merged(base: nil, remote: .integer(1), local: .integer(2)) == .text("- 1 2"))
    }
}
