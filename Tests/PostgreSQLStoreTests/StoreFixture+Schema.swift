import Mapping
import StoreTestSupport
import TestSupport

extension StoreFixture {
    /// A store over a schema of its own.
    convenience init(overPostgreSQL model: CompiledModel, on server: PostgreSQLServer? = nil) throws {
        let server = try server ?? PostgreSQLServer.shared.get()
        try self.init(model, kind: .postgresql, location: server.newLocation())
    }

    /// The name of the schema.
    var schema: String { PostgreSQLServer.schema(of: path) }

    /// The server that all tests share.
    var server: PostgreSQLServer { get throws { try PostgreSQLServer.shared.get() } }

    /// A table's rows, as the store reads them.
    func lines(_ name: String) throws -> [String] { try table(name).map { $0.joined(separator: " ") } }
}
