import ImportTestSupport
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The bookkeeping of a file, all of which follows what is renamed.
@Suite struct RenamedBookkeepingTests {
    /// A row or more for each table of the bookkeeping, besides those that the import of a city makes.
    private static let content = [
        "INSERT INTO bmo_runs (id, kind, started, outcome) VALUES (1, 'sync', 't', 'finished')",
        """
        INSERT INTO bmo_changes VALUES
            (1, 1, 'City', '[1]', 'updated', '{"size":"a"}', '{"size":"b"}', 'remote', 'Port', NULL),
            (2, 1, 'City', '[1]', 'relinked', '{"relationship":"twins","at":0,"keys":[]}',
                '{"relationship":"twins","at":0,"keys":[[2]]}', 'remote', 'City', NULL)
        """,
        "INSERT INTO bmo_sources VALUES (1, 'City', 'other', 'Port', 'id size quay'), (2, 'City', 'other', 'City', 'size')",
        "INSERT INTO bmo_provenance VALUES ('City', '[1]', 1, 1, 1, NULL, 1), ('City', '[1]', 2, 1, 1, NULL, 0)",
        """
        INSERT INTO bmo_cursors VALUES ('City', '', '', 'a', NULL, NULL, 'r', 't', 't'),
            ('Port', 'wiki', '[1]', 'b', NULL, NULL, 'r', 't', 't')
        """,
        "INSERT INTO bmo_orphans VALUES ('Port', 'City', '[2]'), ('City', 'City', '[2]')",
        """
        INSERT INTO bmo_outbox VALUES (1, 'City', 'Port', '[1]', 'update', '{"size":"c","twins":[[2]]}',
            '{"size":"b","twins":[]}', 'k', 'pending', 0, NULL, 't', NULL, '[]', 0, '[1]', 0, NULL)
        """,
        """
        INSERT INTO bmo_conflicts VALUES (1, 'City', 'Port', '[1]', 'size', '"b"', '"c"', '"d"', 't'),
            (2, 'City', 'City', '[2]', 'twins', NULL, NULL, NULL, 't')
        """,
        """
        INSERT INTO bmo_acknowledged VALUES (1, 'City', 'Port', '[1]', 'update', '{"size":"b","twins":[[3]]}',
            '{"size":"a","twins":[]}', 't'), (2, 'City', 'City', '[2]', 'delete', '{}', NULL, 't')
        """,
        """
        INSERT INTO bmo_quarantine VALUES (1, 'Port', 'remote', 1, 1, 'bad', '{}', NULL, 't', 't', 7, NULL, '', '', '[9]'),
            (2, 'City', 'remote', 1, 2, 'bad', '{}', NULL, 't', 't', 8, NULL, 'wiki', '', '[8]')
        """,
        """
        CREATE TABLE IF NOT EXISTS bmo_members (
            listing TEXT NOT NULL, source TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL,
            request TEXT NOT NULL, is_gone INTEGER NOT NULL, PRIMARY KEY (listing, source, entity, path)
        ) STRICT, WITHOUT ROWID
        """,
        """
        INSERT INTO bmo_members VALUES ('City', '', 'City', 'name', 'r', 0), ('City', '', 'Port', 'quay', 'r', 1),
            ('Port', 'wiki', 'Port', 'quay', 'r', 0)
        """,
        """
        CREATE TABLE IF NOT EXISTS bmo_collections (
            entity TEXT NOT NULL, name TEXT NOT NULL, page INTEGER NOT NULL, request TEXT NOT NULL, cursor TEXT,
            next TEXT, is_last INTEGER NOT NULL, keys TEXT NOT NULL, saved TEXT NOT NULL,
            PRIMARY KEY (entity, name, page)
        ) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO bmo_collections VALUES ('City', 'feed', 1, 'r', NULL, NULL, 1, '[[1]]', 't')",
        "INSERT INTO bmo_meta VALUES ('origin City', 'https://a'), ('origin Port', 'https://b')",
    ]

    /// The position of a scan of cities, and fields that no attribute reads.
    private static let transient = [
        "INSERT INTO bmo_progress VALUES ('City', '', '', 'c', 1, 'r', NULL, NULL, 1, 't', 't')",
        "INSERT INTO bmo_seen VALUES ('City', '', '', 1, x'01')",
        "INSERT INTO bmo_list_owners VALUES ('City', '', '', 0, 1, x'0102030405060708')",
        "INSERT INTO bmo_waiting_lists VALUES ('City', '', '', 7, 'City', 'twins', '[1]', 0, '[[2]]', '[[3]]')",
        """
        CREATE TABLE IF NOT EXISTS bmo_unknown_fields (
            entity TEXT NOT NULL, path TEXT NOT NULL, first_seen TEXT NOT NULL, PRIMARY KEY (entity, path)
        ) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO bmo_unknown_fields VALUES ('Port', 'odd', 't')",
    ]

