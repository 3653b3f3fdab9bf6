import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import StoreTestSupport
import TestSupport
import Testing

/// A database in a folder of its own, seen by the store and by another program.
final class StoreFixture {
    /// The model that the file is open with.
    private(set) var model: CompiledModel
    private let original: CompiledModel
    let place: StorePlace
    var folder: TemporaryFolder { place.folder }
    var path: String { place.location }
    private(set) var store: any Store

    init(_ model: CompiledModel) throws {
        self.model = model
        original = model
        place = try StorePlace(StoreKind.current)
        store = try place.open(model)
    }

    /// Another connection to the file, for tests of SQLite.
    func file() throws -> SQLiteFile { try SQLiteFile(path) }

    /// Columns of a table's rows, by key; all without names.
    func table(_ name: String, _ columns: String...) throws -> [[String]] {
        guard let table = try place.stores.contents(of: path).first(where: { $0.name == name }) else { return [] }
        let places = columns.isEmpty ? Array(table.columns.indices) : columns.compactMap(table.columns.firstIndex)
        return table.rows.map { row in places.map { row[$0].literal } }
    }

    /// What is wrong with the database.
    func faults() throws -> [String] { try place.faults(model) }

    /// The stubs of all entities.
    func stubs() throws -> [String] {
        try model.entities.flatMap { layout in try store.stubs(of: layout.name).map { "\(layout.name) \($0)" } }
    }

    /// Imports a page and returns the counts of its entity.
    @discardableResult
    func add(
        _ entity: String, _ records: RemoteValue..., page: Int = 1, progress: ScanProgress? = nil
    ) throws -> ImportCounts.Entity {
        let index = try #require(model.index(of: entity))
        let page = try begin(entity, page: page)
        do {
            try page.add(try RemoteValue.batch(records), location: nil)
            try page.commit(progress: progress)
        } catch {
            page.rollback()
            throw error
        }
        return page.counts[index]
    }

    /// Begins a page that the caller ends.
    func begin(_ entity: String, page: Int = 1) throws -> PageImport {
        try PageImport(
            try #require(model.index(of: entity)), of: model, from: PageImport.Origin(bridge: "remote", page: page),
            into: store)
    }

    /// Closes the store and opens the file again, maybe with another model than the first.
    func reopen(_ model: CompiledModel? = nil) throws {
        try store.close()
        self.model = model ?? original
        store = try place.open(self.model)
    }

    /// The rows that meet the conditions, a line each.
    func rows(_ entity: String, _ conditions: LocalCondition..., limit: Int? = nil) throws -> [String] {
        var lines: [String] = []
        try store.rows(of: try #require(model.index(of: entity)), where: conditions, limit: limit) { row in
            lines.append(row.map(\.literal).joined(separator: " "))
        }
        return lines
    }
}

extension Store {
    /// The number of an entity's stubs.
    func stubCount(of entity: String) throws -> Int { try stubs(of: entity).count }

    /// All runs that are kept, newest first.
    func runs() throws -> [RunRecord] { try runs(id: nil, limit: nil) }

    /// Removes all quarantined records of an entity that a scan begun at `instant` did not list again.
    func releaseQuarantine(of entity: String, notSeenSince instant: String) throws {
        try releaseQuarantine(of: entity, notSeenSince: instant) { _ in true }
    }
}

/// The error that a store gives.
func storeError(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> StoreError {
    try #require(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
}
