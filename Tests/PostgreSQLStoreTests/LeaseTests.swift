import Foundation
import ImportTestSupport
import Importer
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Locks and outcomes of transactions on engines that have none of their own.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct LeaseTests {
    private static func model() throws -> CompiledModel {
        try .of(Entity("City", key: ["id"], [.of("id", .integer)]))
    }

    private func lock(_ location: String, isShared: Bool = false) throws -> (any StoreLock)? {
        let attempt =
            isShared
            ? try PostgreSQLStores().attemptSharedLock(location, command: "test")
            : try PostgreSQLStores().attemptLock(location, for: .writing, command: "test")
        if case .taken(let lock) = attempt { return lock }
        return nil
    }

    @Test(arguments: [PostgreSQLEngine.cockroachdb, .yugabytedb])
    func `a page of a process whose lease has ended is refused`(_ engine: PostgreSQLEngine) throws {
        let fixture = try StoreFixture(Self.model(), kind: .postgresql, location: engine.newLocation())
        let first = try #require(try lock(fixture.path))
        fixture.store.keep(first)
        try fixture.add("City", ["id": 1])
        #expect(try lock(fixture.path) == nil, "it is held")
        #expect(PostgreSQLStores().lockHolder(of: fixture.path, for: .writing)?.command == "test")
        _ = try fixture.server.rows("UPDATE \(fixture.schema).bmo_locks SET lease_end = 0 WHERE holder <> ''")
        let second = try #require(try lock(fixture.path), "the lease has ended")
        let error = try storeError { try fixture.add("City", ["id": 2]) }
        #expect(error.message.contains("the lock of the database"), "\(error)")
        second.release()
        #expect(try fixture.server.rows("SELECT count(*) FROM \(fixture.schema).bmo_locks WHERE holder <> ''") == ["0"])
        #expect(try fixture.lines("City") == ["1"])
    }

    @Test func `workers share a lease, and keep out who does not share`() throws {
        let location = try PostgreSQLEngine.cockroachdb.newLocation()
        let first = try #require(try lock(location, isShared: true))
        let second = try #require(try lock(location, isShared: true))
        #expect(try lock(location) == nil)
        first.release()
        #expect(try lock(location) == nil)
        second.release()
        let alone = try #require(try lock(location))
        #expect(try lock(location, isShared: true) == nil)
        alone.release()
    }

    @Test func `a page whose commit took effect without an answer is not written twice`() throws {
        let flag = try TemporaryFolder()
        let port = try PostgreSQLEngine.port("yugabytedb", losing: flag.appending("lose"))
        let schema = PostgreSQLServer.schema(of: try PostgreSQLServer.shared.get().newLocation())
        let fixture = try StoreFixture(
            Self.model(), kind: .postgresql, location: "postgresql://bmo@127.0.0.1:\(port)/postgres?schema=\(schema)")
        try fixture.add("City", ["id": 1])
        let version = try fixture.server.rows("SELECT version FROM \(schema).bmo_database")
        try flag.write("", to: "lose")
        let counts = try fixture.add("City", ["id": 2])
        #expect(counts.inserted == 1)
        #expect(!FileManager.default.fileExists(atPath: flag.appending("lose")), "the answer was lost")
        #expect(try fixture.lines("City") == ["1", "2"])
        let number = try #require(version.first.flatMap { Int($0) })
        #expect(try fixture.server.rows("SELECT version FROM \(schema).bmo_database") == ["\(number + 1)"])
        try fixture.store.close()
        #expect(try fixture.server.rows("SELECT count(*) FROM \(schema).bmo_outcomes") == ["0"])
    }
}
