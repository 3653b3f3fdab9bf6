import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// A file whose configuration changed: renamed by itself, and migrated when data could be lost.
@Suite struct MigrationTests {
    /// Two cities of a country, twinned.
    private static func city(
        _ attributes: [Attribute] = [.of("size", .text)], key: [String] = ["id"], idType: AttributeType = .integer,
        country: String = "Country", _ others: Entity...
    ) throws -> CompiledModel {
        try CompiledModel(
            Model(
                entities: [
                    Entity(
                        "City", key: key, [.of("id", idType), .of("name", .text)] + attributes,
                        [.one("country", country), .many("twins", "City")]),
                    Entity(
                        "Country", key: ["code"], [.of("code", .text)],
                        [.one("capital", "City"), .many("cities", "City", inverse: "country")]),
                ] + others))
    }

    private func filled(_ model: CompiledModel? = nil) throws -> StoreFixture {
        let fixture = try StoreFixture(model ?? Self.city())
        try fixture.add(
            "City", ["id": 1, "name": "Oslo", "size": "700", "country": "NO", "twins": [2, 3]],
            ["id": 2, "name": "Bergen", "size": "many", "country": "NO"])
        try fixture.add("Country", ["code": "NO", "capital": 1])
        return fixture
    }

    private func migrate(_ fixture: StoreFixture, to model: CompiledModel) throws -> MigrationResult {
        try fixture.store.close()
        let backup = fixture.folder.appending("backup-\(UUID()).sqlite")
        let migration = try SQLiteStore.migrate(path: fixture.path, to: model, backup: backup)
        #expect(try fixture.file().faults().isEmpty)
        return migration
    }

    private func plan(_ fixture: StoreFixture, for model: CompiledModel) throws -> [String] {
        try SQLiteStore.migrationPlan(path: fixture.path, model: model).steps.map { step in
            step.description + (step.cost.map { ": \($0)" } ?? "")
        }
    }

    // MARK: renaming

    @Test func `a rename is refused until it is done while another has the old name`() throws {
        func model(_ name: String, from old: String? = nil, _ others: [String] = []) throws -> CompiledModel {
            var town = Entity(
                "Town", key: ["id"], [.of("id", .integer), .of(name, .text)] + others.map { .of($0, .text) })
            town.attributes[1].renamedFrom = old
            return try CompiledModel.of(town)
        }
        func entities(_ others: [String]) throws -> CompiledModel {
            var place = Entity("Place", key: ["id"], [.of("id", .integer)])
            place.renamedFrom = "Town"
            return try CompiledModel(
                Model(
                    entities: [place]
                        + others.map { Entity($0, key: ["id"], [.of("id", .integer), .of("name", .text)]) }))
        }
        let fixture = try StoreFixture(model("name"))
        try fixture.add("Town", ["id": 1, "name": "Oslo"])
        for refused in [try model("title", from: "name", ["name"]), try entities(["Town"])] {
            let error = try #require(throws: StoreError.self) { try plan(fixture, for: refused) }
            #expect(error.message.contains("in the database, and the configuration has another"), "\(error)")
        }
        try fixture.reopen(model("title", from: "name"))
        #expect(try fixture.file().value("SELECT title FROM Town") == "'Oslo'")
        // It is done: the name may be another's.
        #expect(try plan(fixture, for: model("title", from: "name", ["name"])) == ["add the column Town.name (text)"])
    }

