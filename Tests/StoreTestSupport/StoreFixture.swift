package import ImportTestSupport
package import Importer
package import Mapping
package import Model
package import StoreContract
package import TestSupport
package import Testing

/// A database in a folder of its own, seen by the store and by another program.
package final class StoreFixture {
    /// The model that the file is open with.
    package private(set) var model: CompiledModel
    private let original: CompiledModel
    package let place: StorePlace
    package var folder: TemporaryFolder { place.folder }
    package var path: String { place.location }
    package private(set) var store: any Store

    /// - Parameters:
    ///   - kind: the kind of store; default: that of the suite, or SQLite.
    ///   - location: where the database is; default: a place of its own.
    package init(_ model: CompiledModel, kind: StoreKind = .current, location: String? = nil) throws {
        self.model = model
        original = model
        place = try StorePlace(kind, location: location)
        store = try place.open(model)
    }

    /// Another connection to the file, for tests of SQLite.
    package func file() throws -> SQLiteFile { try SQLiteFile(path) }

    /// Columns of a table's rows, by key; all without names.
    package func table(_ name: String, _ columns: String...) throws -> [[String]] {
        guard let table = try place.stores.contents(of: path).first(where: { $0.name == name }) else { return [] }
        let places = columns.isEmpty ? Array(table.columns.indices) : columns.compactMap(table.columns.firstIndex)
        return table.rows.map { row in places.map { row[$0].literal } }
    }

    /// What is wrong with the database.
    package func faults() throws -> [String] { try place.faults(model) }

    /// The stubs of all entities.
    package func stubs() throws -> [String] {
        try model.entities.flatMap { layout in try store.stubs(of: layout.name).map { "\(layout.name) \($0)" } }
    }

    /// Imports a page and returns the counts of its entity.
    @discardableResult
    package func add(
        _ entity: String, _ records: Literal..., page: Int = 1, progress: ScanProgress? = nil
    ) throws -> ImportCounts.Entity {
        let index = try #require(model.index(of: entity))
        let page = try begin(entity, page: page)
        do {
            try page.add(try Literal.batch(records), location: nil)
            try page.commit(progress: progress)
        } catch {
            page.rollback()
            throw error
        }
        return page.counts[index]
    }

    /// Begins a page that the caller ends.
    package func begin(_ entity: String, page: Int = 1) throws -> PageImport {
        try PageImport(
            try #require(model.index(of: entity)), of: model, from: PageImport.Origin(bridge: "remote", page: page),
            into: store)
    }

    /// Closes the store and opens the file again, maybe with another model than the first.
    package func reopen(_ model: CompiledModel? = nil) throws {
        try store.close()
        self.model = model ?? original
        store = try place.open(self.model)
    }

    /// The rows that meet the conditions, a line each.
    package func rows(_ entity: String, _ conditions: LocalCondition..., limit: Int? = nil) throws -> [String] {
        try store.rows(of: RowQuery(entity, where: conditions, limit: limit)).map { row in
            row.values.map(\.literal).joined(separator: " ")
        }
    }
}

extension Store {
    /// The number of an entity's stubs.
    package func stubCount(of entity: String) throws -> Int { try stubs(of: entity).count }

    /// All runs that are kept, newest first.
    package func runs() throws -> [RunRecord] { try runs(id: nil, limit: nil) }

    /// Removes all quarantined records of an entity that a scan begun at `instant` did not list again.
    package func releaseQuarantine(of entity: String, notSeenSince instant: String) throws {
        try releaseQuarantine(of: entity, notSeenSince: instant) { _ in true }
    }
}

/// The error that a store gives.
package func storeError(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> StoreError {
    try #require(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
}
