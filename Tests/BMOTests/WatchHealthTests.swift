import BMO
import Foundation
import TestSupport
import Testing

/// What the health file of a watch says about rounds that do nothing.
@Suite struct WatchHealthTests {
    private struct Health: Decodable {
        var state: String
        var rounds: Int
        var failures: Int
        var error: String?

        enum CodingKeys: String, CodingKey {
            case state, rounds, error
            case failures = "failures_in_a_row"
        }

        init(_ file: String) throws {
            self = try JSONDecoder().decode(Health.self, from: Data(contentsOf: URL(filePath: file)))
        }
    }

    @Test func `a round that is skipped clears no failures and says who has the database`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2")
        let workspace = try await place.workspace(place.world(section: "fail_at: 0, fail_times: 1000000"))
        let file = place.folder.appending("health.json")
        /// Waits until two more rounds are over.
        func health(after rounds: Int) async throws -> Health {
            try await eventually("there are \(rounds + 2) rounds") { () -> Health? in
                guard let health = try? Health(file) else { return nil }
                return health.rounds >= rounds + 2 && health.state != "syncing" ? health : nil
            }
        }
        let first = try await workspace.openLockedStore(command: "a test")
        let watch = Task { try await workspace.watch(WatchOptions(every: .milliseconds(100), health: file)) { _ in } }
        let skipped = try await health(after: 0)
        #expect(skipped.state == "waiting" && skipped.failures == 0, "\(skipped)")
        #expect(skipped.error?.contains("is being written by") == true, "\(skipped)")
        try first.close()
        let failing = try await eventually("it fails twice") { () -> Health? in
            let health = try Health(file)
            return health.failures >= 2 && health.state == "failing" ? health : nil
        }
        #expect(failing.error?.contains("unreachable") == true, "\(failing)")
        let second = try await eventually("the watch has no lock") {
            try? await workspace.openLockedStore(command: "a test")
        }
        // The first of these rounds may have ended before the lock was taken.
        let held = try await health(after: Health(file).rounds)
        let later = try await health(after: held.rounds)
        #expect(held.state == "failing" && held.failures >= 2, "\(held)")
        #expect(later.state == "failing" && later.failures == held.failures, "\(later)")
        #expect(later.error?.contains("unreachable") == true, "\(later)")
        try second.close()
        watch.cancel()
        try await watch.value
    }
}
