import ImportTestSupport
import Importer
import Mapping
import Model
import PostgreSQLStore
import RecordBatch
import StoreContract
import TestSupport
import Testing

/// A store over a schema of its own.
struct SchemaFixture {
    let model: CompiledModel
    let server: PostgreSQLServer
    let location: String
    let store: any Store

    /// The name of the schema.
    var schema: String { String(location.split(separator: "=").last ?? "") }

    init(_ model: CompiledModel, on server: PostgreSQLServer? = nil) throws {
        self.model = model
        self.server = try server ?? PostgreSQLServer.shared.get()
        location = self.server.newLocation()
        store = try PostgreSQLStores().open(location, model: model, for: .writing)
    }

    /// Imports a page of an entity's records; returns the number of quarantined records.
    @discardableResult
    func add(_ entity: String, _ records: RemoteValue...) throws -> ImportCounts.Entity {
        let index = try #require(model.index(of: entity))
        let page = try PageImport(
            index, of: model, from: PageImport.Origin(bridge: "remote", page: 1), into: store)
        do {
            try page.add(try RemoteValue.batch(records), location: nil)
            try page.commit(progress: nil)
        } catch {
            page.rollback()
            throw error
        }
        return page.counts[index]
    }

    /// A table's rows, as the store reads them.
    func table(_ name: String) throws -> [String] {
        try PostgreSQLStores().contents(of: location).first { $0.name == name }?.rows.map {
            $0.map(\.literal).joined(separator: " ")
        } ?? []
    }
}