    @Test func `what is renamed keeps its data`() throws {
        let fixture = try filled()
        var town = Entity(
            "Town", key: ["number"], [.of("number", .integer, from: ["id"]), .of("title", .text)],
            [.one("state", "Country"), .many("friends", "Town")])
        town.renamedFrom = "City"
        town.attributes[0].renamedFrom = "id"
        town.attributes[1].renamedFrom = "name"
        town.relationships[0].renamedFrom = "country"
        town.relationships[1].renamedFrom = "twins"
        let model = try CompiledModel.of(
            town,
            Entity(
                "Country", key: ["code"], [.of("code", .text)],
                [.one("capital", "Town"), .many("cities", "Town", inverse: "state")]))
        #expect(
            try plan(fixture, for: model) == [
                "rename the table City to Town", "rename the column Town.id to number",
                "rename the column Town.name to title", "rename the column Town.country to state",
                "rename the table City_twins to Town_friends", "rename the column Town.twins to friends",
                "drop the column Town.size: with 2 values",
            ])
        try fixture.reopen(model)
        let file = try fixture.file()
        #expect(
            try file.table("Town") == """
                number | title | size | state
                1 | 'Oslo' | '700' | 'NO'
                2 | 'Bergen' | 'many' | 'NO'
                3 | null | null | null
                """)
        #expect(try file.table("Town_friends") == "source | position | target\n1 | 0 | 2\n1 | 1 | 3")
        #expect(try file.table("bmo_stubs") == "entity | key\n'Town' | '[3]'")
        #expect(
            try file.rows(
                "SELECT tbl_name, name FROM sqlite_schema WHERE sql LIKE 'CREATE INDEX%' AND name NOT LIKE 'bmo%' ORDER BY 2"
            )
                == [
                    ["'Country'", "'Country_by_capital'"],
                    ["'Town'", "'Town_by_state'"],
                    ["'Town_friends'", "'Town_friends_by_target'"],
                ])
        #expect(try file.faults().isEmpty)
        try fixture.reopen(model)
        #expect(try fixture.add("Town", ["id": 1, "title": "Oslo", "state": "NO", "friends": [2, 3]]).unchanged == 1)
        #expect(try fixture.add("Town", ["id": 3, "title": "Turku"]).inserted == 1, "it was a stub")
    }

    @Test func `a subentity is renamed in its rows`() throws {
        func media(_ name: String, renamedFrom: String? = nil) throws -> CompiledModel {
            var film = Entity(name, key: [], [.of("minutes", .integer)], [.many("scenes", "Scene")])
            film.superentity = "Media"
            film.matcher = Matcher([.has(RemotePath(["minutes"]))])
            film.renamedFrom = renamedFrom
            return try CompiledModel.of(
                Entity("Media", key: ["id"], [.of("id", .integer)]), film,
                Entity("Scene", key: ["id"], [.of("id", .integer)]))
        }
        let fixture = try StoreFixture(media("Film"))
        try fixture.add("Media", ["id": 1, "minutes": 90, "scenes": [4]], ["id": 2])
        try fixture.reopen(media("Movie", renamedFrom: "Film"))
        #expect(try fixture.rows("Media") == ["1 'Movie' 90", "2 'Media' null"])
        #expect(try fixture.rows("Movie") == ["1 'Movie' 90"])
        #expect(try fixture.file().table("Movie_scenes") == "source | position | target\n1 | 0 | 4")
    }

    @Test func `a column is renamed though a subentity declares it again`() throws {
        func media(_ name: String, renamedFrom: String? = nil) throws -> CompiledModel {
            var title = Attribute.of(name, .text)
            title.renamedFrom = renamedFrom
            var film = Entity("Film", key: [], [.of(name, .text, from: ["film_title"])])
            film.superentity = "Media"
            film.matcher = Matcher([.has(RemotePath(["film_title"]))])
            return try .of(Entity("Media", key: ["id"], [.of("id", .integer), title]), film)
        }
        let fixture = try StoreFixture(media("caption"))
        try fixture.add("Media", ["id": 1, "caption": "Alien"])
        try fixture.reopen(media("title", renamedFrom: "caption"))
        #expect(try fixture.rows("Media") == ["1 'Alien' 'Media'"])
    }

    @Test func `subentities that come later share the table`() throws {
        let fixture = try StoreFixture(try .of(Entity("Media", key: ["id"], [.of("id", .integer)])))
        try fixture.add("Media", ["id": 1], ["id": 2])
        var film = Entity("Film", key: [], [.of("minutes", .integer)])
        film.superentity = "Media"
        film.matcher = Matcher([.has(RemotePath(["minutes"]))])
        try fixture.reopen(try .of(Entity("Media", key: ["id"], [.of("id", .integer)]), film))
        #expect(try fixture.rows("Media") == ["1 'Media' null", "2 'Media' null"])
        #expect(try fixture.add("Media", ["id": 1]).unchanged == 1)
        try fixture.add("Media", ["id": 2, "minutes": 90])
        #expect(try fixture.rows("Film") == ["2 'Film' 90"])
    }

    // MARK: migrating

    @Test func `a type that changes converts what fits`() throws {
        let fixture = try filled()
        let model = try Self.city([.of("size", .integer)])
        #expect(
            try plan(fixture, for: model) == [
                "convert City.size from text to integer: 1 of 2 values does not fit"
            ])
        let before = try fixture.file().table("City")
        let migration = try migrate(fixture, to: model)
        #expect(migration.notes == ["City: 1 value does not fit and is null now; see `bmo quarantine City`"])
        let file = try fixture.file()
        #expect(
            try file.table("City") == """
                id | name | size | country
                1 | 'Oslo' | 700 | 'NO'
                2 | 'Bergen' | null | 'NO'
                3 | null | null | null
                """)
        #expect(
            try file.rows("SELECT entity, bridge, reason, representation FROM bmo_quarantine") == [
                [
                    "'City'", "'migrate'", "'City.size: the text \"many\" is not an integer of 64 bits'",
                    "'{\"id\":2,\"name\":\"Bergen\",\"size\":\"many\",\"country\":\"NO\"}'",
                ]
            ])
        #expect(try file.rows("SELECT kind, outcome FROM bmo_runs") == [["'migrate'", "'finished'"]])
        #expect(try SQLiteFile(migration.backup ?? "").table("City") == before, "nothing is lost")
        try fixture.reopen(model)
        #expect(try plan(fixture, for: model).isEmpty)
        #expect(try fixture.add("City", ["id": 1, "name": "Oslo", "size": 700]).unchanged == 1)
    }

    @Test func `booleans that become integers are 0 and 1, also where another column is converted`() throws {
        func switches(_ type: AttributeType, size: AttributeType) throws -> CompiledModel {
            try .of(Entity("Switch", key: ["id"], [.of("id", .integer), .of("on", type), .of("size", size)]))
        }
        let fixture = try StoreFixture(switches(.boolean, size: .text))
        try fixture.add("Switch", ["id": 1, "on": true, "size": "7"], ["id": 2, "on": false, "size": "8"])
        let model = try switches(.integer, size: .integer)
        #expect(try plan(fixture, for: model) == ["convert Switch.size from text to integer: all 2 values fit"])
        #expect(try migrate(fixture, to: model).notes == [])
        #expect(try fixture.file().rows("SELECT id, \"on\", size FROM Switch") == [["1", "1", "7"], ["2", "0", "8"]])
    }

    @Test func `a key that changes its type takes its references along`() throws {
        let fixture = try filled()
        let model = try Self.city(idType: .text)
        #expect(
            try plan(fixture, for: model) == [
                "convert City.id from integer to text: all 3 values fit",
                "convert Country.capital from integer to text: all 1 value fit",
                "convert City_twins.source from integer to text: all 2 values fit",
                "convert City_twins.target from integer to text: all 2 values fit",
            ])
        #expect(try migrate(fixture, to: model).notes == [])
        let file = try fixture.file()
        #expect(
            try file.rows("SELECT id, country FROM City") == [["'1'", "'NO'"], ["'2'", "'NO'"], ["'3'", "null"]])
        #expect(try file.table("Country") == "code | capital\n'NO' | '1'")
        #expect(try file.table("City_twins") == "source | position | target\n'1' | 0 | '2'\n'1' | 1 | '3'")
        #expect(try file.table("bmo_stubs") == "entity | key\n'City' | '[\"3\"]'")
    }

    @Test func `another key is followed by what refers to it`() throws {
        let fixture = try filled()
        let model = try Self.city(key: ["name"])
        #expect(
            try plan(fixture, for: model) == [
                "change the key of City from id to name: with 3 rows",
                "convert Country.capital from integer to text: all 1 value fit",
                "convert City_twins.source from integer to text: all 2 values fit",
                "convert City_twins.target from integer to text: all 2 values fit",
            ])
        let migration = try migrate(fixture, to: model)
        #expect(
            migration.notes == [
                "City.twins: 1 link could not be kept; the next sync of City asks for all lists again"
            ])
        let file = try fixture.file()
        #expect(
            try file.table("City") == """
                id | name | size | country
                1 | 'Oslo' | '700' | 'NO'
                2 | 'Bergen' | 'many' | 'NO'
                """, "a stub without a name is none any more")
        #expect(try file.table("Country") == "code | capital\n'NO' | 'Oslo'")
        #expect(try file.table("City_twins") == "source | position | target\n'Oslo' | 0 | 'Bergen'")
        #expect(try file.table("bmo_stubs") == "entity | key")
        try fixture.reopen(model)
        #expect(try fixture.add("City", ["id": 1, "name": "Oslo", "country": "NO"]).unchanged == 1)
    }

    @Test func `a key that no row has yet is not taken for the old one`() throws {
        func model(key: String) throws -> CompiledModel {
            let code: [Attribute] = key == "code" ? [.of("code", .integer)] : []
            return try .of(
                Entity("City", key: [key], [.of("id", .integer)] + code, [.many("twins", "City")]),
                Entity("Trip", key: ["id"], [.of("id", .integer)], [.one("city", "City")]))
        }
        let fixture = try StoreFixture(try model(key: "id"))
        try fixture.add("City", ["id": 1, "twins": [2]], ["id": 2, "twins": [1]])
        try fixture.add("Trip", ["id": 7, "city": 2])
        let migration = try migrate(fixture, to: try model(key: "code"))
        #expect(migration.notes.contains { $0.hasPrefix("Trip: 1 value") }, "\(migration.notes)")
        let file = try fixture.file()
        #expect(try file.rows("SELECT count(*) FROM City") == [["0"]])
        #expect(try file.rows("SELECT count(*) FROM City_twins") == [["0"]])
        #expect(try file.rows("SELECT id, city FROM Trip") == [["7", "null"]])
        try fixture.reopen(try model(key: "code"))
        try fixture.add("City", ["id": 2, "code": 1], ["id": 1, "code": 2])
        #expect(try file.rows("SELECT count(*) FROM City_twins") == [["0"]])
        #expect(try fixture.stubs().isEmpty)
    }

    @Test func `two rows that get one key are not one`() throws {
        let fixture = try filled(Self.city(idType: .text))
        try fixture.add("City", ["id": "01", "name": "Old Oslo"], ["id": "x"])
        let migration = try migrate(fixture, to: try Self.city())
        #expect(migration.notes == ["City: 2 rows could not be kept; see `bmo quarantine City`"])
        let file = try fixture.file()
        #expect(try file.rows("SELECT count(*) FROM City") == [["3"]])
        #expect(
            try file.rows("SELECT reason FROM bmo_quarantine ORDER BY reason") == [
                ["'the key City.id has no value of its type'"], ["'there is another City with the key 1'"],
            ])
    }

    @Test func `a reference to another entity forgets what it meant`() throws {
        let fixture = try filled()
        let nation = Entity("Nation", key: ["code"], [.of("code", .text)])
        var model = try Self.city(country: "Nation", nation).model
        model.entities[1].relationships[1].inverse = nil
        let changed = try CompiledModel(model)
        #expect(
            try plan(fixture, for: changed).contains(
                "change the reference City.country from Country to Nation: 2 values become null"))
        #expect(try migrate(fixture, to: changed).notes == [])
        #expect(try fixture.file().rows("SELECT DISTINCT country FROM City") == [["null"]])
    }

    @Test func `an attribute becomes a reference and back`() throws {
        let fixture = try filled()
        func model(_ isReference: Bool) throws -> CompiledModel {
            var city = Entity(
                "City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")])
            if isReference {
                city.relationships.append(.one("size", "Country"))
            } else {
                city.attributes.append(.of("size", .text))
            }
            return try CompiledModel.of(city, Entity("Country", key: ["code"], [.of("code", .text)]))
        }
        _ = try migrate(fixture, to: model(true))
        #expect(try fixture.file().rows("SELECT code FROM Country ORDER BY 1") == [["'700'"], ["'NO'"], ["'many'"]])
        #expect(
            try fixture.file().table("bmo_stubs")
                == "entity | key\n'City' | '[3]'\n'Country' | '[\"700\"]'\n'Country' | '[\"many\"]'")
        _ = try migrate(fixture, to: model(false))
        #expect(try fixture.file().rows("SELECT size FROM City ORDER BY id") == [["'700'"], ["'many'"], ["null"]])
    }

    @Test func `what nothing uses goes only with a migration`() throws {
        let fixture = try filled()
        let model = try CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)]))
        try fixture.reopen(model)
        try fixture.file().rows("CREATE TABLE mine (a)")
        #expect(try fixture.file().table("Country") == "code | capital\n'NO' | 1")
        #expect(
            try plan(fixture, for: model) == [
                "drop the column City.size: with 2 values", "drop the column City.country: with 2 values",
                "drop the table Country: with 1 row", "drop the table City_twins: with 2 rows",
            ])
        _ = try migrate(fixture, to: model)
        #expect(try fixture.file().table("City") == "id | name\n1 | 'Oslo'\n2 | 'Bergen'\n3 | null")
        #expect(
            try fixture.file().rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'bmo%' AND name NOT LIKE 'sqlite%' ORDER BY 1"
            )
                == [["'City'"], ["'mine'"]], "what somebody else made stays")
    }

    @Test func `triggers and indexes of others stay`() throws {
        let fixture = try filled()
        try fixture.file().rows("CREATE INDEX mine ON City (name)")
        try fixture.file().rows("CREATE INDEX sizes ON City (size)")
        try fixture.file().rows(
            "CREATE TRIGGER noticed AFTER INSERT ON City BEGIN UPDATE City SET name = name WHERE id = new.id; END")
        try fixture.file().rows("CREATE VIEW cities AS SELECT name FROM City")
        let migration = try migrate(
            fixture, to: try Self.city([.of("number", .integer)]))
        #expect(migration.notes == ["the index sizes of City is gone: no such column: size"])
        #expect(
            try fixture.file().rows(
                "SELECT name FROM sqlite_schema WHERE name IN ('mine', 'noticed', 'sizes') ORDER BY 1")
                == [["'mine'"], ["'noticed'"]])
        #expect(try fixture.file().rows("SELECT count(*) FROM cities") == [["3"]])
    }

    @Test(arguments: [false, true])
    func `indexes of others stay though their names are like those of bmo`(renames: Bool) throws {
        let fixture = try filled()
        try fixture.file().rows("CREATE INDEX City_by_name ON City (name)")
        try fixture.file().rows("CREATE UNIQUE INDEX \"City_by_size\" ON \"City\" (\"size\")")
        if renames {
            var area = Attribute.of("area", .text)
            area.renamedFrom = "size"
            try fixture.reopen(Self.city([area]))
        } else {
            #expect(try migrate(fixture, to: Self.city([.of("size", .integer)])).notes.count == 1)
        }
        let indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'City' AND sql IS NOT NULL"
        #expect(
            try fixture.file().rows("\(indexes) ORDER BY name") == [
                ["'City_by_country'"], ["'City_by_name'"], ["'City_by_size'"],
            ])
    }

    @Test func `a view that a migration breaks is named, and so it is where it prevents a rename`() throws {
        let fixture = try filled()
        try fixture.file().rows("CREATE VIEW sizes AS SELECT size FROM City")
        #expect(
            try migrate(fixture, to: Self.city([])).notes == [
                "the view sizes is not valid: no such column: size; correct or drop it"
            ])
        var title = Attribute.of("title", .text)
        title.renamedFrom = "name"
        var model = try Self.city([]).model
        model.entities[0].attributes[1] = title
        let renamed = try CompiledModel(model)
        let error = try storeError { try fixture.reopen(renamed) }
        #expect(error.code == .schema)
        #expect(error.message.contains("error in view sizes: no such column: size"))
        try fixture.file().rows("DROP VIEW sizes")
        try fixture.reopen(renamed)
        #expect(try fixture.file().table("City").hasPrefix("id | title | country"))
    }

    @Test func `a key to which a table of others refers is not taken away`() throws {
        let fixture = try filled()
        try fixture.store.close()
        try fixture.file().rows("CREATE TABLE mine (city INTEGER REFERENCES City (id))")
        func message(_ model: CompiledModel) throws -> String {
            try storeError {
                _ = try SQLiteStore.migrate(
                    path: fixture.path, to: model, backup: fixture.folder.appending("backup.sqlite"))
            }.message
        }
        let start = "the table mine, which bmo did not create, refers to City,"
        #expect(try message(Self.city(key: ["name"])).hasSuffix("\(start) whose key changes"))
        let country = Entity("Country", key: ["code"], [.of("code", .text)])
        #expect(try message(CompiledModel.of(country)).hasSuffix("\(start) which is dropped"))
    }

    @Test(arguments: [StoreKind.sqlite, .memory])
    func `the column of a former attribute does not tell sub-entities apart`(kind: StoreKind) throws {
        func media(_ attributes: Attribute..., more: Entity...) throws -> CompiledModel {
            let media = Entity("Media", key: ["id"], [.of("id", .integer)] + attributes)
            return try CompiledModel(Model(entities: [media] + more))
        }
        var film = Entity("Film", key: [], [.of("minutes", .integer)])
        film.superentity = "Media"
        film.matcher = Matcher([.has(RemotePath(["minutes"]))])
        let fixture = try StoreFixture(media(.of("entity", .text)), kind: kind)
        try fixture.add("Media", ["id": 1, "entity": "E1"])
        let family = try media(more: film)
        if kind == .sqlite {
            let error = try storeError { try fixture.reopen(family) }
            #expect(error.message.contains("Media has a column entity of a former attribute"))
            _ = try migrate(fixture, to: media())
        }
        try fixture.reopen(family)
        #expect(try fixture.table("Media", "id", "entity") == [["1", "'Media'"]])
    }

    @Test func `a migration that fails leaves the file as it was`() throws {
        let fixture = try filled()
        try fixture.store.close()
        let file = try fixture.file()
        // A reference that leads nowhere, which no import makes.
        try file.rows("PRAGMA foreign_keys = OFF")
        try file.rows("CREATE TABLE mine (city INTEGER REFERENCES City (id))")
        try file.rows("INSERT INTO mine VALUES (99)")
        let before = try file.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
        let error = try storeError {
            _ = try SQLiteStore.migrate(
                path: fixture.path, to: try Self.city([.of("size", .integer)]),
                backup: fixture.folder.appending("backup.sqlite"))
        }
        #expect(error.message.contains("mine refers to City that does not exist"))
        #expect(try file.rows("SELECT name, sql FROM sqlite_schema ORDER BY name") == before)
        #expect(try file.rows("SELECT size FROM City WHERE id = 2") == [["'many'"]])
    }

    @Test func `a backup is never written over`() throws {
        let fixture = try filled()
        try fixture.store.close()
        let backup = try fixture.folder.write("mine", to: "backup.sqlite")
        let error = try storeError {
            _ = try SQLiteStore.migrate(
                path: fixture.path, to: try Self.city([.of("size", .integer)]), backup: backup)
        }
        #expect(error.message.contains("there is a file \(backup) already"))
        #expect(try String(contentsOfFile: backup, encoding: .utf8) == "mine")
    }
}
