import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// How much of a scan may go to quarantine.
@Suite(.overBothStores, .namingTheStore) struct QuarantineLimitTests {
    /// No record fits: no name is among those that are known.
    private func text(_ place: LibraryWorkspace<CountingHost>, limit: String) -> String {
        place.world(entity: limit).replacing(
            "name: text", with: "name: {type: text, transform: {map: {nobody: x}}}")
    }

    private func quarantined(_ workspace: Workspace) throws -> Int {
        let store = try workspace.openStore()
        defer { try? store.close() }
        return try store.quarantined().count
    }

    @Test func `a scan with too many bad records is given up`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 40")
        let workspace = try await place.workspace(text(place, limit: "quarantine_limit: 12"))
        for _ in 0..<3 {
            let report = try await place.sync(workspace)
            let failure = try #require(report.failure(of: "Number"))
            #expect(failure.code == "quarantine")
            #expect(failure.message.hasPrefix("more than 12 records could not be imported"), "\(failure)")
            #expect(failure.description.contains("raise \"quarantine_limit\" of Number (12 now)"), "\(failure)")
            // The first page, and of the second the records that came until it was too much.
            #expect(try quarantined(workspace) == 13, "what was put aside is there to look at, and does not grow")
        }
        let raised = try await place.workspace(text(place, limit: "quarantine_limit: 100"))
        let report = try await place.sync(raised)
        let failure = try #require(report.failure(of: "Number"))
        #expect(failure.message.contains("none of the 30"), "it goes on after the first page: \(failure)")
        #expect(try quarantined(raised) == 40)
    }

    @Test func `a scan that starts over does not count its records twice`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 30")
        let world = place.world(entity: "quarantine_limit: 30", section: "stale_at: 25").replacing(
            "name: text", with: "name: {type: text, transform: {map: {nobody: x}}}")
        let workspace = try await place.workspace(world)
        let report = try await place.sync(workspace)
        #expect(report.entities[0].warnings.first == "the scan starts over: the records changed before 25")
        // Both attempts are counted, so that the message has no number; the limit would say "more than 30".
        let failure = try #require(report.failure(of: "Number"))
        #expect(failure.message.contains("none of the records could be imported"), "\(failure)")
        #expect(try quarantined(workspace) == 30)
    }

    @Test func `good records of the pages before stay`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 20")
        _ = try await place.sync(try await place.workspace(place.world()))
        // Now each record is bad: the rows stay as they are.
        let workspace = try await place.workspace(text(place, limit: "quarantine_limit: 5"))
        #expect(try await place.sync(workspace).succeeded == false)
        #expect(try place.file().value("SELECT count(*) FROM Number") == "20")
        #expect(try quarantined(workspace) == 6)
    }
}
