import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Databases whose bookkeeping another version of bmo made.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct BookkeepingTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(overPostgreSQL: CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
        try fixture.add("City", ["id": 1])
        try fixture.store.close()
    }

    private func open(for use: StoreUse) throws -> any Store {
        try PostgreSQLStores().open(fixture.path, model: fixture.model, for: use)
    }

    private func change(_ statements: String) throws {
        _ = try fixture.server.rows(statements.replacing("%", with: fixture.schema))
    }

    @Test func `a database from before bmo work is extended and keeps its rows`() throws {
        try change(
            """
            DROP TABLE %.bmo_round; DROP TABLE %.bmo_units; DROP TABLE %.bmo_workers;
            DROP TABLE %.bmo_shares;
            ALTER TABLE %.bmo_database ADD COLUMN last_commit text NOT NULL DEFAULT '';
            UPDATE %.bmo_database SET format = 1
            """)
        let reader = try #require(try open(for: .reading(entities: nil)) as? any Store & WorkStore)
        #expect(try reader.workBoard() == nil, "a reader needs no new tables")
        try reader.close()
        let store = try #require(try open(for: .writing) as? any Store & WorkStore)
        let plan = [WorkUnit(name: "City", group: "City", entity: "City", task: .listing)]
        let worker = WorkerDescription(id: "a", name: "a test", lease: .seconds(30), pause: .zero)
        #expect(try store.joinRound(plan, as: worker))
        guard case .unit(let unit) = try store.claimUnit() else {
            Issue.record("the only unit is free")
            return
        }
        #expect(try store.workBoard()?.units == [unit])
        try store.releaseUnit()
        try store.leave()
        try store.close()
        #expect(try fixture.lines("City") == ["1"])
        #expect(try fixture.server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
    }

    @Test func `a database from before limits were shared is extended`() throws {
        try change("DROP TABLE %.bmo_shares; UPDATE %.bmo_database SET format = 2")
        try open(for: .reading(entities: nil)).close()
        try open(for: .writing).close()
        #expect(try fixture.lines("City") == ["1"])
        #expect(try fixture.server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
        #expect(try fixture.server.rows("SELECT count(*) FROM \(fixture.schema).bmo_shares") == ["0"])
    }

    @Test func `a database from before collections were kept is extended`() throws {
        try change("DROP TABLE %.bmo_collections; UPDATE %.bmo_database SET format = 4")
        try open(for: .reading(entities: nil)).close()
        let store = try open(for: .writing)
        let page = CollectionPage(number: 1, isLast: true, request: "r", keys: [[.integer(1)]])
        let name = CollectionName(entity: "City", name: "all")
        try store.replacePages(1...1, of: name, with: [page])
        #expect(try store.pages(of: name) == [page])
        try store.close()
        #expect(try fixture.lines("City") == ["1"])
        #expect(try fixture.server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
    }

    @Test func `edits from before edits had user info are kept, and can be sent`() throws {
        let before = try open(for: .writing)
        let made = try before.edit([
            LocalEdit(.create, entity: "City", values: ["id": .integer(2)]),
            LocalEdit(.delete, entity: "City", key: [.integer(1)]),
        ])
        let entries = try before.outbox()
        #expect(made.map(\.entry) == entries.map(\.id) && entries.count == 2)
        try before.close()
        try change(
            """
            ALTER TABLE %.bmo_outbox DROP COLUMN user_info; ALTER TABLE %.bmo_acknowledged DROP COLUMN user_info;
            UPDATE %.bmo_database SET format = 5
            """)
        let store = try open(for: .writing)
        #expect(try store.outbox() == entries)
        for (entry, key) in zip(entries, [2, 1] as [Int64]) {
            #expect(try store.markSending(entry.id)?.key == [.integer(key)])
            let page = try store.beginPage()
            try page.acknowledge(entry.id, key: nil)
            try page.commit()
        }
        #expect(try store.outbox().isEmpty)
        try store.close()
        #expect(try fixture.lines("City") == ["2"])
        #expect(try fixture.server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
    }

    @Test func `records from before their keys were kept stay in quarantine`() throws {
        let record = QuarantinedRecord(
            entity: "City", bridge: "remote", page: 1, record: 1, reason: "bad", representation: "{}", location: nil,
            source: nil)
        var store = try open(for: .writing)
        var page = try store.beginPage()
        try page.access { try page.quarantine(record) }
        try page.commit()
        try store.close()
        try change(
            """
            ALTER TABLE %.bmo_quarantine DROP COLUMN source; ALTER TABLE %.bmo_quarantine DROP COLUMN parent;
            ALTER TABLE %.bmo_quarantine DROP COLUMN key; UPDATE %.bmo_database SET format = 6
            """)
        store = try open(for: .writing)
        #expect(try store.quarantined().map(\.record) == [record])
        var known = record
        (known.source, known.key) = ("", "[1]")
        page = try store.beginPage()
        try page.access { try page.quarantine(known) }
        try page.commit()
        #expect(try store.quarantined().map(\.record) == [known], "it is the same record")
        try store.close()
        #expect(try fixture.server.rows("SELECT format FROM \(fixture.schema).bmo_database") == ["8"])
    }

    @Test func `a database of a newer bmo is refused`() throws {
        try change("UPDATE %.bmo_database SET format = 99")
        for use in [StoreUse.writing, .rehearsing, .reading(entities: nil)] {
            let error = #expect(throws: StoreError.self) { _ = try open(for: use) }
            #expect(error?.code == .schema && error?.message.contains("a newer bmo created the database") == true)
        }
    }

    @Test func `a transaction of a unit that was taken over is rolled back, and writes nothing`() throws {
        func opened(_ id: String) throws -> any Store & WorkStore {
            let store = try #require(try open(for: .writing) as? any Store & WorkStore)
            let plan = [WorkUnit(name: "City", group: "City", entity: "City", task: .listing)]
            let worker = WorkerDescription(id: id, name: id, lease: .seconds(60), pause: .zero)
            #expect(try store.joinRound(plan, as: worker))
            return store
        }
        let (first, second) = (try opened("a"), try opened("b"))
        guard case .unit(let before) = try first.claimUnit() else {
            Issue.record("the only unit is free")
            return
        }
        #expect(try second.claimUnit() == .wait)
        try change("UPDATE %.bmo_workers SET lease_end = 0 WHERE id = 'a'")
        guard case .unit(let after) = try second.claimUnit() else {
            Issue.record("the lease has ended")
            return
        }
        #expect(after.name == before.name && after.epoch == before.epoch + 1 && after.claims == 2)
        let refused = #expect(throws: StoreError.self) { _ = try first.beginPage() }
        #expect(refused?.code == .superseded && refused?.message.contains("taken over City") == true)
        let ended = #expect(throws: StoreError.self) { try first.endUnit("{}", keeping: nil, adding: []) }
        #expect(ended?.code == .superseded)
        let page = try second.beginPage()
        page.rollback()
        try second.endUnit("{}", keeping: nil, adding: [])
        #expect(try second.claimUnit() == .over)
        #expect(try second.results(of: "City").map(\.result) == ["{}"])
    }

    @Test func `a unit that a worker could not give back is free when the worker joins again`() throws {
        let plan = [WorkUnit(name: "City", group: "City", entity: "City", task: .listing)]
        func joined(_ id: String) throws -> any Store & WorkStore {
            let store = try #require(try open(for: .writing) as? any Store & WorkStore)
            #expect(try store.joinRound(plan, as: worker(id)))
            return store
        }
        func worker(_ id: String) -> WorkerDescription {
            WorkerDescription(id: id, name: id, lease: .seconds(60), pause: .zero)
        }
        let (first, second) = (try joined("a"), try joined("b"))
        guard case .unit(let before) = try first.claimUnit() else {
            Issue.record("the only unit is free")
            return
        }
        #expect(try second.claimUnit() == .wait)
        #expect(try first.joinRound(plan, as: worker("a")))
        guard case .unit(let after) = try second.claimUnit() else {
            Issue.record("the unit was not given back")
            return
        }
        #expect(after.epoch > before.epoch)
        #expect(throws: StoreError.self) { try first.releaseUnit() }
    }
}
