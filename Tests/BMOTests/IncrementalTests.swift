import BMO
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Model
import StoreTestSupport
import TestSupport
import Testing

/// Scans that ask only for what moved since the one before.
@Suite(.overBothStores, .namingTheStore) struct IncrementalTests {
    private static let byField = "incremental: {field: changed}"

    @Test(.overSQLiteOnly) func `a fields newest value is asked for next time`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 12", "stamp 3 2026-03-03T12:00:00+02:00", "stamp 11 2026-02-02T00:00:00Z")
        let workspace = try await place.workspace(place.world(entity: Self.byField))
        #expect(try await place.sync(workspace).text == "Number finished, 2 pages +12")
        #expect(
            try place.file().rows("SELECT entity, newest, newest_remote FROM bmo_cursors")
                == [["'Number'", "'2026-03-03T10:00:00.000000Z'", "'2026-03-03T12:00:00+02:00'"]])
        try place.say("count 12", "stamp 3 2026-03-03T12:00:00+02:00", "stamp 5 2026-04-04T00:00:00Z", "name 5 five")
        _ = try place.takeRequests()
        let report = try await place.sync(workspace)
        #expect(report.text == "Number finished, 2 pages ~1 =1")
        #expect(try place.takeRequests() == ["token= since=2026-03-03T12:00:00+02:00 parent=-1 cursor="])
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Number finished, 2 pages =1")
        #expect(try place.stored() == before, "nothing changed, nothing is written")
    }

    /// RestKit 1177: unchanged is not absent.
    @Test func `what an incremental scan lacks is not gone`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 12", "stamp 3 2026-03-03T00:00:00Z")
        let workspace = try await place.workspace(place.world(entity: Self.byField))
        _ = try await place.sync(workspace)
        try place.say("count 12", "stamp 3 2026-03-03T00:00:00Z", "gone 7")
        #expect(try await place.sync(workspace).text == "Number finished, 2 pages =1")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "12")
        let full = try await place.sync(workspace, Workspace.SyncOptions(full: true))
        #expect(full.text == "Number finished, 2 pages =11 -1")
        #expect(try place.takeRequests().last == "token= since= parent=-1 cursor=")
    }

    @Test func `a lookback asks for some what more`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", "stamp 1 2026-03-03T00:00:30Z")
        let workspace = try await place.workspace(
            place.world(entity: "incremental: {field: changed, lookback: 5m}"))
        _ = try await place.sync(workspace)
        _ = try place.takeRequests()
        _ = try await place.sync(workspace)
        #expect(try place.takeRequests() == ["token= since=2026-03-02T23:55:30Z parent=-1 cursor="])
    }

    @Test(arguments: [("", "03.03.2026", "2026-03-03"), (", lookback: 1d", "02.03.2026", "2026-03-02")])
    func `a time in a form of the remote's own is requested as a time, too`(
        lookback: String, since: String, time: String
    ) async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 1", "stamp 0 03.03.2026")
        let world = place.world(entity: "incremental: {field: changed\(lookback)}")
        let workspace = try await place.workspace(
            world.replacing(
                "changed: timestamp", with: "changed: {type: timestamp, transform: {format: \"%d.%m.%Y\"}}"))
        _ = try await place.sync(workspace)
        _ = try place.takeRequests()
        _ = try await place.sync(workspace)
        let requests = try place.takeRequests()
        #expect(requests == ["token= since=\(since) time=\(time)T00:00:00.000000Z parent=-1 cursor="], "\(requests)")
    }

    @Test(.overSQLiteOnly) func `a failed scan does not move the cursor`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let text = place.world(entity: Self.byField, section: "fail_at: 25, fail_times: 1000")
        _ = try await place.workspace(text)
        _ = try await place.sync(try await place.mendedWorkspace())
        let stamps = (0..<30).map { "stamp \($0) 2026-05-0\(1 + (29 - $0) / 10)T00:00:00Z" }.joined(separator: "\n")
        try place.say("count 30", stamps)
        let failing = try await place.workspace(text)
        #expect(try await place.sync(failing).text == "Number failed, 2 pages ~20")
        #expect(try place.file().value("SELECT newest FROM bmo_cursors") == "'2026-01-01T00:00:00.000000Z'")
        // The newest stood on a page before the failure: it is kept with the scan's place.
        let resumed = try await place.sync(try await place.mendedWorkspace())
        #expect(resumed.text == "Number finished after page 2, 1 pages ~10")
        #expect(try place.file().value("SELECT newest FROM bmo_cursors") == "'2026-05-03T00:00:00.000000Z'")
    }

    @Test(.overSQLiteOnly) func `an incomplete scan does not move the cursor`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3")
        let workspace = try await place.workspace(place.world(entity: Self.byField))
        _ = try await place.sync(workspace)
        try place.say("count 3", "incomplete", "stamp 1 2026-05-05T00:00:00Z")
        _ = try await place.sync(workspace)
        #expect(try place.file().value("SELECT newest FROM bmo_cursors") == "'2026-01-01T00:00:00.000000Z'")
    }

    @Test func `another mapping asks for everything`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 1 2026-05-05T00:00:00Z")
        let text = place.world(entity: Self.byField)
        _ = try await place.sync(try await place.workspace(text))
        let other = try await place.workspace(
            text.replacing("name: text", with: "name: {type: text, transform: uppercase}"))
        #expect(try await place.sync(other).text == "Number finished, 1 pages ~3")
        #expect(try await place.sync(other).text == "Number finished, 1 pages =1")
    }

    @Test func `another mapping does not append rows without a key again`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 1 2026-05-05T00:00:00Z")
        let text = place.world(entity: Self.byField).replacing("key: id", with: "unique: none")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number finished, 1 pages +3")
        let other = try await place.workspace(
            text.replacing("name: text", with: "name: {type: text, transform: uppercase}"))
        _ = try place.takeRequests()
        // This remote returns the newest value again.
        #expect(try await place.sync(other).text == "Number finished, 1 pages +1")
        #expect(try place.takeRequests() == ["token= since=2026-05-05T00:00:00Z parent=-1 cursor="])
    }

    @Test func `another mapping of one entity leaves the others alone`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 1 2026-05-05T00:00:00Z")
        let text = place.world(entity: Self.byField)
        let other = text.range(of: "  Number:").map { String(text[$0.lowerBound...]) } ?? ""
        let both = text + "\n" + other.replacing("  Number:", with: "  Other:")
        _ = try await place.sync(try await place.workspace(both))
        let mapped = other.replacing("name: text", with: "name: {type: text, transform: uppercase}")
        let changed = both.replacing(other, with: mapped)
        #expect(changed != both)
        let report = try await place.sync(try await place.workspace(changed))
        #expect(
            report.text == "Number finished, 1 pages ~3\nOther finished, 1 pages =1"
                || report.text == "Number finished, 1 pages =1\nOther finished, 1 pages ~3", "\(report.text)")
    }

    @Test(arguments: ["hard", "ignore"])
    func `another mode of deletion asks for everything`(mode: String) async throws {
        let place = try LibraryWorkspace.counting()
        func sync(_ mode: String, full: Bool = false) async throws {
            let workspace = try await place.workspace(place.world(entity: Self.byField + "\ndeletes: \(mode)"))
            _ = try await place.sync(workspace, Workspace.SyncOptions(full: full))
        }
        try place.say("count 5")
        try await sync("soft")
        try place.say("count 5", "gone 1", "gone 2")
        try await sync("soft", full: true)
        try place.say("count 5", "gone 1")
        try await sync(mode)
        let ids = mode == "hard" ? ["0", "2", "3", "4"] : ["0", "1", "2", "3", "4"]
        #expect(try place.file().rows("SELECT id FROM Number ORDER BY id") == ids.map { [$0] })
        try await sync("soft")
        let marked = mode == "hard" ? [] : [["1"]]
        #expect(try place.file().rows("SELECT id FROM Number WHERE deleted_at IS NOT NULL") == marked)
    }

    @Test(.overSQLiteOnly) func `full is noted as such`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 1 2026-05-05T00:00:00Z")
        let workspace = try await place.workspace(place.world(entity: Self.byField))
        _ = try await place.sync(workspace)
        try place.file().rows("UPDATE bmo_cursors SET full_at = '2020-01-01T00:00:00.000000Z'")
        _ = try await place.sync(workspace)
        #expect(try place.file().value("SELECT full_at FROM bmo_cursors") == "'2020-01-01T00:00:00.000000Z'")
        _ = try await place.sync(workspace, Workspace.SyncOptions(full: true))
        #expect(try place.file().value("SELECT full_at < '2026' FROM bmo_cursors") == "0")
    }

    @Test(.overSQLiteOnly) func `everything is asked for as often as the config says`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 1 2026-05-05T00:00:00Z")
        let workspace = try await place.workspace(place.world(entity: Self.byField + "\nfull_every: 7d"))
        _ = try await place.sync(workspace)
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages =1")
        // The clock was wrong at the time of the second one.
        for time in ["2020-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"] {
            try place.file().rows("UPDATE bmo_cursors SET full_at = '\(time)'")
            #expect(try await place.sync(workspace).text == "Number finished, 1 pages =3")
            #expect(try await place.sync(workspace).text == "Number finished, 1 pages =1")
        }
    }

    @Test(.overSQLiteOnly) func `a time far ahead is not the newest`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", "stamp 0 9999-01-01T00:00:00Z", "stamp 1 2026-05-05T00:00:00Z")
        let workspace = try await place.workspace(place.world(entity: Self.byField))
        let report = try await place.sync(workspace)
        #expect(
            report.entities[0].warnings.prefix(1)
                == ["1 values of `changed` are more than a day in the future and do not count as the newest"])
        #expect(try place.file().value("SELECT newest_remote FROM bmo_cursors") == "'2026-05-05T00:00:00Z'")
    }

    @Test func `without a key the next scan asks for what is newer than all that was appended`() async throws {
        let place = try LibraryWorkspace.counting()
        let now = Date()
        let stamps = (0..<12).map { now.addingTimeInterval(Double($0) - 60).ISO8601Format() }
        try place.say("count 12", stamps.enumerated().map { "stamp \($0) \($1)" }.joined(separator: "\n"))
        let text = place.world(entity: Self.byField).replacing("key: id", with: "unique: none")
        let workspace = try await place.workspace(text)
        #expect(try await place.sync(workspace).text == "Number finished, 2 pages +12")
        _ = try place.takeRequests()
        _ = try await place.sync(workspace)
        #expect(try place.takeRequests() == ["token= since=\(stamps[11]) parent=-1 cursor="])
        // This remote returns the newest value again, and only that.
        #expect(try place.file().value("SELECT count(*) || ' ' || count(DISTINCT id) FROM Number") == "'13 12'")
    }

    @Test(.overSQLiteOnly) func `a token comes back and an unchanged scan writes nothing`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 5", "token t1")
        let workspace = try await place.workspace(place.world(entity: "incremental: token"))
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages +5")
        #expect(try place.takeRequests() == ["token= since= parent=-1 cursor="])
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages")
        #expect(try place.takeRequests() == ["token=t1 since= parent=-1 cursor="])
        #expect(try place.stored() == before)
        try place.say("count 6", "token t2", "gone 0")
        #expect(try await place.sync(workspace).text == "Number finished, 1 pages +1 =4 -1")
        #expect(try place.file().value("SELECT token FROM bmo_cursors") == "'t2'")
    }

    @Test func `what a bridge cannot do is a fault of the config`() async throws {
        let place = try LibraryWorkspace.counting([#"COUNTING_CAPABILITIES="check","fetch","resume""#])
        await #expect {
            _ = try await place.workspace(place.world(entity: "incremental: token"))
        } throws: { error in
            "\(error)".contains(
                "\"incremental\" of Number: the plugin \"counting\" of its bridge lacks the capability \"incremental\"; "
                    + "remove the key, or use another bridge")
        }
    }
}
