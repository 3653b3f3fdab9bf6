internal import ImportTestSupport
package import Importer
internal import Mapping
internal import Model
package import RecordBatch
package import StoreContract
package import TestSupport
internal import Testing

/// A database with a listing that a test imports as a whole, as scans do.
package final class ItemListing {
    package let fixture: StoreFixture
    private let item: Int

    /// - Parameter location: where the database is; default: a place of its own.
    package init(kind: StoreKind = .current, location: String? = nil) throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity("Item", key: ["id"], [.of("id", .integer), .of("name", .text), .of("note", .text)]),
                Entity("Order", key: ["id"], [.of("id", .integer)], [.one("item", "Item")])
            ), kind: kind, location: location)
        item = try #require(fixture.model.index(of: "Item"))
    }

    package static func items(_ numbers: some Sequence<Int>, name: String = "item") -> [Literal] {
        numbers.map { ["id": .integer(Int64($0)), "name": .text("\(name) \($0)"), "note": nil] }
    }

    package static let batches = [items(1...1000), items(1001...2000), items(2001...3000)]

    /// Imports a whole listing as a scan does; returns which batches were repeated, and the counts.
    ///
    /// - Parameters:
    ///   - deleted: the objects that the last page reports as deleted.
    ///   - between: called after the first page.
    package func sync(
        _ batches: [[Literal]], mapping: String = "mapping", deleted: [Literal] = [], between: () throws -> Void = {}
    ) throws -> (repeated: [Int], counts: ImportCounts.Entity) {
        try scan(mapping: mapping) { memory in
            var repeated: [Int] = []
            var counts = ImportCounts(entityCount: fixture.model.entities.count)
            for (index, records) in batches.enumerated() {
                if index == 1 { try between() }
                // As in a sync, which looks batches up before their page begins.
                let batch = try Literal.batch(records)
                let summary = memory?.summary(of: batch.digest)
                let page = try beginPage(index + 1)
                if let summary, try page.repeatBatch(batch.digest, summary) {
                    repeated.append(index)
                } else {
                    try add(batch, to: page)
                }
                if index == batches.count - 1, !deleted.isEmpty {
                    let objects = MappedBatch(
                        try Literal.batch(deleted), by: Mapper(fixture.model), as: item, extent: .whole)
                    try page.delete(objects, location: nil)
                }
                if index < batches.count - 1 {
                    try page.commit(progress: ScanProgress(cursor: "\(index)", page: index + 1, request: "r"))
                } else {
                    _ = try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil)))
                }
                counts += page.counts
            }
            return (repeated, counts[item])
        }
    }

    private var target: ScanTarget { ScanTarget(scope: ScanScope(entity: "Item"), entity: item) }

    /// Runs `body` as a scan.
    package func scan<Result>(
        mapping: String = "mapping", _ body: ((any BatchMemory)?) throws -> Result
    ) throws -> Result {
        let store = fixture.store
        try store.beginRun(kind: "sync")
        defer { _ = try? store.endRun(outcome: "finished", summary: nil, always: false) }
        try store.beginScan(target.scope, afterPage: nil)
        defer { store.endScan(target.scope) }
        return try body(store.batchMemory(of: target, mapping: mapping))
    }

    /// Begins a page of the scan.
    package func beginPage(_ number: Int) throws -> PageImport {
        try PageImport(
            item, of: fixture.model, from: PageImport.Origin(bridge: "remote", page: number, scan: target),
            into: fixture.store)
    }

    /// Merges a batch, and remembers it.
    package func add(_ batch: RecordBatch, to page: PageImport) throws {
        let mapper = Mapper(fixture.model)
        mapper.reportsMembersOfEachBatch = true
        let mapped = MappedBatch(batch, by: mapper, as: item, extent: .whole)
        try page.add(
            mapped, location: nil, remembered: mapped.summary(of: item, absenceContext: 0).map { (batch.digest, $0) })
    }

    /// The names of some objects, by their numbers.
    package func names(_ numbers: Int...) throws -> [String] {
        let rows = try fixture.table("Item", "id", "name")
        return numbers.compactMap { number in rows.first { $0[0] == "\(number)" }?[1] }
    }

    /// The number of objects.
    package func count() throws -> Int { try fixture.table("Item", "id").count }

    /// Lets another program run a statement, in which `{Item}` stands for the table.
    package func run(_ statement: String) throws {
        guard fixture.place.kind == .postgresql else {
            try fixture.file().rows(statement.replacing("{Item}", with: "Item"))
            return
        }
        let schema = PostgreSQLServer.schema(of: fixture.path)
        _ = try PostgreSQLServer.shared.get().rows(statement.replacing("{Item}", with: "\(schema).\"Item\""))
    }
}
