import Foundation
import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import TestSupport
import Testing

/// Addresses and servers that cannot be used: each error names the place and a remedy, and never the password.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct ConnectionTests {
    private func error(
        _ location: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws -> StoreError {
        let model = try CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)]))
        return try #require(throws: StoreError.self, sourceLocation: sourceLocation) {
            _ = try PostgreSQLStores().open(location, model: model, for: .writing)
        }
    }

    @Test func `a server that does not answer is named`() throws {
        let error = try error("postgresql://bmo@%2Fnonexistent/crm?schema=people")
        #expect(error.code == .io)
        #expect(error.message.contains("PostgreSQL at /nonexistent, database crm, schema people: connecting"))
        #expect(error.remedy?.contains("check that the server is running") == true)
    }

    @Test func `the scheme of an address may be in capitals`() throws {
        #expect(PostgreSQLStores.isLocation("PostgreSQL://host/crm") && !PostgreSQLStores.isLocation("postgresql:/crm"))
        let error = try error("POSTGRESQL://bmo@%2Fnonexistent/crm?schema=people")
        #expect(error.message.contains("PostgreSQL at /nonexistent, database crm, schema people: connecting"))
    }

    @Test(arguments: ["connect_timeout=soon", "sslmode=verify-all", "target_session_attrs=first"])
    func `an option that libpq does not know is not taken for a missing server`(_ option: String) throws {
        let server = try PostgreSQLServer.shared.get()
        let error = try error(server.location(option))
        #expect(error.code == .open && error.message.contains(String(option.split(separator: "=")[0])), "\(error)")
        #expect(error.remedy?.hasPrefix("correct the option in the database address") == true)
    }

    @Test func `a server that is not the wanted one is not taken for a missing one`() throws {
        let server = try PostgreSQLServer.shared.get()
        let error = try error(server.location("target_session_attrs=standby"))
        #expect(error.code == .open && error.remedy?.contains("target_session_attrs") == true, "\(error)")
    }

    @Test func `a database that does not exist is named`() throws {
        let server = try PostgreSQLServer.shared.get()
        let error = try error(server.location().replacing("/postgres", with: "/nothing"))
        #expect(error.code == .open)
        #expect(error.message.contains("database nothing"))
        #expect(error.remedy == "create the database: createdb NAME")
    }

    @Test func `an unknown user is refused without the password`() throws {
        setenv("BMO_TEST_PG_PASSWORD", "s3cret/%", 1)
        let server = try PostgreSQLServer.shared.get()
        let error = try error(
            server.location().replacing("postgresql://bmo@", with: "postgresql://stranger:{env:BMO_TEST_PG_PASSWORD}@"))
        #expect(error.code == .open)
        #expect(error.message.contains("role \"stranger\" does not exist"))
        #expect(!error.description.contains("s3cret"))
    }

    @Test func `a missing variable is named`() throws {
        let error = try error("postgresql://a:{env:BMO_TEST_NO_SUCH_VARIABLE}@localhost/crm")
        #expect(error.code == .open)
        #expect(error.message.contains("BMO_TEST_NO_SUCH_VARIABLE is not set"))
    }

    @Test func `a remote server must prove its name`() throws {
        // A name below .invalid (RFC 2606) resolves nowhere: the error only shows that the address was understood.
        let error = try error("postgresql://a@db.invalid/crm?connect_timeout=2")
        #expect(error.code == .io)
        #expect(error.message.contains("db.invalid"))
        let unknown = try self.error("postgresql://a@localhost/crm?sslmode=verify-all&connect_timeout=2")
        #expect(unknown.message.contains("sslmode"))
    }

    @Test(arguments: ["pg_catalog", "information_schema", String(repeating: "s", count: 64)])
    func `a schema that bmo cannot have is refused`(_ schema: String) throws {
        let server = try PostgreSQLServer.shared.get()
        let error = try error(server.location("schema=\(schema)"))
        #expect(error.message.contains("schema \"\(schema)\""))
    }
}
