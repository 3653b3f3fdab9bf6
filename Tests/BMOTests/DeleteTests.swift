import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// What the remote no longer has: when it goes, when it stays.
@Suite(.overBothStores, .namingTheStore) struct DeleteTests {
    private func numbers(_ place: LibraryWorkspace<CountingHost>) throws -> String {
        try place.file().value("SELECT group_concat(id, ' ') FROM (SELECT id FROM Number ORDER BY id)")
    }

    @Test(.overSQLiteOnly) func `a row that a whole listing lacks is deleted`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 25")
        let workspace = try await place.workspace(place.world())
        #expect(try await place.sync(workspace).text == "Number finished, 3 pages +25")
        try place.say("count 25", "gone 7", "gone 12", "gone 24")
        #expect(try await place.sync(workspace).text == "Number finished, 3 pages =22 -3")
        #expect(try place.file().value("SELECT count(*) FROM Number WHERE id IN (7, 12, 24)") == "0")
        #expect(
            try place.file().rows("SELECT change, key, old FROM bmo_changes WHERE run = 2 ORDER BY id").map {
                $0[0] + $0[1]
            }
                == ["'deleted''[7]'", "'deleted''[12]'", "'deleted''[24]'"])
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Number finished, 3 pages =22")
        #expect(try place.stored() == before, "nothing changed, nothing is written")
        try place.say("count 25")
        #expect(try await place.sync(workspace).text == "Number finished, 3 pages +3 =22", "they may come back")
    }

    /// RestKit 1695 and 2463: a reply that is partial, failed or unchanged deleted what it lacked.
    @Test(arguments: ["incomplete", "token t1"])
    func `a partial or unchanged reply deletes nothing`(_ line: String) async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 8", "token t1")
        let workspace = try await place.workspace(place.world(entity: "incremental: token"))
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages +8")
        try place.say("count 8", "gone 3", line)
        let report = try await place.sync(workspace)
        #expect(report.entities[0].counts.deleted == 0 && report.succeeded, "\(report.text)")
        #expect(try numbers(place) == "'0 1 2 3 4 5 6 7'")
    }

    @Test func `a failed scan deletes nothing`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(section: "fail_at: 25, fail_times: 1000")
        _ = try await place.workspace(text)
        #expect(try await place.sync(try await place.mendedWorkspace()).text == "Number finished, 3 pages +30")
        try place.say("count 30", "gone 3")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages =19")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "30")
        // Taken up again, with what the pages before it listed.
        let mended = try await place.mendedWorkspace()
        let resumed = try await place.sync(mended)
        #expect(resumed.entities[0].counts.deleted == 1, "\(resumed.text)")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "29")
    }

    @Test(.overSQLiteOnly) func `a scan that is taken up again knows what the pages before it listed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(section: "fail_at: 25, fail_times: 1000")
        _ = try await place.workspace(text)
        _ = try await place.sync(try await place.mendedWorkspace())
        // Each page changes something, so that its place is kept.
        try place.say("count 30", "gone 3", "gone 27", "name 0 zero", "name 15 fifteen")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages ~2 =17")
        #expect(try place.file().value("SELECT count(*) FROM bmo_seen") == "2")
        let resumed = try await place.sync(try await place.mendedWorkspace())
        #expect(resumed.text == "Number finished after page 2, 1 pages =9 -2")
        #expect(try place.file().value("SELECT count(*) FROM Number WHERE id IN (3, 27)") == "0")
        #expect(try place.file().value("SELECT count(*) FROM bmo_seen") == "0")
    }

    @Test func `rows without a key are not there twice when an interrupted scan begins anew`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(section: "fail_at: 25, fail_times: 1000").replacing("key: id", with: "unique: none")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages +20")
        let report = try await place.sync(try await place.mendedWorkspace(), Workspace.SyncOptions(restart: true))
        #expect(report.text == "Number finished, 3 pages +30")
        #expect(
            report.entities[0].warnings == [
                "an interrupted scan starts over: the 20 rows that it had imported were deleted"
            ])
        #expect(try place.file().value("SELECT count(*) || ' ' || count(DISTINCT id) FROM Number") == "'30 30'")
        // Another mapping is another scan.
        let next = text.replacing("name: text", with: "name: {type: text, transform: trim}")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages +20")
        _ = try await place.workspace(next)
        #expect(try await place.sync(try await place.mendedWorkspace()).text == "Number finished, 3 pages +30")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "60", "a whole listing is appended as ever")
    }

    @Test(.overSQLiteOnly) func `after a vacuum the place of a scan is discarded`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(section: "fail_at: 25, fail_times: 1000").replacing("id: integer", with: "id: text")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages +20")
        // Rows of a table whose key is a text get new numbers.
        try place.file().rows("VACUUM")
        let report = try await place.sync(try await place.mendedWorkspace())
        #expect(report.text == "Number finished, 3 pages +10 =20", "it starts from the beginning")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "30")
    }

    @Test func `a brake stops a deletion that is too large until it is allowed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 50", "token a")
        let workspace = try await place.workspace(place.world(entity: "incremental: token"))
        #expect(try await place.sync(workspace).text == "Number finished, 5 pages +50")
        try place.say("count 39", "token b", "name 1 one")
        for _ in 0..<2 {
            let report = try await place.sync(workspace)
            let failure = try #require(report.failure(of: "Number"))
            #expect(failure.code == "brake" && report.succeeded == false)
            #expect(
                failure.message
                    == "11 of 50 objects are missing from the listing, more than 20 % and 10: none of them was deleted, "
                    + "and everything else was imported")
            #expect(failure.remedy == "if that is right, `bmo sync Number --allow-deletes` deletes them")
            #expect(try place.file().value("SELECT count(*) FROM Number") == "50")
            #expect(try place.file().value("SELECT name FROM Number WHERE id = 1") == "'one'")
        }
        let allowed = try await place.sync(workspace, Workspace.SyncOptions(allowsDeletes: true))
        #expect(allowed.text == "Number finished, 4 pages =39 -11")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages", "now the token counts")
    }

    @Test func `ten rows are never too many`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 10")
        let workspace = try await place.workspace(place.world())
        _ = try await place.sync(workspace)
        try place.say("count 0")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages -10")
    }

    @Test func `the brake is the configs`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 10")
        let workspace = try await place.workspace(place.world(entity: "deletes: {brake: {share: 0%, rows: 0}}"))
        _ = try await place.sync(workspace)
        try place.say("count 10", "gone 4")
        #expect(try await place.sync(workspace).failure(of: "Number")?.code == "brake")
    }

    @Test func `deletes are ignored where the config says so`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 5")
        let workspace = try await place.workspace(place.world(entity: "deletes: {mode: ignore, when: {has: dead}}"))
        _ = try await place.sync(workspace)
        try place.say("count 5", "gone 1", "deleted 2", "dead 3", "name 3 dead")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2")
        #expect(try numbers(place) == "'0 1 2 3 4'")
        #expect(try place.file().value("SELECT name FROM Number WHERE id = 3") == "'number 3'")
    }

    @Test func `a soft deletion leaves the row and its return undoes it`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 5")
        let workspace = try await place.workspace(place.world(entity: "deletes: soft"))
        _ = try await place.sync(workspace)
        try place.say("count 5", "gone 1", "deleted 2")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =3 -2")
        #expect(
            try place.file().rows("SELECT id, name FROM Number WHERE deleted_at IS NOT NULL ORDER BY id")
                == [["1", "'number 1'"], ["2", "'number 2'"]])
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =3", "once is enough")
        #expect(try place.stored() == before)
        try place.say("count 5")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages ~2 =3")
        #expect(try place.file().value("SELECT count(*) FROM Number WHERE deleted_at IS NOT NULL") == "0")
    }

    // MARK: tombstones

    @Test func `tombstones delete without a whole listing`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 5")
        let workspace = try await place.workspace(
            place.world(entity: "deletes: {when: {property: dead, equals: true}}"))
        _ = try await place.sync(workspace)
        try place.say("count 5", "incomplete", "deleted 2", "dead 3", "gone 4")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2 -2")
        #expect(try numbers(place) == "'0 1 4'")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2", "they are gone already")
    }

    /// WatermelonDB 1462: created and deleted in one pull.
    @Test func `an object that is created and deleted between two syncs never comes`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "dead 2", "deleted 1")
        let workspace = try await place.workspace(place.world(entity: "deletes: {when: {has: dead}}"))
        let report = try await place.sync(workspace)
        #expect(report.text == "Number finished, 1 pages +1")
        #expect(try numbers(place) == "'0'")
    }

    // MARK: what is not looked at

    @Test func `spared objects are not missed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 8")
        let workspace = try await place.workspace(place.world())
        _ = try await place.sync(workspace)
        try place.say("count 8", "gone 1", "gone 2", "gone 3", "spare id 2", "spare_prefix name number 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =5 -1")
        #expect(try numbers(place) == "'0 2 3 4 5 6 7'")
    }

    @Test func `a field that no attribute has spares all`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 8")
        let workspace = try await place.workspace(place.world())
        _ = try await place.sync(workspace)
        try place.say("count 8", "gone 1", "spare folder x")
        let report = try await place.sync(workspace)
        #expect(report.entities[0].counts.deleted == 0)
        #expect(report.entities[0].warnings.first?.contains("by their field `folder`") == true)
    }

    @Test func `a record in quarantine is not gone`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 8")
        let workspace = try await place.workspace(place.world())
        _ = try await place.sync(workspace)
        try place.say("count 8", "bad 2", "gone 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =6 !1 -1")
        #expect(try numbers(place) == "'0 1 2 4 5 6 7'")
        try place.say("count 8", "reject 2", "gone 3", "gone 4")
        let report = try await place.sync(workspace)
        #expect(report.entities[0].counts.deleted == 0, "nobody knows whose the record is")
        #expect(report.entities[0].warnings.first?.contains("without a readable key") == true)
        #expect(try numbers(place) == "'0 1 2 4 5 6 7'")
    }

    // MARK: references

    private func owned(_ place: LibraryWorkspace<CountingHost>, _ extra: String = "") -> String {
        """
        version: 1
        bridges:
          numbers: {plugin: counting}
        entities:
          Number:
            bridge: numbers
            key: id
            attributes: {id: integer, name: text}
            relationships: {owner: {to: Number}}
            counting: {world: "\(place.folder.appending("world"))", page_size: 10}
        \(extra)
        """
    }

    @Test(.overSQLiteOnly) func `a row that others refer to becomes a stub`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 4", "owner 1 2", "owner 3 3")
        let workspace = try await place.workspace(owned(place))
        _ = try await place.sync(workspace)
        try place.say("count 4", "owner 1 2", "gone 2", "gone 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2 -2")
        #expect(
            try place.file().rows("SELECT id, name, owner FROM Number ORDER BY id") == [
                ["0", "'number 0'", "null"], ["1", "'number 1'", "2"], ["2", "null", "null"],
            ])
        #expect(try place.file().rows("SELECT * FROM bmo_stubs") == [["'Number'", "'[2]'"]])
        #expect(try place.file().faults().isEmpty)
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2", "a stub is not missed again")
        try place.say("count 4", "owner 1 2", "gone 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages +1 =2")
        try place.say("count 4", "owner 1 2", "gone 2", "gone 3")
        _ = try await place.sync(workspace)
        try place.say("count 4", "gone 1", "gone 2", "gone 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =1 -1")
        #expect(
            try place.file().rows("SELECT id FROM Number") == [["0"]], "the stub went with the last that referred to it"
        )
    }

    @Test func `rows that refer to each other go together`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 5", "owner 1 2", "owner 2 3", "owner 3 1")
        let workspace = try await place.workspace(owned(place))
        _ = try await place.sync(workspace)
        try place.say("count 5", "gone 1", "gone 2", "gone 3")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =2 -3")
        #expect(try numbers(place) == "'0 4'")
        #expect(try place.file().faults().isEmpty)
    }

    @Test func `what only others brought is not missed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "owner 1 77")
        let workspace = try await place.workspace(owned(place))
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages +3 ?1")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =3")
        #expect(try numbers(place) == "'0 1 2 77'")
    }

    @Test func `what a scan listed before it started over does not count as listed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let workspace = try await place.workspace(place.world(section: "stale_at: 25, stale_gone: 5"))
        let report = try await place.sync(workspace)
        #expect(report.text == "Number finished, 5 pages +30 =15 -5")
        let warnings = report.entities[0].warnings
        #expect(warnings.first == "the scan starts over: the records changed before 25")
        #expect(!warnings.contains { $0.contains("twice") }, "\(warnings)")
        #expect(try place.file().value("SELECT count(*) || ' ' || min(id) FROM Number") == "'25 5'")
    }

    @Test func `rows without a key are not there twice when a scan starts over`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(section: "stale_at: 25, stale_gone: 5").replacing("key: id", with: "unique: none")
        let report = try await place.sync(try await place.workspace(text))
        #expect(report.text == "Number finished, 5 pages +45")
        #expect(try place.file().value("SELECT count(*) || ' ' || count(DISTINCT id) FROM Number") == "'25 25'")
    }

    @Test func `a scan that starts over again and again fails and deletes nothing`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let workspace = try await place.workspace(place.world(section: "stale_at: 25, stale_times: 1000"))
        let report = try await place.sync(workspace)
        #expect(report.text == "Number failed, 8 pages +20 =60")
        #expect(report.failure(of: "Number")?.code == "conflict")
        #expect(report.entities[0].warnings.count { $0.hasPrefix("the scan starts over") } == 3)
        #expect(try place.file().value("SELECT count(*) FROM Number") == "20")
    }
}
