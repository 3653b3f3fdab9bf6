import BMO
import BridgeHost
import BridgeTestSupport
import Dispatch
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Model
import Synchronization
import StoreTestSupport
import TestSupport
import Testing

/// Whole syncs through a bridge in C: what fails, what stays, and where the next one goes on.
@Suite(.overBothStores, .namingTheStore) struct SyncTests {
    private static let isolations = [#"COUNTING_ISOLATION="in_process""#, #"COUNTING_ISOLATION="child_process""#]

    private static let tenThousand = "count: 10000, page_size: 1000, batch_size: 300"

    @Test(.overSQLiteOnly, arguments: isolations)
    func `a failed page leaves the pages before it and the next sync goes on`(_ isolation: String) async throws {
        let place = try LibraryWorkspace.counting([isolation])
        let failing = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 5500, fail_times: 1000", section: Self.tenThousand))
        let first = try await place.sync(failing)
        #expect(first.text == "Number failed, 5 pages +5000")
        let failure = try #require(first.failure(of: "Number"))
        #expect(failure.code == "unreachable" && failure.page == 6 && failure.location == "counting:/numbers")
        #expect(first.succeeded == false && first.outcomeWord == "failed")
        let file = try place.file()
        #expect(try file.value("SELECT count(*) || ' ' || max(id) FROM Number") == "'5000 4999'")
        #expect(try file.rows("SELECT entity, cursor, page FROM bmo_progress") == [["'Number'", "'5000'", "5"]])

        let mended = try await place.mendedWorkspace()
        let second = try await place.sync(mended)
        #expect(second.text == "Number finished after page 5, 5 pages +5000")
        #expect(
            try file.value("SELECT count(*) || ' ' || sum(id) || ' ' || sum(even) FROM Number")
                == "'10000 49995000 5000'")
        #expect(
            try file.rows("SELECT * FROM Number WHERE id = 9876") == [["9876", "'number 9876'", "1", "'[6,7,8,9]'"]])
        #expect(try file.rows("SELECT entity FROM bmo_progress").isEmpty)

