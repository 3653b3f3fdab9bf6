import Synchronization

/// The tests' PostgreSQL server behind a program that refuses what another engine does not have; see
/// Tests/Servers/postgres-engine.py.
package enum PostgreSQLEngine: String, CaseIterable, Sendable {
    case citusSchema = "citus-schema"
    case citusDistributed = "citus-distributed"
    case cockroachdb, yugabytedb

    private static let servers = Mutex<[String: RemoteServer]>([:])

    /// Returns the port of the program that stands for an engine, which all tests of a process share.
    ///
    /// - Parameter flag: a file; when it exists, the answer of the next COMMIT is lost with its connection, and the file
    ///   is removed.
    package static func port(_ engine: String, losing flag: String = "") throws -> Int {
        let folder = try PostgreSQLServer.shared.get().folder.path
        return try servers.withLock { servers in
            if let server = servers[engine + flag] { return server.port }
            let server = try RemoteServer(
                blocking: ["python3", "-u", "-B", RemoteServer.script("postgres-engine.py"), engine, folder, flag])
            servers[engine + flag] = server
            return server.port
        }
    }

    /// Returns an address with a schema that no other test uses; the schema's name ends it.
    ///
    /// The engines of Citus are named by the address, as only Citus has the tables by which they are found.
    package func newLocation() throws -> String {
        let schema = PostgreSQLServer.schema(of: try PostgreSQLServer.shared.get().newLocation())
        let engine = rawValue.hasPrefix("citus") ? "engine=\(rawValue)&" : ""
        return
            "postgresql://\(PostgreSQLServer.user)@127.0.0.1:\(try Self.port(rawValue))/postgres?\(engine)schema=\(schema)"
    }
}
