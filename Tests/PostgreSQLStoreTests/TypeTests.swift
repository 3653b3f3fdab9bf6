import ImportTestSupport
import Importer
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Values in columns of native types.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct TypeTests {
    private static let attributes: [Attribute] = [
        .of("code", .text), .of("count", .integer), .of("size", .real), .of("isNew", .boolean), .of("price", .decimal),
        .of("changed", .timestamp), .of("born", .date), .of("photo", .data), .of("more", .json), .of("site", .url),
        .of("id", .uuid),
    ]

    private static func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity("Thing", key: ["code"], attributes))
    }

    private static let full: Literal = [
        "code": "a", "count": .integer(-9_007_199_254_740_993), "size": .double(0.1), "isNew": .bool(true),
        "price": .decimal("12.50"), "changed": .timestamp(microseconds: -1), "born": "1582-10-04",
        "photo": .bytes([0, 255]), "more": ["a": [1, nil]], "site": "https://example.com/ä",
        "id": "0189F7EA-AE2C-7809-8AEB-B819CF5E9E7F",
    ]

    @Test func `each type has PostgreSQL's own and returns the same value`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("Thing", Self.full, ["code": "b"])
        let types = try fixture.server.rows(
            """
            SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = '\(fixture.schema)."Thing"'::regclass AND attnum > 0 ORDER BY attnum
            """)
        #expect(
            types == [
                "bmo_row|bigint", "code|text", "count|bigint", "size|double precision", "isNew|boolean",
                "price|numeric", "changed|timestamp with time zone", "born|date", "photo|bytea", "more|text",
                "site|text", "id|uuid",
            ])
        #expect(
            try fixture.lines("Thing") == [
                "'a' -9007199254740993 0.1 1 '12.50' '1969-12-31T23:59:59.999999Z' '1582-10-04' x'00ff' "
                    + "'{\"a\":[1,null]}' 'https://example.com/ä' '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f'",
                "'b' null null null null null null null null null null",
            ])
        let bytes = LocalCondition(field: "photo", comparison: .like, value: "%")
        let error = try storeError { _ = try fixture.rows("Thing", bytes) }
        #expect(error.description.contains("Thing.photo has bytes, and `~` compares texts"))
        let again = try fixture.add("Thing", Self.full, ["code": "b"])
        #expect(again.unchanged == 2, "a value that is read back otherwise would be a change each time")
    }

    @Test func `a value that differs in any column is an update, and the same value is none`() throws {
        let model = try CompiledModel.of(
            Entity("Thing", key: ["number"], [.of("number", .integer)] + Self.attributes.filter { $0.name != "code" }))
        let fixture = try StoreFixture(overPostgreSQL: model)
        let others: [(name: String, value: Literal)] = [
            ("count", 7), ("size", .double(-0.1)), ("isNew", .bool(false)), ("price", .decimal("12.51")),
            ("changed", .timestamp(microseconds: 0)), ("born", "1582-10-05"), ("photo", .bytes([0, 254])),
            ("more", ["a": [2, nil]]), ("site", "https://example.com/b"),
            ("id", "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7e"),
        ]
        func thing(_ changes: [String: Literal] = [:]) -> Literal {
            guard case .object(let members) = Self.full else { return .null }
            return .object(
                [(key: "number", value: .integer(1))] + members.map { ($0.key, changes[$0.key] ?? $0.value) })
        }
        try fixture.add("Thing", thing())
        for (name, other) in others {
            for value in [other, .null] {
                #expect(try fixture.add("Thing", thing([name: value])).updated == 1, "\(name)")
                #expect(try fixture.add("Thing", thing([name: value])).unchanged == 1, "\(name)")
                #expect(try fixture.add("Thing", thing()).updated == 1, "\(name)")
            }
            #expect(try fixture.add("Thing", thing()).unchanged == 1)
        }
    }

    @Test func `text sorts by its bytes`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("Thing", ["code": "ä"], ["code": "Z"], ["code": "a"])
        let rows = try fixture.store.rows(of: RowQuery("Thing"))
        #expect(rows.map(\.key) == [[.text("Z")], [.text("a")], [.text("ä")]])
    }

    @Test func `a value that PostgreSQL cannot hold goes to quarantine and the rest is imported`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let counts = try fixture.add(
            "Thing", ["code": "a\0"],
            ["code": .text(String(repeating: "k", count: 2_800))], ["code": "c"])
        #expect(counts.quarantined == 2)
        let reasons = try fixture.store.quarantined().map(\.record.reason)
        #expect(reasons.count == 2)
        #expect(reasons.contains { $0.contains("U+0000") && $0.contains("Thing.code") })
        #expect(reasons.contains { $0.contains("longer than a PostgreSQL index allows") })
        #expect(try fixture.lines("Thing").map { $0.prefix(3) } == ["'c'"])
    }
}
