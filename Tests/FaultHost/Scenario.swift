import ImportTestSupport
import Importer
import Mapping
import Model
import RecordBatch
import SQLiteStore

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
    private func records(ofPage number: Int) -> [RemoteValue] {
        (0..<size).map { index in
            let cities: [RemoteValue] = (0..<3).map { city in
                let id = RemoteValue.int(Int64(index * 4 + city + number))
                return city == 0 ? id : ["id": id, "name": .text("city \(city) of \(number)")]
            }
            let languages: [RemoteValue] = (0..<3).map { .text("l\(($0 * number + index) % 7)") }
            return [
                "code": .text("c\(index + number * size / 4)"),
                "name": .text(String(repeating: "name \(number) ", count: 20)),
                "size": index == 1 ? "not a number" : .int(Int64(index % 4)), "cities": .array(cities),
                "languages": .array(languages),
            ]
        }
    }

    func add(_ number: Int, to store: SQLiteStore) throws {
        let page = try PageImport(
            0, of: model, from: PageImport.Origin(bridge: "remote", page: number), mapper: Mapper(model), into: store)
        do {
            let records = self.records(ofPage: number)
            try page.add(try RemoteValue.batch(Array(records[..<(size / 2)])), location: "first half")
            try page.add(try RemoteValue.batch(Array(records[(size / 2)...])), location: "second half")
            try page.commit(progress: WalkProgress(cursor: "after \(number)", page: number, request: "all"))
        } catch {
            page.rollback()
            throw error
        }
    }

    /// All that a page writes, without times; empty while there are no tables.
    func contents(of path: String) throws -> [String] {
        let file = try SQLiteFile(path)
        let tables = [
            "Country", "City", "Language", "Country_languages", "bmo_stubs",
            "(SELECT entity, page, record, reason, representation FROM bmo_quarantine)",
            "(SELECT entity, cursor, page, request FROM bmo_progress)",
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
