import Floor
import Foundation
import Importer
import Mapping
import Model
import RecordBatch
import SQLiteStore

/// One shape of rows, imported by both programs in turn.
struct Comparison {
    static let rows = 200_000
    static let page = 1_000

    let shape: Shape
    let model: CompiledModel

    init(_ shape: Shape) throws {
        self.shape = shape
        model = try CompiledModel(Model(entities: [shape.entity]))
    }

    func run(rounds: Int) throws {
        let batches = try stride(from: 0, to: Self.rows, by: Self.page).map { try shape.batch($0..<$0 + Self.page) }
        let floor = FloorInput(shape, rows: Self.rows, page: Self.page)
        let folder = try Folder()
        let own = folder.path + "/bmo.sqlite"
        let theirs = folder.path + "/floor.sqlite"
        var times: [String: [Double]] = [:]
        func measure(_ name: String, _ body: () throws -> Void) rethrows {
            let start = CPUClock.now
            try body()
            times[name, default: []].append(CPUClock.now - start)
        }
        for _ in 0..<rounds {
            folder.empty()
            // Both begin with the same empty tables.
            try SQLiteStore(path: theirs, model: model).close()
            let store = try SQLiteStore(path: own, model: model)
            try measure("floor cold") { try floor.run(theirs, floor_upsert, expecting: Int64(Self.rows)) }
            try measure("bmo cold") { try importAll(batches, into: store) }
            try measure("floor again") { try floor.run(theirs, floor_compare, expecting: 0) }
            try measure("bmo again") { try importAll(batches, into: store) }
            try store.close()
            try folder.compareTables(own, theirs)
        }
        for (what, name) in [("cold", "cold"), ("unchanged", "again")] {
            let floor = (times["floor \(name)"] ?? []).min() ?? 0
            let own = (times["bmo \(name)"] ?? []).min() ?? 0
            print(
                "| \(shape.name) | \(what) | \(perRow(floor)) | \(perRow(own)) | \(String(format: "%.2f", own / floor)) |"
            )
        }
    }

    func profile(rounds: Int, isCold: Bool) throws {
        let batches = try stride(from: 0, to: Self.rows, by: Self.page).map { try shape.batch($0..<$0 + Self.page) }
        let folder = try Folder()
        if !isCold { try importOnce(batches, folder) }
        for _ in 0..<rounds {
            if isCold { folder.empty() }
            try importOnce(batches, folder)
        }
    }

    private func importOnce(_ batches: [RecordBatch], _ folder: Folder) throws {
        let store = try SQLiteStore(path: folder.path + "/bmo.sqlite", model: model)
        try importAll(batches, into: store)
        try store.close()
    }

    private func importAll(_ batches: [RecordBatch], into store: SQLiteStore) throws {
        let mapper = Mapper(model)
        // As `bmo sync` does: what the run changes is recorded.
        try store.beginRun(kind: "benchmark")
        defer { _ = try? store.endRun(outcome: "finished", summary: "{}", always: false, keeping: .forever) }
        for (index, batch) in batches.enumerated() {
            let page = try PageImport(
                0, of: model, from: PageImport.Origin(bridge: "memory", page: index + 1), into: store)
            try page.add(MappedBatch(batch, by: mapper, as: 0), location: nil)
            try page.commit(progress: nil)
        }
    }

    private func perRow(_ seconds: Double) -> String { String(format: "%.2f", seconds / Double(Self.rows) * 1e6) }
}

/// The rows as the floor wants them.
final class FloorInput {
    private var cells: [floor_cell] = []
    private var names: [UnsafePointer<CChar>?] = []
    private let table = strdup("Row")
    private let rows: Int
    private let page: Int

    init(_ shape: Shape, rows: Int, page: Int) {
        self.rows = rows
        self.page = page
        names = shape.attributes.map { UnsafePointer(strdup($0.name)) }
        cells.reserveCapacity(rows * names.count)
        for row in 0..<rows {
            for column in names.indices {
                var cell = floor_cell()
                switch shape.value(column, row) {
                case .integer(let value): (cell.kind, cell.value.integer) = (Int32(FLOOR_INTEGER), value)
                case .bool(let value): (cell.kind, cell.value.integer) = (Int32(FLOOR_INTEGER), value ? 1 : 0)
                case .real(let value): (cell.kind, cell.value.real) = (Int32(FLOOR_REAL), value)
                case .text(let value):
                    (cell.kind, cell.value.length) = (Int32(FLOOR_TEXT), value.utf8.count)
                    cell.text = UnsafePointer(strdup(value))
                }
                cells.append(cell)
            }
        }
    }

    func run(
        _ path: String, _ body: (UnsafePointer<CChar>, UnsafePointer<floor_input>) -> Int64, expecting count: Int64
    ) throws {
        let written = cells.withUnsafeBufferPointer { cells in
            names.withUnsafeBufferPointer { names in
                var input = floor_input(
                    table: table, names: names.baseAddress, columns: names.count, cells: cells.baseAddress, rows: rows,
                    rows_per_transaction: page)
                return body(path, &input)
            }
        }
        guard written == count else { throw Failure("the floor wrote \(written) rows, not \(count)") }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The processor time of this process: what else the machine does counts less than on a wall clock.
enum CPUClock {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A folder for databases, removed at the end.
final class Folder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "bmo-benchmark-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func empty() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    /// - Throws: ``Failure`` when the two files' tables `Row` differ.
    func compareTables(_ one: String, _ other: String) throws {
        let sqlite = Process()
        sqlite.executableURL = URL(filePath: "/usr/bin/env")
        sqlite.arguments = [
            "sqlite3", one, "ATTACH '\(other)' AS other",
            "SELECT (SELECT count(*) FROM Row), (SELECT count(*) FROM (SELECT * FROM Row EXCEPT SELECT * FROM other.Row))",
        ]
        let pipe = Pipe()
        sqlite.standardOutput = pipe
        try sqlite.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        sqlite.waitUntilExit()
        guard output == "\(Comparison.rows)|0\n" else { throw Failure("the databases differ: \(output)") }
    }
}
