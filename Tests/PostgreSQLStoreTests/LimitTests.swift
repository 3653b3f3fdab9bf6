import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The parts of the bridges' limits that workers have.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct LimitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
        try fixture.store.close()
    }

    private func worker(_ id: String) throws -> any Store & WorkStore {
        let store = try #require(
            try PostgreSQLStores().open(fixture.path, model: fixture.model, for: .writing) as? any Store & WorkStore)
        #expect(try store.renewLimits(places: nil) { _ in true } == .none, "it has not joined a round")
        let plan = [WorkUnit(name: "City", group: "City", entity: "City", task: .listing)]
        #expect(
            try store.joinRound(
                plan, as: WorkerDescription(id: id, name: id, lease: .seconds(60), pause: .zero)))
        return store
    }

    private func renew(_ store: any WorkStore, places: Int? = nil, fits: Bool = true) throws -> Int {
        let part = try store.renewLimits(places: places) { _ in fits }
        #expect(part.validity <= .seconds(60))
        return part.divisor
    }

    @Test func `a part goes to others only after its holder gave it up, or when it has expired`() throws {
        let (first, second) = (try worker("a"), try worker("b"))
        #expect(try renew(first) == 1)
        #expect(try renew(second) == 0)
        #expect(try renew(first, fits: false) == 2)
        #expect(try renew(second) == 0, "requests of the first worker are still running")
        #expect(try renew(first) == 2)
        #expect(try renew(second) == 2)
        _ = try fixture.server.rows("UPDATE \(fixture.schema).bmo_shares SET lease_end = 0 WHERE worker = 'a'")
        #expect(try renew(second) == 1)
        #expect(try renew(first) == 0, "the first worker comes back")
        try second.leave()
        #expect(try renew(first) == 1)
        try first.leave()
        #expect(try fixture.server.rows("SELECT count(*) FROM \(fixture.schema).bmo_shares") == ["0"])
    }

    @Test func `a worker without a place waits, and renewing an unchanged part writes nothing`() throws {
        let (first, second) = (try worker("a"), try worker("b"))
        #expect(try renew(first, places: 1) == 1)
        #expect(try renew(second, places: 1) == 0)
        func versions() throws -> [String] {
            try fixture.server.rows("SELECT worker, xmin FROM \(fixture.schema).bmo_shares ORDER BY worker")
        }
        let before = try versions()
        #expect(try renew(first, places: 1) == 1)
        #expect(try renew(second, places: 1) == 0)
        #expect(try versions() == before)
        try first.leave()
        #expect(try renew(second, places: 1) == 1)
    }
}