    private static let positions = ["bmo_list_owners", "bmo_progress", "bmo_seen", "bmo_waiting_lists"]

    /// A file with a port and a stub, which is closed, and whose bookkeeping has each of the names in each of its tables.
    private func filled() throws -> StoreFixture {
        let fixture = try StoreFixture(NameChange.model(), kind: .sqlite)
        try fixture.add("City", ["id": 1, "size": "b", "quay": "q", "twins": [2]])
        try fixture.store.close()
        let file = try fixture.file()
        for statement in Self.content + Self.transient { try file.rows(statement) }
        return fixture
    }

    private func tables(_ file: SQLiteFile) throws -> [String] {
        try file.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'bmo_*' ORDER BY name")
            .map { $0[0].filter { $0 != "'" } }
    }

    /// The rows of the bookkeeping that a change of the tables leaves, and where listings came from.
    private func lines(_ file: SQLiteFile) throws -> [String] {
        let outside = Self.positions + ["bmo_meta", "bmo_unknown_fields"]
        let lines = try tables(file).filter { !outside.contains($0) }.flatMap { table in
            try file.rows("SELECT * FROM \(table)").map { "\(table) \($0.joined(separator: " "))" }
        }
        let origins = try file.rows("SELECT name, value FROM bmo_meta WHERE name GLOB 'origin *'")
        return (lines + origins.map { $0.joined(separator: " ") }).sorted()
    }

