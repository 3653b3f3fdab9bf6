import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Objects that the remote says are gone, in both stores.
@Suite struct DeletionTests {
    @Test(arguments: StoreKind.allCases)
    func `a deleted object goes with its links`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("Country", ["code": "CH", "languages": ["de", "fr"]], ["code": "FR", "languages": ["fr"]])
        #expect(try database.delete("Country", ["code": "CH"]) == "Country -1")
        #expect(
            try database.text()
                == "Country\n  'FR' null null\nLanguage\n  'fr' null\nCountry_languages\n  'FR': 'fr'\n"
                + "stubs\n  Language [\"fr\"]", "nothing refers to `de`")
        #expect(try database.faults().isEmpty)
        #expect(try database.delete("Country", ["code": "CH"]) == "", "it is gone already")
    }

    @Test(arguments: StoreKind.allCases)
    func `one that others refer to becomes a stub`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load(
            "Country", ["code": "FR", "name": "France", "cities": [["id": 1, "name": "Lyon"]], "languages": ["fr"]])
        try database.load("Language", ["code": "fr", "name": "French"])
        #expect(try database.delete("Country", ["code": "FR"]) == "Country -1")
        #expect(try database.text(of: "Country") == "'FR' null null")
        #expect(try database.text(of: "City") == "1 'Lyon' 'FR' null")
        #expect(try database.text(of: "Country_languages") == "")
        #expect(try database.delete("Country", ["code": "FR"]) == "", "it is a stub already")
        #expect(try database.delete("Language", ["code": "fr"]) == "Language -1")
        #expect(try database.delete("City", ["id": 1]) == "City -1")
        #expect(try database.text() == "", "the stub went with the last that referred to it")
        #expect(try database.delete("Country", ["code": "FR"]) == "")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `what an empty last page deletes is its own scan's doing`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("Country", ["code": "CH"], ["code": "FR"])
        let scope = ScanScope(entity: "Country")
        try database.store.beginRun(kind: "sync")
        try database.store.beginScan(scope, afterPage: nil)
        try database.add("Country", ["code": "FR"])
        try database.add("City", ["id": 1])
        let last = try database.begin("Country", page: 2)
        #expect(try last.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil))).deleted == [0: 1])
        database.store.endScan(scope)
        _ = try database.store.endRun(outcome: "finished", summary: nil, always: false, keeping: .runs(9))
        let event = try #require(try database.store.history(of: 0, key: [.text("CH")]).events.last)
        #expect(event.change.kind == .deleted)
        #expect(event.change.scan == "Country")
    }

    /// Imports a whole listing and returns the number of objects deleted because it lacks them.
    private func list(_ entity: String, _ records: [Literal], in database: StoreFixture) throws -> Int {
        let scope = ScanScope(entity: entity)
        try database.store.beginScan(scope, afterPage: nil)
        defer { database.store.endScan(scope) }
        let page = try database.begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil))).deleted.values.reduce(0, +)
    }

    /// Media with films, which have a listing of their own, and songs, which do not.
    private func media(_ mode: DeletePolicy.Mode = .hard) throws -> CompiledModel {
        var film = Entity("Film", key: [], [.of("minutes", .integer)])
        film.superentity = "Media"
        film.matcher = Matcher([.has(RemotePath(["minutes"]))])
        var song = Entity("Song", key: [], [.of("seconds", .integer)])
        song.superentity = "Media"
        song.isScanned = false
        song.matcher = Matcher([.has(RemotePath(["seconds"]))])
        var media = Entity("Media", key: ["id"], [.of("id", .integer)])
        media.deletes = DeletePolicy(mode: mode)
        return try .of(media, film, song)
    }

    @Test(arguments: StoreKind.allCases)
    func `a listing deletes only objects that it has brought and that it covers`(_ kind: StoreKind) throws {
        let database = try StoreFixture(media(), kind: kind)
        let films: [Literal] = [["id": 2, "minutes": 90], ["id": 3, "seconds": 200]]
        #expect(try list("Film", films, in: database) == 0)
        let all: [Literal] = [["id": 1], ["id": 4, "minutes": 80], ["id": 5, "seconds": 100]]
        #expect(try list("Media", all, in: database) == 0, "only the listing of films brought the song 3")
        #expect(try list("Film", films, in: database) == 0, "only the listing of all media brought the film 4")
        #expect(
            try database.text(of: "Media")
                == "1 'Media' null null\n2 'Film' 90 null\n3 'Song' null 200\n4 'Film' 80 null\n5 'Song' null 100")
        #expect(try list("Media", Array(all.prefix(1)), in: database) == 1, "it lacks the song 5")
        #expect(try list("Film", Array(films.suffix(1)), in: database) == 1, "it lacks the film 2")
        #expect(
            try database.text(of: "Media") == "1 'Media' null null\n3 'Song' null 200\n4 'Film' 80 null")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that another listing of its family brings again stays`(_ kind: StoreKind) throws {
        for mode in [DeletePolicy.Mode.hard, .soft] {
            let database = try StoreFixture(media(mode), kind: kind)
            let film: [Literal] = [["id": 2, "minutes": 90]]
            #expect(try list("Film", film, in: database) == 0)
            #expect(try list("Media", film, in: database) == 0)
            #expect(try list("Film", [], in: database) == 1, "its own listing had it")
            #expect(try list("Media", film, in: database) == 0)
            #expect(try list("Film", [], in: database) == 0, "its own listing had it before it was deleted")
            #expect(try list("Film", film, in: database) == 0)
            #expect(try list("Film", [], in: database) == 1, "its own listing had it again")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that only others bring after its deletion is not listed`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("City", ["id": 1, "name": "Bern"])
        try database.load("Country", ["code": "CH", "cities": [["id": 1, "name": "Berne"]]])
        try database.load("City", ["id": 2, "twin": 1])
        #expect(try database.delete("City", ["id": 1]) == "City -1")
        try database.load("Country", ["code": "CH", "cities": [["id": 1, "name": "Berna"]]])
        let history = try database.store.history(of: try #require(database.model.index(of: "City")), key: [.integer(1)])
        #expect(!history.isStub && !history.isListed)
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that refers to itself goes`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("City", ["id": 1, "twin": 1], ["id": 2, "twin": 1])
        #expect(try database.delete("City", ["id": 2]) == "City -1")
        #expect(try database.delete("City", ["id": 1]) == "City -1")
        #expect(try database.text() == "")
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone without a key goes to quarantine`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("City", ["id": 1])
        #expect(try database.delete("City", ["name": "Lyon"]) == "City !1")
        #expect(try database.text().contains("a deleted object: the key City.id is missing"))
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone that is a bare key says how to read it`(_ kind: StoreKind) throws {
        let database = try StoreFixture(try world(), kind: kind)
        try database.load("City", ["id": 1])
        #expect(try database.delete("City", ["@value": 1]) == "City !1")
        #expect(
            try database.text().contains(
                "a deleted object: the key City.id is missing; to read a key that stands alone, let the attribute have from: "
                    + #"[NAME, "@value"], transform: first"#))
    }

    @Test(arguments: StoreKind.allCases)
    func `of several records of one object the last counts`(_ kind: StoreKind) throws {
        var model = try world().model
        model.entities[1].deletes.tombstone = Matcher([.has(RemotePath(["gone"]))])
        let database = try StoreFixture(try CompiledModel(model), kind: kind)
        try database.load("City", ["id": 1, "name": "Lyon"], ["id": 2], ["id": 3, "country": "FR"])
        let counts = try database.load(
            "City", ["id": 1, "gone": true], ["id": 2, "name": "Nice"], ["id": 1, "name": "Lyons"],
            ["id": 2, "gone": true], ["id": 3, "gone": true, "country": ["code": "XX"]])
        #expect(counts == "City ~2 -2")
        #expect(try database.text(of: "City") == "1 'Lyons' null null")
        #expect(try database.text(of: "Country") == "", "what a tombstone has is not imported")
    }
}

extension StoreFixture {
    /// Deletes objects and says what that did.
    func delete(_ entity: String, _ objects: Literal...) throws -> String {
        let index = try #require(model.index(of: entity))
        let page = try PageImport(
            index, of: model, from: PageImport.Origin(bridge: "remote", page: 1), into: store)
        do {
            try page.delete(try Literal.batch(objects), location: nil)
            try page.commit(progress: nil)
        } catch {
            page.rollback()
            throw error
        }
        return page.counts.text(model)
    }
}
