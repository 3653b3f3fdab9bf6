import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// What other connections see of a page, and what they can do to it.
@Suite struct IsolationTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "City", key: ["id"], [.of("id", .integer), .of("name", .text)],
                    [.one("twin", "City"), .many("near", "City")])))
    }

    @Test func `an open page is invisible to others`() throws {
        try fixture.add("City", ["id": 1, "name": "Oslo"])
        let file = try fixture.file()
        let page = try fixture.begin("City")
        try page.add(
            try Literal.batch([["id": 1, "name": "x", "near": [2, 3]], ["id": 4, "twin": 5], [:]]), location: nil)
        #expect(try file.table("City") == "id | name | twin\n1 | 'Oslo' | null")
        #expect(try file.table("City_near") == "source | position | target")
        #expect(try file.value("SELECT count(*) FROM bmo_quarantine") == "0")
        #expect(try fixture.rows("City") == ["1 'Oslo' null"], "nor by the store's own readers")
        #expect(try fixture.store.quarantined().isEmpty)
        try page.commit(progress: ScanProgress(cursor: "c", page: 1, request: "r"))
        #expect(try file.value("SELECT count(*) FROM City") == "5")
        #expect(
            try fixture.store.progress(of: ScanScope(entity: "City"))
                == ScanProgress(cursor: "c", page: 1, request: "r"))
        #expect(try file.faults().isEmpty)
    }

    @Test func `a reader keeps its snapshot while pages are committed`() throws {
        try fixture.add("City", ["id": 1])
        let file = try fixture.file()
        try file.rows("BEGIN")
        #expect(try file.value("SELECT count(*) FROM City") == "1")
        try fixture.add("City", ["id": 2])
        #expect(try file.value("SELECT count(*) FROM City") == "1")
        try file.rows("COMMIT")
        #expect(try file.value("SELECT count(*) FROM City") == "2")
    }

    @Test func `a writer elsewhere is waited for and then named`() throws {
        let file = try fixture.file()
        try file.rows("BEGIN IMMEDIATE")
        let start = ContinuousClock.now
        let error = try storeError { _ = try fixture.begin("City") }
        #expect(error.code == .busy)
        #expect(
            error.description == "the database is in use by another process (database is locked); "
                + "try again when that is done")
        #expect(ContinuousClock.now - start > .seconds(20), "as long as for an edit")
        try file.rows("ROLLBACK")
        #expect(try fixture.add("City", ["id": 1]).inserted == 1)
    }

    @Test func `a page that is taken back frees the file`() throws {
        let page = try fixture.begin("City")
        try page.add(try Literal.batch([["id": 1, "twin": 2]]), location: nil)
        let file = try fixture.file()
        #expect(throws: SQLiteFile.Refusal.self) { try file.rows("BEGIN IMMEDIATE") }
        page.rollback()
        try file.rows("BEGIN IMMEDIATE")
        try file.rows("ROLLBACK")
    }

    @Test func `a stub of another process is filled like ones own`() throws {
        let other = try SQLiteStore(path: fixture.path, model: fixture.model)
        let page = try PageImport(
            0, of: fixture.model, from: PageImport.Origin(bridge: "remote", page: 1), into: other)
        try page.add(try Literal.batch([["id": 1, "twin": 2]]), location: nil)
        try page.commit(progress: nil)
        #expect(try fixture.store.stubCount(of: "City") == 1)
        #expect(try fixture.add("City", ["id": 2, "name": "Bergen"]).inserted == 1)
        #expect(try fixture.store.stubCount(of: "City") == 0)
        try other.close()
    }

    @Test func `a finished page does not keep the file open`() throws {
        let committed = try fixture.begin("City")
        try committed.add(try Literal.batch([["id": 1]]), location: nil)
        try committed.commit(progress: nil)
        let takenBack = try fixture.begin("City")
        takenBack.rollback()
        try fixture.store.close()
        #expect(try FileBytes(fixture.path).log == nil)
        _ = (committed, takenBack)
    }

    @Test func `closing takes an open page back`() throws {
        let page = try fixture.begin("City")
        try page.add(try Literal.batch([["id": 1]]), location: nil)
        try fixture.store.close()
        #expect(try fixture.file().table("City") == "id | name | twin")
        _ = try storeError { try page.add(try Literal.batch([["id": 2]]), location: nil) }
        _ = try storeError { try page.commit(progress: nil) }
        page.rollback()
    }

    @Test func `a trigger that ends the transaction takes the page back`() throws {
        try fixture.file().rows(
            "CREATE TRIGGER refuse BEFORE INSERT ON City WHEN new.id = 7 BEGIN SELECT raise(ROLLBACK, 'no sevens'); END"
        )
        let error = try storeError { try fixture.add("City", ["id": 6], ["id": 7], ["id": 8]) }
        #expect(error.code == .io && error.message == "a trigger of the database refuses it: no sevens")
        #expect(error.remedy == "drop the index or trigger that bmo did not create, or correct the value")
        #expect(try fixture.rows("City").isEmpty)
        #expect(try fixture.add("City", ["id": 8]).inserted == 1)
    }
}