        let before = try place.stored()
        let third = try await place.sync(mended)
        #expect(third.text == "Number finished, 10 pages =10000")
        #expect(try place.stored() == before, "nothing changed, nothing is written")
        #expect(try file.rows("SELECT outcome FROM bmo_runs ORDER BY id") == [["'failed'"], ["'finished'"]])
        #expect(try file.faults().isEmpty)
    }

    @Test func `another request does not go on in the middle`() async throws {
        let place = try LibraryWorkspace.counting()
        let failing = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 25, fail_times: 1000", section: "count: 40, page_size: 10"))
        #expect(try await place.sync(failing).text == "Number failed, 2 pages +20")
        let other = try await place.workspace(CountingHost.numbers(section: "count: 40, page_size: 20"))
        #expect(try await place.sync(other).text == "Number finished, 2 pages +20 =20")
    }

    @Test func `restart begins at the beginning`() async throws {
        let place = try LibraryWorkspace.counting()
        let section = "count: 40, page_size: 10"
        let failing = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 25, fail_times: 1000", section: section))
        _ = try await place.sync(failing)
        let mended = try await place.mendedWorkspace()
        let report = try await place.sync(mended, Workspace.SyncOptions(restart: true))
        #expect(report.text == "Number finished, 4 pages +20 =20")
    }

    @Test(.overSQLiteOnly) func `a restart that is stopped does not go on where the earlier scan stopped`() async throws
    {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 55, fail_times: 1000", section: "count: 60, page_size: 10"))
        #expect(try await place.sync(workspace).text == "Number failed, 5 pages +50")
        #expect(try place.file().value("SELECT page FROM bmo_progress") == "5")
        let (events, second) = AsyncStream.makeStream(of: Void.self)
        let cancelled = DispatchSemaphore(value: 0)
        let sync = Task {
            try await place.sync(workspace, Workspace.SyncOptions(restart: true)) { event in
                guard case .page(let page) = event, page.page == 2 else { return }
                second.finish()
                // One more page may be on its way already.
                cancelled.wait()
            }
        }
        for await _ in events {}
        sync.cancel()
        cancelled.signal()
        let restarted = try await sync.value
        let pages = try #require(restarted.entities.first).pages
        try #require(pages < 5, "it was stopped: \(restarted.text)")
        let report = try await place.sync(try await place.mendedWorkspace())
        #expect(
            (report.entities.first?.resumedAfterPage ?? 0) <= pages, "pages were left out: \(report.text)")
        #expect(report.succeeded)
    }

    @Test(arguments: isolations)
    func `a retried page is imported once`(_ isolation: String) async throws {
        let place = try LibraryWorkspace.counting([isolation])
        let workspace = try await place.workspace(
            CountingHost.numbers(
                options: "fail_at: 7, fail_times: 2", section: "count: 20, page_size: 10, batch_size: 3"))
        #expect(try await place.sync(workspace).text == "Number finished, 2 pages +20")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "20")
    }

    private static func twoBridges(good: String, bad: String) -> String {
        """
        version: 1
        bridges:
          good: {plugin: counting, options: {\(good)}}
          bad: {plugin: counting, options: {\(bad)}}
        entities:
          Good: {bridge: good, key: id, attributes: {id: integer, name: text}, counting: {count: 50, page_size: 10}}
          Bad: {bridge: bad, key: id, attributes: {id: integer, name: text}, counting: {count: 50, page_size: 10}}
          Other: {bridge: good, key: id, attributes: {id: integer}, counting: {count: 5}}
        """
    }

    @Test func `a crash in a child fails its entity alone`() async throws {
        let place = try LibraryWorkspace.counting([#"COUNTING_ISOLATION="child_process""#])
        let workspace = try await place.workspace(Self.twoBridges(good: "", bad: "crash_at: 25"))
        let report = try await place.sync(workspace)
        #expect(report.text == "Good finished, 5 pages +50\nBad failed, 2 pages +20\nOther finished, 1 pages +5")
        let failure = try #require(report.failure(of: "Bad"))
        #expect(failure.bridge == "bad" && failure.page == 3)
        #expect(failure.description.contains("about to abort at 25"), "\(failure)")
        #expect(try place.file().value("SELECT count(*) FROM Bad") == "20")
        #expect(report.succeeded == false && report.wasInterrupted == false)

        let mended = try await place.mendedWorkspace()
        let second = try await place.sync(mended)
        #expect(
            second.text
                == "Good finished, 5 pages =50\nBad finished after page 2, 3 pages +30\nOther finished, 1 pages =5",
            "\(second.entities.map(\.outcome))")
    }

    @Test func `a bridge that cannot be opened fails its entities alone`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(Self.twoBridges(good: "", bad: #"refuse: "no url""#))
        let report = try await place.sync(workspace)
        #expect(report.text == "Good finished, 5 pages +50\nBad failed, 0 pages\nOther finished, 1 pages +5")
        #expect(report.failure(of: "Bad")?.description == "Bad (bridge bad): configuration: no url")
    }

    @Test func `bytes that are not a batch fail the entity with an explanation`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "garbage_at: 25", section: "count: 50, page_size: 10"))
        let report = try await place.sync(workspace)
        #expect(report.text == "Number failed, 2 pages +20")
        #expect(report.failure(of: "Number")?.code == "protocol")
        #expect(report.failure(of: "Number")?.page == 3)
    }

    @Test func `a place that cannot be gone on from is given up`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "garbage_at: 25", section: "count: 50, page_size: 10"))
        #expect(try await place.sync(workspace).text == "Number failed, 2 pages +20")
        let second = try await place.sync(workspace)
        #expect(second.text == "Number failed, 2 pages =20")
        #expect(second.entities.first?.warnings.first?.contains("cannot continue after page 2") == true)
    }

    @Test(.overSQLiteOnly) func `a sync whose records all fail to fit has failed`() async throws {
        let place = try LibraryWorkspace.counting()
        let text = CountingHost.numbers(section: "count: 5").replacing("id: integer", with: "id: uuid")
        let report = try await place.sync(try await place.workspace(text))
        #expect(report.failure(of: "Number")?.message == "none of the 5 records could be imported")
        #expect(try place.file().value("SELECT count(*) FROM bmo_quarantine") == "5")
    }

    @Test func `another mapping does not go on in the middle`() async throws {
        let place = try LibraryWorkspace.counting()
        let text = CountingHost.numbers(
            options: "fail_at: 25, fail_times: 1000", section: "count: 40, page_size: 10")
        #expect(try await place.sync(try await place.workspace(text)).text == "Number failed, 2 pages +20")
        _ = try await place.workspace(text.replacing("name: text", with: "name: {type: text, transform: uppercase}"))
        #expect(try await place.sync(try await place.mendedWorkspace()).text == "Number finished, 4 pages +20 ~20")
    }

    @Test(arguments: isolations)
    func `a cancelled sync keeps its pages and the next goes on`(_ isolation: String) async throws {
        let place = try LibraryWorkspace.counting([isolation])
        let section = "count: 50, page_size: 10"
        let workspace = try await place.workspace(
            CountingHost.numbers(options: "block_at: 35", section: section))
        let pages = Mutex(0)
        let task = Task {
            try await place.sync(workspace) { event in
                if case .page = event { pages.withLock { $0 += 1 } }
            }
        }
        try await eventually("three pages are in") { pages.withLock { $0 } == 3 }
        let start = ContinuousClock.now
        task.cancel()
        let report = try await task.value
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(report.text == "Number interrupted, 3 pages +30")
        #expect(report.wasInterrupted && !report.succeeded && report.outcomeWord == "interrupted")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "30")
        let mended = try await place.mendedWorkspace()
        #expect(try await place.sync(mended).text == "Number finished after page 3, 2 pages +20")
    }

    @Test func `only the named entities are synced`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(Self.twoBridges(good: "", bad: ""))
        let report = try await place.sync(workspace, Workspace.SyncOptions(entities: ["Other", "Bad"]))
        #expect(report.text == "Bad finished, 5 pages +50\nOther finished, 1 pages +5")
    }

    @Test(.overSQLiteOnly) func `records that do not fit are counted and released when they do`() async throws {
        let place = try LibraryWorkspace.counting()
        func config(_ type: String) -> String {
            """
            version: 1
            bridges: {numbers: {plugin: counting}}
            entities:
              Number: {bridge: numbers, key: id, attributes: {id: integer, name: \(type)}, counting: {count: 3}}
            """
        }
        let report = try await place.sync(
            try await place.workspace(config("{type: text, transform: {map: {number 0: zero, number 1: one}}}")))
        #expect(report.text == "Number finished, 1 pages +2 !1")
        #expect(
            try place.file().rows("SELECT page, record, reason FROM bmo_quarantine") == [
                ["1", "3", "'Number.name: the text \"number 2\" is not in the map of \"number 0\", \"number 1\"'"]
            ])
        #expect(
            try await place.sync(try await place.workspace(config("text"))).text == "Number finished, 1 pages +1 ~2")
        #expect(try place.file().rows("SELECT * FROM bmo_quarantine").isEmpty)
    }

    @Test func `events tell where a sync stands`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(CountingHost.numbers(section: "count: 12, page_size: 10"))
        let lines = Mutex<[String]>([])
        _ = try await place.sync(workspace) { event in
            lines.withLock { lines in
                switch event {
                case .began(let entity, let bridge, let page): lines.append("began \(entity) \(bridge) \(page ?? 0)")
                case .page(let page):
                    lines.append(
                        "page \(page.page): \(page.records) of \(page.total ?? -1), \(page.counts.inserted) inserted")
                case .note(_, let message): lines.append("note \(message)")
                case .detail(_, let message): lines.append("detail \(message)")
                case .warning(_, let message): lines.append("warning \(message)")
                case .ended(let entity): lines.append("ended \(entity.name) \(entity.outcomeWord)")
                }
            }
        }
        #expect(
            lines.withLock { $0 } == [
                "began Number numbers 0", "page 1: 10 of 12, 10 inserted", "page 2: 12 of 12, 12 inserted",
                "ended Number finished",
            ])
    }
}
