import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Reading rows by conditions.
@Suite struct QueryTests {
    private typealias Condition = LocalCondition
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "City", key: ["id"],
                    [
                        .of("id", .integer), .of("name", .text), .of("capital", .boolean), .of("height", .real),
                        .of("price", .decimal), .of("founded", .date),
                    ], [.one("twin", "City")])))
        try fixture.add(
            "City",
            [
                "id": 10, "name": "Oslo", "capital": true, "height": 23.5, "price": "9.50", "founded": "1040-01-01",
                "twin": 2,
            ],
            ["id": 2, "name": "Bergen", "capital": false, "height": -1, "price": "10", "founded": "1070-06-01"],
            ["id": 3, "name": "O'Hara \"x\" % _", "price": "123456789012345678901234567890"],
            ["id": 4, "name": "", "height": 0, "price": "-3"])
    }

    /// The keys of the rows that meet the conditions.
    private func ids(_ conditions: Condition..., limit: Int? = nil) throws -> [Int64] {
        var ids: [Int64] = []
        try fixture.store.rows(of: RowQuery("City", where: conditions, limit: limit)) { row in
            if case .integer(let id) = row.values[0] { ids.append(id) }
        }
        return ids
    }

    private func ids(_ field: String, _ comparison: Comparison, _ value: String?) throws -> [Int64] {
        try ids(Condition(field: field, comparison: comparison, value: value))
    }

    @Test func `rows come in the order of their key`() throws {
        #expect(try ids() == [2, 3, 4, 10])
        #expect(try ids(limit: 2) == [2, 3])
        #expect(try ids(limit: 0).isEmpty)
        #expect(
            try fixture.rows("City", .init(field: "id", comparison: .equal, value: "10"))
                == ["10 'Oslo' 1 23.5 '9.50' '1040-01-01' 2"])
    }

    @Test func `a text is compared as text`() throws {
        #expect(try ids("name", .equal, "Oslo") == [10])
        #expect(try ids("name", .equal, "oslo").isEmpty)
        #expect(try ids("name", .notEqual, "Oslo") == [2, 3, 4])
        #expect(try ids("name", .equal, "") == [4])
        #expect(try ids("name", .less, "O") == [2, 4])
        #expect(try ids("name", .like, "o%") == [3, 10])
        #expect(try ids("name", .like, "%e_gen") == [2])
        #expect(try ids("founded", .atLeast, "1050") == [2])
    }

    @Test func `a number is compared as a number`() throws {
        #expect(try ids("id", .greater, "3") == [4, 10])
        #expect(try ids("id", .atMost, "3.5") == [2, 3])
        #expect(try ids("height", .less, "0.5") == [2, 4])
        #expect(try ids("height", .equal, "0") == [4])
        #expect(try ids("twin", .equal, "2") == [10])
        #expect(try ids("id", .like, "1%") == [10])
    }

    @Test func `a decimal is ordered by its value`() throws {
        #expect(try ids("price", .less, "10") == [4, 10])
        #expect(try ids("price", .atMost, "10.0") == [2, 4, 10])
        #expect(try ids("price", .greater, "1e20") == [3])
        #expect(try ids("price", .equal, "9.50") == [10])
        #expect(try ids("price", .equal, "123456789012345678901234567891").isEmpty, "every digit counts")
    }

    @Test func `a decimal is compared with all its digits`() throws {
        try fixture.add(
            "City", ["id": 20, "price": .decimal("0.1")], ["id": 21, "price": .decimal("0.10000000000000000001")],
            ["id": 22, "price": .decimal("1e400")])
        #expect(try ids("price", .equal, "0.100") == [20])
        #expect(try ids("price", .notEqual, "0.1") == [2, 3, 4, 10, 21, 22])
        #expect(try ids("price", .greater, "0.1") == [2, 3, 10, 21, 22])
        #expect(try ids("price", .atMost, "1e-1") == [4, 20])
        #expect(try ids("price", .greater, "123456789012345678901234567890") == [22])
        #expect(try ids("price", .atLeast, "123456789012345678901234567890") == [3, 22])
        #expect(try ids("price", .greater, "1e399") == [22])
        #expect(try ids("price", .less, "-3.00000000000000000001").isEmpty)
        var sorted = RowQuery("City", order: [.init("price", isDescending: true)])
        sorted.limit = 5
        let first = try fixture.store.rows(of: sorted)
        #expect(first.map(\.key) == [[.integer(22)], [.integer(3)], [.integer(2)], [.integer(10)], [.integer(21)]])
        sorted.after = first[4]
        #expect(try fixture.store.rows(of: sorted).map(\.key) == [[.integer(20)], [.integer(4)]])
    }

    @Test func `a decimal key is found by an equal number`() throws {
        let database = try StoreFixture(CompiledModel.of(Entity("Price", key: ["amount"], [.of("amount", .decimal)])))
        try database.add("Price", ["amount": .decimal("2.50")], ["amount": .decimal("10")])
        for (comparison, expected) in [(Comparison.equal, ["2.5"]), (.notEqual, ["10"]), (.greater, ["10"])] {
            let condition = Condition(field: "amount", comparison: comparison, value: "2.500")
            let rows = try database.store.rows(of: RowQuery("Price", where: [condition]))
            #expect(rows.map(\.key) == expected.map { [.decimal($0)] }, "\(comparison)")
        }
    }

    @Test func `a boolean is true or false`() throws {
        #expect(try ids("capital", .equal, "true") == [10])
        #expect(try ids("capital", .equal, "1") == [10])
        #expect(try ids("capital", .equal, "FALSE") == [2])
        #expect(try ids("capital", .notEqual, "true") == [2])
    }

    @Test func `null is asked for as null`() throws {
        #expect(try ids("capital", .equal, nil) == [3, 4])
        #expect(try ids("capital", .notEqual, nil) == [2, 10])
        #expect(try ids("twin", .equal, nil) == [2, 3, 4])
    }

    @Test func `all conditions must hold`() throws {
        #expect(
            try ids(
                Condition(field: "id", comparison: .greater, value: "2"),
                Condition(field: "name", comparison: .like, value: "o%"),
                Condition(field: "capital", comparison: .notEqual, value: nil)) == [10])
    }

    @Test(arguments: [
        "' OR 1=1 --", "\" OR 1=1 --", "x'); DROP TABLE City; --", "?", "?1", ":a", "NULL", "(SELECT name FROM City)",
        "O'Hara \"x\" % _\u{0}", "%",
    ])
    func `a value is never SQL`(_ value: String) throws {
        #expect(try ids("name", .equal, value).isEmpty)
        #expect(try ids() == [2, 3, 4, 10])
    }

    @Test func `quotes are ordinary letters`() throws {
        #expect(try ids("name", .equal, "O'Hara \"x\" % _") == [3])
        #expect(try ids("name", .like, "O'H%") == [3])
    }

    @Test(arguments: ["name\" OR 1=1 --", "rowid", "", "Name", "bmo_meta.value", "name; DROP TABLE City"])
    func `a field is one of the entity`(_ field: String) throws {
        let error = try storeError { _ = try ids(field, .equal, "x") }
        #expect(error.code == .request)
        #expect(
            error.description
                == "City has no field \"\(field)\"; there are: id, name, capital, height, price, founded, twin")
    }

    @Test(arguments: [
        ("id", "abc", "an integer"), ("id", "", "an integer"), ("id", "1 OR 1", "an integer"),
        ("height", "tall", "a number"), ("height", "nan", "a number"), ("capital", "yes", "true or false"),
        ("capital", "2", "true or false"), ("price", "much", "a number"), ("price", "nan", "a number"),
        ("twin", "Oslo", "an integer"),
        ("price", "1e1001", "a number of at most 1000 digits, with an exponent of at most 1000"),
        ("height", "1e309", "a number between -1.7e308 and 1.7e308"),
    ])
    func `a value fits its field`(field: String, value: String, wanted: String) throws {
        let error = try storeError { _ = try ids(field, .less, value) }
        #expect(error.code == .request)
        #expect(error.description == "City.\(field) is compared with \"\(value)\"; give \(wanted)")
    }

    @Test func `bytes are compared with base64, and another text is refused`() throws {
        let fixture = try StoreFixture(
            CompiledModel.of(Entity("File", key: ["hash"], [.of("hash", .data), .of("name", .text)])))
        try fixture.add("File", ["hash": .bytes([0, 1]), "name": "a"], ["hash": .bytes([104, 105]), "name": "b"])
        let layout = fixture.model.entities[0]
        #expect(try layout.keyValues(from: ["aGk="]) == [.bytes([104, 105])])
        let query = RowQuery("File", where: [Condition(field: "hash", comparison: .equal, value: "aGk=")])
        #expect(try fixture.store.rows(of: query).map(\.values) == [[.bytes([104, 105]), .text("b")]])
        let error = try storeError { _ = try layout.keyValues(from: ["h!"]) }
        #expect(error.description == "File.hash is compared with \"h!\"; give bytes in base64")
        let pattern = RowQuery("File", where: [Condition(field: "hash", comparison: .like, value: "a%")])
        let refusal = try storeError { _ = try fixture.store.rows(of: pattern) }
        #expect(refusal.code == .request)
        #expect(refusal.description.hasPrefix("File.hash has bytes, and `~` compares texts; give "))
    }

    @Test(arguments: [
        ("1", StoredValue.integer(1)), ("+01", .integer(1)), ("1.0", .integer(1)), ("10e-1", .integer(1)),
        ("9007199254740993.0", .integer(9_007_199_254_740_993)), ("1.5", .real(1.5)),
        ("9223372036854775808.0", .real(9_223_372_036_854_775_808)),
    ])
    func `a whole number is the same key in each form`(text: String, value: StoredValue) throws {
        #expect(try fixture.model.entities[0].keyValues(from: [text]) == [value])
    }

    @Test func `what the caller throws comes through`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) { try fixture.store.rows(of: RowQuery("City")) { _ in throw Stop() } }
        #expect(try ids().count == 4)
    }

    @Test func `a text may contain NUL`() throws {
        try fixture.add("City", ["id": 5, "name": "a\u{0}b"], ["id": 6, "name": "a"])
        #expect(try fixture.rows("City", .init(field: "name", comparison: .equal, value: "a\u{0}b")).count == 1)
        #expect(try ids("name", .equal, "a\u{0}b") == [5])
        #expect(try ids("name", .equal, "a") == [6])
        let query = RowQuery("City", where: [Condition(field: "id", comparison: .equal, value: "5")])
        #expect(try fixture.store.rows(of: query).last?.values[1] == .text("a\u{0}b"))
    }
}
