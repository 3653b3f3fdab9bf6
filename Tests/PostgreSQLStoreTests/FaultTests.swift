import Foundation
import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Bad days of a server: each ends with a clear error, and nothing is half written.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct FaultTests {
    private let fixture: StoreFixture

    private static func model() throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)]))
    }

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("City", ["id": 1, "name": "Oslo"])
    }

    private func change(_ statements: String) throws {
        _ = try fixture.server.rows(statements.replacing("%", with: fixture.schema))
    }

    private func refusal(
        _ location: String, for use: StoreUse = .writing, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws -> StoreError {
        try #require(throws: StoreError.self, sourceLocation: sourceLocation) {
            try PostgreSQLStores().open(location, model: Self.model(), for: use).close()
        }
    }

    @Test func `a column that another program dropped is named, and a sync adds it again`() throws {
        try change(#"ALTER TABLE %."City" DROP COLUMN name"#)
        let error = try storeError { try fixture.add("City", ["id": 2, "name": "Bergen"]) }
        #expect(error.code == .schema && error.message.contains("name"), "\(error)")
        #expect(error.remedy?.contains("`bmo migrate`") == true)
        let reading = try refusal(fixture.path, for: .reading(entities: nil))
        #expect(reading.code == .schema && reading.message.contains("City.name"), "\(reading)")
        #expect(try fixture.lines("City") == ["1"], "nothing is half written")
        try fixture.reopen()
        try fixture.add("City", ["id": 2, "name": "Bergen"])
        #expect(try fixture.lines("City") == ["1 null", "2 'Bergen'"])
    }

    @Test func `a role without rights is refused, and one that may read can read`() throws {
        try change(
            """
            CREATE ROLE % LOGIN; CREATE ROLE %_reader LOGIN; GRANT USAGE ON SCHEMA % TO %_reader;
            GRANT SELECT ON ALL TABLES IN SCHEMA % TO %_reader
            """)
        let address = try fixture.server.location().replacing("//bmo@", with: "//\(fixture.schema)@")
        for location in [address + "?schema=\(fixture.schema)_new", address + "?schema=\(fixture.schema)"] {
            let error = try refusal(location)
            #expect(error.code == .open && error.message.contains("permission denied"), "\(error)")
            #expect(error.remedy?.contains("grant the role") == true)
        }
        let reader = try fixture.server.location("schema=\(fixture.schema)")
            .replacing("//bmo@", with: "//\(fixture.schema)_reader@")
        let store = try PostgreSQLStores().open(reader, model: Self.model(), for: .reading(entities: nil))
        #expect(try store.rows(of: RowQuery("City")).count == 1)
        try store.close()
    }

    @Test func `a server before version 14, an unknown engine and an unknown layout are refused`() throws {
        let port = try PostgreSQLEngine.port("postgresql-13")
        let old = try refusal("postgresql://bmo@127.0.0.1:\(port)/postgres?schema=old")
        #expect(old.code == .open && old.message.contains("the server has version 13"), "\(old)")
        #expect(old.remedy == "use PostgreSQL 14 or later")
        let engine = try refusal(fixture.server.location("engine=cockroach"))
        #expect(engine.remedy?.contains("did you mean \"cockroachdb\"?") == true, "\(engine)")
        let layout = try refusal(fixture.server.location("layout=spread"))
        #expect(layout.message.contains("layout=spread") && layout.remedy?.contains("distributed") == true, "\(layout)")
    }

    @Test func `a page is written again after the server has restarted in its middle`() throws {
        let server = try PostgreSQLServer()
        let fixture = try StoreFixture(overPostgreSQL: Self.model(), on: server)
        let schema = fixture.schema
        let done = server.folder.appending("done")
        // The server ends all sessions and recovers when one of its processes is killed.
        _ = try server.rows(
            """
            CREATE FUNCTION \(schema).restart() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; test -e \(done) || { touch \(done); kill -9 '
                    || pg_backend_pid() || '; }');
                RETURN NEW;
            END $$;
            CREATE TRIGGER restart BEFORE INSERT ON \(schema)."City" FOR EACH ROW EXECUTE FUNCTION \(schema).restart()
            """)
        let error = try storeError { try fixture.add("City", ["id": 1, "name": "Oslo"]) }
        #expect(error.isTransient, "\(error)")
        // As an import does with a page that failed for a transient reason.
        _ = try TransientRetry(tries: 8, firstPause: 100).run { try fixture.add("City", ["id": 1, "name": "Oslo"]) }
        #expect(try server.rows(#"SELECT * FROM \#(schema)."City""#) == ["1|Oslo"])
        server.stop()
    }

    @Test(.enabled(if: TemporaryFolder.canMount, "needs the right to mount"))
    func `a full disk is reported, and the sync goes on when there is room`() throws {
        let server = try PostgreSQLServer(disk: "6m")
        _ = try server.rows(
            """
            CREATE TABLESPACE small LOCATION '\(server.folder.path)/disk'
            """)
        _ = try server.rows("ALTER ROLE bmo SET default_tablespace = small")
        _ = try server.rows("CREATE TABLE filler AS SELECT repeat('x', 2000) FROM generate_series(1, 900)")
        let fixture = try StoreFixture(overPostgreSQL: Self.model(), on: server)
        func page(_ number: Int64) throws {
            // Random text, as the server compresses long values.
            let text = (0..<3_000).map { _ in UUID().uuidString }.joined()
            try fixture.add("City", ["id": .integer(number), "name": .text(text)])
        }
        var written: Int64 = 0
        let error = try storeError {
            while written < 200 {
                try page(written + 1)
                written += 1
            }
        }
        #expect(error.code == .io && error.message.contains("No space left on device"), "\(error)")
        #expect(error.remedy?.contains("the server's disk is full") == true)
        #expect(try server.rows(#"SELECT count(*) FROM \#(fixture.schema)."City""#) == ["\(written)"])
        _ = try server.rows("DROP TABLE filler")
        try page(written + 1)
        #expect(try server.rows(#"SELECT max(id) FROM \#(fixture.schema)."City""#) == ["\(written + 1)"])
        server.stop()
    }

    @Test(.enabled(if: PGBouncer.isInstalled, "pgbouncer is not installed: Scripts/install test"))
    func `a pooler in transaction mode is refused with what to change, and one in session mode works`() async throws {
        let server = try PostgreSQLServer.shared.get()
        for mode in ["transaction", "session"] {
            let pooler = try await PGBouncer(before: server, mode: mode)
            let location = "postgresql://bmo@127.0.0.1:\(pooler.port)/postgres?schema=\(fixture.schema)"
            func work() throws -> StoreError? {
                do {
                    guard
                        case .taken(let lock) = try PostgreSQLStores().attemptLock(
                            location, for: .writing, command: "test")
                    else { return StoreError(.busy, "held") }
                    let store = try PostgreSQLStores().open(location, model: Self.model(), for: .writing)
                    store.keep(lock)
                    defer { try? store.close() }
                    #expect(try store.rows(of: RowQuery("City")).count == 1)
                    return nil
                } catch {
                    return error as? StoreError
                }
            }
            let error = try work()
            if mode == "session" {
                #expect(error == nil)
            } else {
                #expect(
                    error?.code == .open && error?.remedy?.contains("pool_mode = session") == true, "\(error as Any)")
            }
        }
    }
}

/// Debian's pooler, in front of the tests' server.
private final class PGBouncer {
    static let program = "/usr/sbin/pgbouncer"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private let server: RemoteServer
    var port: Int { server.port }

    init(before database: PostgreSQLServer, mode: String) async throws {
        let port = try FreePort.find()
        let settings = """
            [databases]
            * = host=\(database.folder.path) user=\(PostgreSQLServer.user)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode)
            ignore_startup_parameters = extra_float_digits
            """
        // As root it does not run.
        let script = """
            mv settings pgbouncer.ini && chmod 644 pgbouncer.ini && chmod 755 . || exit
            as=()
            if [ "$(id -u)" = 0 ]; then as=(setpriv --reuid=nobody --regid=nogroup --clear-groups); fi
            (
                for i in {1..200}; do (exec 3<>/dev/tcp/127.0.0.1/\(port)) 2>/dev/null && break; sleep 0.05; done
                echo "port \(port)"
            ) &
            exec "${as[@]}" \(Self.program) -q "$PWD/pgbouncer.ini"
            """
        server = try await RemoteServer(["bash", "-c", script], files: ["settings": settings])
    }
}
