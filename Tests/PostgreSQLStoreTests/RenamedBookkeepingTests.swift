import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The bookkeeping of a schema, all of which follows what is renamed.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct RenamedBookkeepingTests {
    private static let positions = ["bmo_progress", "bmo_seen"]

    private func change(_ fixture: StoreFixture, _ statements: String) throws {
        _ = try fixture.server.rows(statements.replacing("%", with: fixture.schema))
    }

    private func rows(_ fixture: StoreFixture, _ query: String) throws -> [String] {
        try fixture.server.rows(query.replacing("%", with: fixture.schema))
    }

    private func tables(_ fixture: StoreFixture) throws -> [String] {
        try rows(
            fixture,
            "SELECT tablename FROM pg_tables WHERE schemaname = '%' AND starts_with(tablename, 'bmo_') ORDER BY 1")
    }

    /// The rows of the bookkeeping that a change of the tables leaves, except the counters and models, which it changes, and
    /// the unknown fields, which are noted again.
    private func lines(_ fixture: StoreFixture) throws -> [String] {
        let outside = Self.positions + ["bmo_database", "bmo_models", "bmo_unknown_fields"]
        return try tables(fixture).filter { !outside.contains($0) }.flatMap { table in
            try rows(fixture, "SELECT t::text FROM %.\(table) t").map { "\(table) \($0)" }
        }.sorted()
    }

    @Test(arguments: NameChange.allCases)
    func `each table of the bookkeeping has the new name`(change: NameChange) throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        let empty = try tables(fixture).filter { try rows(fixture, "SELECT count(*) FROM %.\($0)") == ["0"] }
        #expect(
            empty == ["bmo_shares", "bmo_units", "bmo_workers", "bmo_writers"], "they have no names, or begin again")
        let before = try lines(fixture)
        #expect(before.contains { $0.contains(change.old) })
        try fixture.reopen(change.model())
        let after = try lines(fixture)
        // The names of the fields that a source has set are in alphabetical order.
        let (moved, inOrder) = (#"[""id"",""quay"",""area""]"#, #"[""area"",""id"",""quay""]"#)
        let expected = before.map { $0.replacing(change.old, with: change.new).replacing(moved, with: inOrder) }
            .sorted()
        #expect(after == expected, "\(Set(after).symmetricDifference(expected).sorted())")
        #expect(try rows(fixture, "SELECT count(*) FROM %.bmo_unknown_fields") == ["0"])
        #expect(try fixture.faults().isEmpty)
        #expect(try fixture.place.stores.migrationPlan(of: fixture.path, to: change.model()).steps.isEmpty)
    }

    @Test(arguments: [NameChange.entity, .subentity, .list])
    func `a scan begins again, since its position has names as well`(change: NameChange) throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        try fixture.reopen(change.model())
        for table in Self.positions {
            #expect(try rows(fixture, "SELECT count(*) FROM %.\(table)") == ["0"], "\(table)")
        }
    }

    @Test func `an edit waits under the new name of its column and its list`() throws {
        for change in [NameChange.attribute, .list] {
            let fixture = try StoreFixture.withWholeBookkeeping()
            try fixture.reopen(change.model())
            let entry = try #require(try fixture.store.outboxEntry(1))
            #expect(entry.changes.map(\.name) == [change == .attribute ? "area" : "size"])
            #expect(entry.links.map(\.relationship) == [change == .list ? "friends" : "twins"])
        }
    }

    @Test func `a sub-entity without rows is renamed in the bookkeeping`() throws {
        let fixture = try StoreFixture(overPostgreSQL: NameChange.model())
        try fixture.store.close()
        try change(fixture, "INSERT INTO %.bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't')")
        try fixture.reopen(NameChange.subentity.model())
        #expect(try rows(fixture, "SELECT entity, token FROM %.bmo_cursors") == ["Harbour|a"])
    }

    @Test func `rows of an entity that has the old name now keep it`() throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        let renamed = try NameChange.subentity.model().model
        var port = Entity("Port", key: [], [.of("depth", .text)])
        port.superentity = "City"
        port.matcher = Matcher([.has(RemotePath(["depth"]))])
        try fixture.reopen(CompiledModel(Model(entities: renamed.entities + [port])))
        #expect(try rows(fixture, #"SELECT id, entity FROM %."City" ORDER BY id"#) == ["1|Port", "2|City"])
    }

    @Test func `what a dropped entity left under the new name gives way`() throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        try change(
            fixture,
            """
            INSERT INTO %.bmo_cursors VALUES ('Town', '', '', 'stale', NULL, NULL, 'r', 't', 't');
            INSERT INTO %.bmo_stubs VALUES ('Town', '[2]');
            INSERT INTO %.bmo_origins VALUES ('Town', 'https://stale');
            INSERT INTO %.bmo_sources VALUES ('City', '[1]', 'other', 'Town', '["id"]', 1, 1, NULL, false, 2)
            """)
        try fixture.reopen(NameChange.entity.model())
        #expect(try rows(fixture, "SELECT token FROM %.bmo_cursors WHERE entity IN ('City', 'Town')") == ["a"])
        #expect(try rows(fixture, "SELECT entity, key FROM %.bmo_stubs") == ["Town|[2]"])
        #expect(try rows(fixture, "SELECT origin FROM %.bmo_origins WHERE entity = 'Town'") == ["https://a"])
        #expect(
            try rows(fixture, "SELECT scan, columns FROM %.bmo_sources ORDER BY 1") == [
                #"Port|["id","quay","size"]"#, #"Town|["size"]"#,
            ])
    }

    @Test func `an entity of a dropped one's name begins without its state`() throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        try change(
            fixture,
            "DELETE FROM %.bmo_outbox; INSERT INTO %.bmo_cursors VALUES ('Tag', '', '', 'b', NULL, NULL, 'r', 't', 't')"
        )
        let other = try CompiledModel.of(Entity("Tag", key: ["id"], [.of("id", .integer)]))
        _ = try PostgreSQLStores().migrate(fixture.path, to: other, backup: fixture.path + "-before")
        try fixture.reopen()
        for table in ["collections", "cursors", "members", "origins", "source_scans", "sources", "stubs"] {
            #expect(try rows(fixture, "SELECT count(*) FROM %.bmo_\(table) WHERE entity = 'City'") == ["0"], "\(table)")
        }
        #expect(try rows(fixture, "SELECT token FROM %.bmo_cursors WHERE entity = 'Tag'") == ["b"])
    }

    /// Cities with sub-entities, each with an attribute by which it is told apart, and its old name.
    private static func cities(
        _ kinds: (name: String, attribute: String, old: String?)..., and others: [Entity] = []
    ) throws -> CompiledModel {
        let subentities = kinds.map { kind in
            var entity = Entity(kind.name, key: [], [.of(kind.attribute, .text)])
            entity.superentity = "City"
            entity.matcher = Matcher([.has(RemotePath([kind.attribute]))])
            entity.renamedFrom = kind.old
            return entity
        }
        return try CompiledModel(
            Model(entities: [Entity("City", key: ["id"], [.of("id", .integer)])] + subentities + others))
    }

    @Test(arguments: [false, true])
    func `the bookkeeping of an unused table keeps its name when a sub-entity was renamed from that`(hasRows: Bool)
        throws
    {
        let port = Entity("Port", key: ["id"], [.of("id", .integer)])
        let fixture = try StoreFixture(overPostgreSQL: Self.cities(("Village", "hamlet", nil), and: [port]))
        try fixture.add("City", ["id": 1, "hamlet": "h"])
        try fixture.add("Port", ["id": 1])
        try fixture.store.close()
        try change(fixture, "INSERT INTO %.bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't')")
        try change(
            fixture,
            """
            INSERT INTO %.bmo_outbox VALUES
                (1, 'Port', 'Port', '[1]', 'update', '{}', '{}', 'k', 'pending', 0, NULL, 't', NULL, '[]', false, false, '[1]', NULL),
                (2, 'Port', 'City', '[1]', 'update', '{}', '{}', 'k', 'pending', 0, NULL, 't', NULL, '[]', false, false, '[1]', NULL)
            """)
        if hasRows { try change(fixture, "UPDATE %.\"City\" SET entity = 'Port'") }
        try fixture.reopen(Self.cities(("Village", "hamlet", nil), ("Harbour", "quay", "Port")))
        let kind = hasRows ? "Harbour" : "Port"
        #expect(
            try rows(fixture, "SELECT root, entity FROM %.bmo_outbox ORDER BY id") == ["Port|Port", "City|\(kind)"])
        #expect(try rows(fixture, "SELECT entity FROM %.bmo_cursors") == ["Port"])
        #expect(try rows(fixture, "SELECT entity FROM %.\"City\"") == ["\(hasRows ? kind : "Village")"])
    }

    @Test(arguments: [false, true])
    func `a sub-entity of a dropped table's name begins without its state`(hasRows: Bool) throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.cities(("Port", "quay", nil)))
        if hasRows { try fixture.add("City", ["id": 1, "quay": "q"]) }
        try fixture.store.close()
        if !hasRows { try change(fixture, "INSERT INTO %.bmo_source_scans VALUES ('City', 'Port')") }
        try change(
            fixture,
            """
            INSERT INTO %.bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't'),
                ('Tag', '', '', 'b', NULL, NULL, 'r', 't', 't')
            """)
        let other = try CompiledModel.of(Entity("Tag", key: ["id"], [.of("id", .integer)]))
        _ = try fixture.place.stores.migrate(fixture.path, to: other, backup: fixture.path + "-before")
        #expect(try rows(fixture, "SELECT entity FROM %.bmo_cursors") == ["Tag"])
    }

    @Test func `a chain of renamed sub-entities is refused until the first of them is done`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.cities(("Port", "quay", nil), ("Pier", "jetty", nil)))
        try fixture.add("City", ["id": 1, "quay": "q"], ["id": 2, "jetty": "j"])
        let chain = try Self.cities(("Pier", "quay", "Port"), ("Harbour", "jetty", "Pier"))
        let error = try storeError { _ = try fixture.place.stores.migrationPlan(of: fixture.path, to: chain) }
        #expect(error.code == .schema)
        #expect(error.message.contains("Port cannot become Pier while Pier becomes Harbour"))
        #expect(error.remedy?.contains("rename Pier to Harbour first") == true)
        try fixture.reopen(Self.cities(("Port", "quay", nil), ("Harbour", "jetty", "Pier")))
        try fixture.reopen(chain)
        #expect(try fixture.table("City", "id", "entity") == [["1", "'Pier'"], ["2", "'Harbour'"]])
        try fixture.reopen(chain)
        #expect(try fixture.table("City", "id", "entity") == [["1", "'Pier'"], ["2", "'Harbour'"]])
    }
}
