import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import SQLiteStore
import TestLiterals

/// What is imported, and what must be in the file afterwards.
struct Scenario {
    let model: CompiledModel
    /// How many records a page has.
    private let size: Int

    init(size: Int = 20) throws {
        self.size = size
        model = try .of(
            Entity(
                "Country", key: ["code"], [.of("code", .text), .of("name", .text), .of("size", .integer)],
                [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
            Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")]),
            Entity("Language", key: ["code"], [.of("code", .text)]))
    }

    /// Rows that change, rows that are new, rows that stay, stubs, links that move, and a record for quarantine.
    private func records(ofPage number: Int) -> [Literal] {
        (0..<size).map { index in
            let cities: [Literal] = (0..<3).map { city in
                let id = Literal.integer(Int64(index * 4 + city + number))
                return city == 0 ? id : ["id": id, "name": .text("city \(city) of \(number)")]
            }
            let languages: [Literal] = (0..<3).map { .text("l\(($0 * number + index) % 7)") }
            return [
                "code": .text("c\(index + number * size / 4)"),
                "name": .text(String(repeating: "name \(number) ", count: 20)),
                "size": index == 1 ? "not a number" : .integer(Int64(index % 4)), "cities": .array(cities),
                "languages": .array(languages),
            ]
        }
    }

    func add(_ number: Int, to store: SQLiteStore) throws {
        let page = try PageImport(
            0, of: model, from: PageImport.Origin(bridge: "remote", page: number), into: store)
        do {
            let records = self.records(ofPage: number)
            try page.add(try Literal.batch(Array(records[..<(size / 2)])), location: "first half")
            try page.add(try Literal.batch(Array(records[(size / 2)...])), location: "second half")
            try page.commit(progress: ScanProgress(cursor: "after \(number)", page: number, request: "all"))
        } catch {
            page.rollback()
            throw error
        }
    }

    /// A new object, others that refer to it, and one that goes.
    func edit(_ store: SQLiteStore) throws {
        let city = try store.edit([
            LocalEdit(.create, entity: "City", values: ["name": .text("new"), "country": .text(country(0))]),
            LocalEdit(
                .update, entity: "Country", key: [.text(country(2))], values: ["name": .text("edited")],
                links: ["languages": [[.text("l1")]]]),
            LocalEdit(.update, entity: "City", key: [.integer(10)], values: ["country": .text(country(0))]),
            LocalEdit(.delete, entity: "Country", key: [.text(country(3))]),
        ])
        guard city.count == 4, city[0].key == [.integer(-1)] else { throw Violation("the edits are others: \(city)") }
    }

    /// The remote's answer to the first of these edits, with a key that a sync has brought already.
    func answer(to store: SQLiteStore) throws {
        let page = try PageImport(
            1, of: model, from: PageImport.Origin(bridge: "remote", page: 1), into: store)
        do {
            try page.acknowledge(1, key: [.integer(2)])
            try page.add(try Literal.batch([["id": 2, "name": "new"]]), location: "answer")
            try page.commitKeepingProgress()
        } catch {
            page.rollback()
            throw error
        }
    }

    private func country(_ index: Int) -> String { "c\(index + size / 4)" }

    /// All that is written, without times; empty while there are no tables.
    func contents(of path: String) throws -> [String] {
        let file = try SQLiteFile(path)
        let tables = [
            "Country", "City", "Language", "Country_languages", "bmo_stubs",
            "(SELECT entity, page, record, reason, representation FROM bmo_quarantine)",
            "(SELECT entity, cursor, page, request FROM bmo_progress)",
            "(SELECT id, key, operation, changes, base, state, depends_on, is_temporary FROM bmo_outbox)",
        ]
        guard try file.value("SELECT count(*) FROM sqlite_schema WHERE name = 'Country'") == "1" else { return [] }
        return try tables.flatMap { table in
            try file.rows("SELECT * FROM \(table)").map { "\(table.prefix(30)): " + $0.joined(separator: " | ") }
                .sorted()
        }
    }

    /// What SQLite finds wrong with the file.
    func faults(of path: String) throws -> [String] { try SQLiteFile(path).faults() }
}

struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
