import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import SQLiteStore
import TestSupport
import Testing

/// A database in a folder of its own, seen by the store and by another program.
final class StoreFixture {
    /// The model that the file is open with.
    private(set) var model: CompiledModel
    private let original: CompiledModel
    let folder: TemporaryFolder
    let path: String
    private(set) var store: SQLiteStore

    init(_ model: CompiledModel) throws {
        self.model = model
        original = model
        folder = try TemporaryFolder()
        path = folder.appending("bmo.sqlite")
        store = try SQLiteStore(path: path, model: model)
    }

    /// Another connection to the file.
    func file() throws -> SQLiteFile { try SQLiteFile(path) }

    /// Imports a page and returns the counts of its entity.
    @discardableResult
    func add(
        _ entity: String, _ records: RemoteValue..., page: Int = 1, progress: WalkProgress? = nil
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
        store = try SQLiteStore(path: path, model: self.model)
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

/// The error that a store gives.
func storeError(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
) throws -> StoreError {
    try #require(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
}