    @Test(arguments: NameChange.allCases) func `each table of the bookkeeping has the new name`(change: NameChange)
        throws
    {
        let fixture = try filled()
        let file = try fixture.file()
        for table in try tables(file) { #expect(try file.value("SELECT count(*) FROM \(table)") != "0", "\(table)") }
        let before = try lines(file)
        #expect(before.contains { $0.contains(change.old) })
        try fixture.reopen(change.model())
        #expect(try lines(file) == before.map { $0.replacing(change.old, with: change.new) }.sorted())
        #expect(try fixture.faults().isEmpty)
        #expect(try fixture.place.stores.migrationPlan(of: fixture.path, to: change.model()).steps.isEmpty)
    }

    @Test(arguments: [NameChange.entity, .subentity, .list])
    func `a scan begins again, since its position has names as well`(change: NameChange) throws {
        let fixture = try filled()
        try fixture.reopen(change.model())
        let file = try fixture.file()
        for table in Self.positions { #expect(try file.value("SELECT count(*) FROM \(table)") == "0", "\(table)") }
        #expect(try !tables(file).contains("bmo_unknown_fields"), "they are noted again")
    }

    @Test func `an edit waits under the new name of its column and its list`() throws {
        for change in [NameChange.attribute, .list] {
            let fixture = try filled()
            try fixture.reopen(change.model())
            let entry = try #require(try fixture.store.outboxEntry(1))
            #expect(entry.changes.map(\.name) == [change == .attribute ? "area" : "size"])
            #expect(entry.links.map(\.relationship) == [change == .list ? "friends" : "twins"])
        }
    }

    @Test func `a sub-entity is renamed in the rows though no table changes`() throws {
        let fixture = try filled()
        let model = try NameChange.subentity.model()
        let plan = try fixture.place.stores.migrationPlan(of: fixture.path, to: model)
        #expect(plan.steps.map(\.description) == ["rename the sub-entity Port in City to Harbour"])
        try fixture.reopen(model)
        #expect(try fixture.table("City", "id", "entity") == [["1", "'Harbour'"], ["2", "'City'"]])
    }

    @Test func `a sub-entity without rows is renamed in the bookkeeping`() throws {
        let fixture = try StoreFixture(NameChange.model(), kind: .sqlite)
        try fixture.store.close()
        let file = try fixture.file()
        try file.rows("INSERT INTO bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't')")
        try fixture.reopen(NameChange.subentity.model())
        #expect(try file.rows("SELECT entity, token FROM bmo_cursors") == [["'Harbour'", "'a'"]])
    }

    @Test func `rows of an entity that has the old name now keep it`() throws {
        let fixture = try filled()
        let renamed = try NameChange.subentity.model().model
        var port = Entity("Port", key: [], [.of("depth", .text)])
        port.superentity = "City"
        port.matcher = Matcher([.has(RemotePath(["depth"]))])
        try fixture.reopen(CompiledModel(Model(entities: renamed.entities + [port])))
        #expect(try fixture.table("City", "id", "entity") == [["1", "'Port'"], ["2", "'City'"]])
    }

    @Test func `what a dropped entity left under the new name gives way`() throws {
        let fixture = try filled()
        let file = try fixture.file()
        try file.rows("INSERT INTO bmo_cursors VALUES ('Town', '', '', 'stale', NULL, NULL, 'r', 't', 't')")
        try file.rows("INSERT INTO bmo_stubs VALUES ('Town', '[2]')")
        try file.rows("INSERT INTO bmo_meta VALUES ('origin Town', 'https://stale')")
        try fixture.reopen(NameChange.entity.model())
        #expect(try file.rows("SELECT token FROM bmo_cursors WHERE entity IN ('City', 'Town')") == [["'a'"]])
        #expect(try file.rows("SELECT * FROM bmo_stubs") == [["'Town'", "'[2]'"]])
        #expect(try file.value("SELECT value FROM bmo_meta WHERE name = 'origin Town'") == "'https://a'")
    }

    @Test func `an entity of a dropped one's name begins without its state`() throws {
        let fixture = try StoreFixture(NameChange.model(), kind: .sqlite)
        try fixture.add("City", ["id": 1, "twins": [2]])
        try fixture.store.close()
        let file = try fixture.file()
        try file.rows(
            "INSERT INTO bmo_cursors VALUES ('City', '', '', 'a', NULL, NULL, 'r', 't', 't'), "
                + "('Tag', '', '', 'b', NULL, NULL, 'r', 't', 't')")
        try file.rows("INSERT INTO bmo_meta VALUES ('origin City', 'https://a')")
        let other = try CompiledModel.of(Entity("Tag", key: ["id"], [.of("id", .integer)]))
        _ = try fixture.place.stores.migrate(fixture.path, to: other, backup: fixture.path + "-before")
        try fixture.reopen()
        #expect(try file.rows("SELECT entity FROM bmo_cursors") == [["'Tag'"]])
        #expect(try file.rows("SELECT * FROM bmo_stubs").isEmpty)
        #expect(try file.rows("SELECT value FROM bmo_meta WHERE name GLOB 'origin *'").isEmpty)
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
        let fixture = try StoreFixture(Self.cities(("Village", "hamlet", nil), and: [port]), kind: .sqlite)
        try fixture.add("City", ["id": 1, "hamlet": "h"])
        try fixture.add("Port", ["id": 1])
        try fixture.store.close()
        let file = try fixture.file()
        try file.rows("INSERT INTO bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't')")
        try file.rows(
            """
            INSERT INTO bmo_outbox VALUES
                (1, 'Port', 'Port', '[1]', 'update', '{}', '{}', 'k', 'pending', 0, NULL, 't', NULL, '[]', 0, '[1]', 0, NULL),
                (2, 'City', 'Port', '[1]', 'update', '{}', '{}', 'k', 'pending', 0, NULL, 't', NULL, '[]', 0, '[1]', 0, NULL)
            """)
        if hasRows { try file.rows("UPDATE City SET entity = 'Port'") }
        try fixture.reopen(Self.cities(("Village", "hamlet", nil), ("Harbour", "quay", "Port")))
        let kind = hasRows ? "Harbour" : "Port"
        #expect(
            try file.rows("SELECT root, entity FROM bmo_outbox ORDER BY id") == [
                ["'Port'", "'Port'"], ["'City'", "'\(kind)'"],
            ])
        #expect(try file.rows("SELECT entity FROM bmo_cursors") == [["'Port'"]])
        #expect(try file.rows("SELECT entity FROM City") == [["'\(hasRows ? kind : "Village")'"]])
    }

    @Test(arguments: [false, true])
    func `a sub-entity of a dropped table's name begins without its state`(hasRows: Bool) throws {
        let fixture = try StoreFixture(Self.cities(("Port", "quay", nil)), kind: .sqlite)
        if hasRows { try fixture.add("City", ["id": 1, "quay": "q"]) }
        try fixture.store.close()
        let file = try fixture.file()
        if !hasRows { try file.rows("INSERT INTO bmo_sources VALUES (7, 'City', 'other', 'Port', 'id')") }
        try file.rows(
            """
            INSERT INTO bmo_cursors VALUES ('Port', '', '', 'a', NULL, NULL, 'r', 't', 't'),
                ('Tag', '', '', 'b', NULL, NULL, 'r', 't', 't')
            """)
        let other = try CompiledModel.of(Entity("Tag", key: ["id"], [.of("id", .integer)]))
        _ = try fixture.place.stores.migrate(fixture.path, to: other, backup: fixture.path + "-before")
        #expect(try file.rows("SELECT entity FROM bmo_cursors") == [["'Tag'"]])
    }

    @Test func `a chain of renamed sub-entities is refused until the first of them is done`() throws {
        let fixture = try StoreFixture(Self.cities(("Port", "quay", nil), ("Pier", "jetty", nil)), kind: .sqlite)
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
