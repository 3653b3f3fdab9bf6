import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// The tables of a model, made, kept and extended.
@Suite struct SchemaTests {
    @Test func `the tables of a model are readable`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Country", key: ["code"],
                [
                    .of("code", .text), .of("size", .integer), .of("area", .real), .of("member", .boolean),
                    .of("budget", .decimal), .of("flag", .data), .of("founded", .date), .of("extra", .json),
                ],
                [.many("regions", "Region", inverse: "country"), .many("languages", "Language")]),
            Entity(
                "Region", key: ["country_code", "number"], [.of("country_code", .text), .of("number", .integer)],
                [.one("country", "Country"), .one("parent", "Region")]),
            Entity("Language", key: ["id"], [.of("id", .integer)], [.many("regions", "Region")]))
        #expect(
            SQLiteStore.schema(of: model).joined(separator: "\n") == """
                CREATE TABLE IF NOT EXISTS "Country" (
                    "code" TEXT PRIMARY KEY NOT NULL,
                    "size" INTEGER,
                    "area" REAL,
                    "member" INTEGER,
                    "budget" TEXT,
                    "flag" BLOB,
                    "founded" TEXT,
                    "extra" TEXT
                ) STRICT;
                CREATE TABLE IF NOT EXISTS "Region" (
                    "country_code" TEXT NOT NULL,
                    "number" INTEGER NOT NULL,
                    "country" TEXT,
                    "parent_country_code" TEXT,
                    "parent_number" INTEGER,
                    PRIMARY KEY ("country_code", "number"),
                    FOREIGN KEY ("country") REFERENCES "Country" ("code") DEFERRABLE INITIALLY DEFERRED,
                    FOREIGN KEY ("parent_country_code", "parent_number") REFERENCES "Region" ("country_code", "number") \
                DEFERRABLE INITIALLY DEFERRED
                ) STRICT;
                CREATE INDEX IF NOT EXISTS "Region_by_country" ON "Region" ("country");
                CREATE INDEX IF NOT EXISTS "Region_by_parent" ON "Region" ("parent_country_code", "parent_number");
                CREATE TABLE IF NOT EXISTS "Language" (
                    "id" INTEGER PRIMARY KEY NOT NULL
                ) STRICT;
                CREATE TABLE IF NOT EXISTS "Country_languages" (
                    "source" TEXT NOT NULL,
                    "position" INTEGER NOT NULL,
                    "target" INTEGER NOT NULL,
                    PRIMARY KEY ("source", "position"),
                    FOREIGN KEY ("source") REFERENCES "Country" ("code") DEFERRABLE INITIALLY DEFERRED,
                    FOREIGN KEY ("target") REFERENCES "Language" ("id") DEFERRABLE INITIALLY DEFERRED
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS "Country_languages_by_target" ON "Country_languages" ("target");
                CREATE TABLE IF NOT EXISTS "Language_regions" (
                    "source" INTEGER NOT NULL,
                    "position" INTEGER NOT NULL,
                    "target_country_code" TEXT NOT NULL,
                    "target_number" INTEGER NOT NULL,
                    PRIMARY KEY ("source", "position"),
                    FOREIGN KEY ("source") REFERENCES "Language" ("id") DEFERRABLE INITIALLY DEFERRED,
                    FOREIGN KEY ("target_country_code", "target_number") REFERENCES "Region" ("country_code", "number") \
                DEFERRABLE INITIALLY DEFERRED
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS "Language_regions_by_target" ON "Language_regions" ("target_country_code", \
                "target_number");
                """)
        let fixture = try StoreFixture(model)
        let made = try fixture.file().rows(
            """
            SELECT count(*) FROM sqlite_schema
            WHERE sql IS NOT NULL AND name NOT LIKE 'bmo_%' AND name NOT LIKE 'sqlite_%'
            """)
        #expect(made == [["9"]], "what is shown is what is made")
    }

    @Test func `names may be words of SQL`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Order", key: ["select"],
                [.of("select", .integer), .of("group", .text), .of("index", .text), .of("rowid", .text)],
                [.one("table", "Order"), .many("from", "Order"), .many("where", "Order", inverse: "table")]))
        let fixture = try StoreFixture(model)
        try fixture.add("Order", ["select": 1, "group": "a", "table": 2, "from": [1, 2], "rowid": "x"])
        try fixture.add("Order", ["select": 1, "group": "b", "where": [1]])
        #expect(try fixture.rows("Order") == ["1 'b' null 'x' 1", "2 null null null null"])
        #expect(
            try fixture.rows("Order", .init(field: "group", comparison: .equal, value: "b")) == ["1 'b' null 'x' 1"])
        #expect(try fixture.file().table("Order_from") == "source | position | target\n1 | 0 | 1\n1 | 1 | 2")
    }

    // MARK: reopening

    private func city(_ attributes: [Attribute] = [], _ relationships: [Relationship] = []) throws -> CompiledModel {
        try CompiledModel.of(
            Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)] + attributes, relationships),
            Entity("Country", key: ["code"], [.of("code", .text)]),
            Entity("Region", key: ["a", "b"], [.of("a", .text), .of("b", .integer)]))
    }

    /// All tables and indexes with all rows.
    private func everything(_ path: String) throws -> [[String]] {
        let file = try SQLiteFile(path)
        let schema = try file.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
        return schema + (try ["City", "bmo_meta", "bmo_stubs"].flatMap { try file.rows("SELECT * FROM \($0)") })
    }

    @Test func `reopening keeps everything and writes nothing`() throws {
        let fixture = try StoreFixture(city([], [.one("country", "Country"), .many("twins", "City")]))
        try fixture.add("City", ["id": 1, "name": "Oslo", "country": "NO", "twins": [2]])
        try fixture.store.close()
        #expect(try FileBytes(fixture.path).log == nil, "the last connection empties the log")
        let before = try everything(fixture.path)
        let bytes = try FileBytes(fixture.path)
        try fixture.reopen()
        #expect(try fixture.rows("City") == ["1 'Oslo' 'NO'", "2 null null"])
        #expect(try fixture.store.stubCount(of: "Country") == 1)
        #expect(try everything(fixture.path) == before)
        try fixture.store.close()
        #expect(try FileBytes(fixture.path) == bytes)
    }

    @Test func `a new attribute becomes a new column`() throws {
        let fixture = try StoreFixture(city())
        try fixture.add("City", ["id": 1, "name": "Oslo"])
        let wider = try city([.of("size", .integer), .of("extra", .json)])
        try fixture.reopen(wider)
        #expect(try fixture.file().table("City") == "id | name | size | extra\n1 | 'Oslo' | null | null")
        try fixture.reopen(wider)
        try fixture.reopen()
        #expect(try fixture.rows("City") == ["1 'Oslo'"], "an attribute that goes leaves its column")
    }

    @Test func `a new relationship refers to its target`() throws {
        let fixture = try StoreFixture(city())
        try fixture.add("City", ["id": 1])
        let wider = try city([], [.one("country", "Country"), .one("region", "Region"), .many("twins", "City")])
        try fixture.reopen(wider)
        let file = try fixture.file()
        #expect(
            try file.rows("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('City')")
                == [["'country'", "'Country'", "'code'"]], "SQLite adds no reference of several columns later")
        #expect(
            try file.rows("SELECT name FROM pragma_index_list('City') ORDER BY name")
                == [["'City_by_country'"], ["'City_by_region'"]])
        try fixture.reopen(wider)
        #expect(try file.table("City_twins") == "source | position | target")
    }

    struct Misfit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let message: String
        let model: @Sendable () throws -> CompiledModel

        init(_ what: String, _ message: String, _ model: @escaping @Sendable () throws -> CompiledModel) {
            testDescription = what
            self.message = message
            self.model = model
        }
    }

    static let misfits = [
        Misfit("another type", "convert City.name from text to integer") {
            try .of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", .integer)]))
        },
        Misfit("another type of the key", "convert City.id from integer to text") {
            try .of(Entity("City", key: ["id"], [.of("id", .text), .of("name", .text)]))
        },
        Misfit("another key", "change the key of City from id to name") {
            try .of(Entity("City", key: ["name"], [.of("id", .integer), .of("name", .text)]))
        },
        Misfit("a longer key", "change the key of City from id to id, name") {
            try .of(Entity("City", key: ["id", "name"], [.of("id", .integer), .of("name", .text)]))
        },
        Misfit("a new attribute in the key", "change the key of City from id to id, number") {
            try .of(
                Entity("City", key: ["id", "number"], [.of("id", .integer), .of("name", .text), .of("number", .text)]))
        },
        Misfit("another target", "change the reference City.country from Country to Nation") {
            try .of(
                Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Nation")]),
                Entity("Nation", key: ["code"], [.of("code", .text)]))
        },
        Misfit("an attribute that was a relationship", "remove the reference City.country to Country") {
            try .of(Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text), .of("country", .text)]))
        },
        Misfit("a relationship that was an attribute", "add the reference City.name to Country") {
            try .of(
                Entity("City", key: ["id"], [.of("id", .integer)], [.one("name", "Country")]),
                Entity("Country", key: ["code"], [.of("code", .text)]))
        },
    ]

    @Test(arguments: misfits)
    func `any other difference is refused in words`(_ misfit: Misfit) throws {
        let fixture = try StoreFixture(city([], [.one("country", "Country")]))
        try fixture.add("City", ["id": 1, "name": "Oslo", "country": "NO"])
        try fixture.store.close()
        let before = try everything(fixture.path)
        let error = try storeError { _ = try SQLiteStore(path: fixture.path, model: misfit.model()) }
        #expect(error.code == .schema)
        #expect(error.message == "\(fixture.path): the database does not fit the config any more: \(misfit.message)")
        #expect(
            error.remedy
                == "`bmo migrate` shows the plan, and `bmo migrate --apply` applies it, after a backup")
        #expect(try everything(fixture.path) == before, "and nothing is changed")
    }

    @Test func `a removed relationship is not a difference`() throws {
        let fixture = try StoreFixture(city([], [.one("country", "Country")]))
        try fixture.add("City", ["id": 1, "country": "NO"])
        try fixture.reopen(city())
        #expect(try fixture.file().table("City") == "id | name | country\n1 | null | 'NO'")
    }

    @Test func `a file of a newer bmo is refused`() throws {
        let fixture = try StoreFixture(city())
        try fixture.store.close()
        let known = try fixture.file().rows("SELECT value FROM bmo_meta WHERE name = 'version'")[0][0].filter(
            \.isNumber)
        try SQLiteFile(fixture.path).rows("UPDATE bmo_meta SET value = '99' WHERE name = 'version'")
        let error = try storeError { try fixture.reopen() }
        #expect(error.code == .schema)
        #expect(
            error.description == "\(fixture.path): the database was written by a newer bmo (bookkeeping 99, this bmo "
                + "knows \(known)); use that bmo, or another file")
        let plan = try storeError { _ = try SQLiteStore.migrationPlan(path: fixture.path, model: city()) }
        #expect(plan.description == error.description)
    }
}
