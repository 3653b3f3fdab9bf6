import BMO
import Foundation
import ImportTestSupport
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
    @Test func `a failed sync of news is tried again soon, and the watch is failing until it succeeds`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 100")
        let workspace = try await place.workspace(place.world())
        let file = place.folder.appending("health.json")
        let news = RemoteNews()
        let watch = Task {
            try await workspace.watch(WatchOptions(every: .seconds(3600), health: file), news: news) { _ in }
        }
        func health(_ what: String, _ condition: (Health) -> Bool) async throws -> Health {
            try await eventually(what) { () -> Health? in
                guard let health = try? Health(file), health.rounds > 0, condition(health) else { return nil }
                return health
            }
        }
        _ = try await health("a first round is over") { $0.state == "waiting" }
        // So many deletions are refused.
        try place.say("count 1")
        news.moved("Number")
        let failing = try await health("it fails") { $0.state == "failing" }
        #expect(failing.failures == 1 && failing.error?.contains("brake") == true, "\(failing)")
        try place.say("count 101")
        let healthy = try await health("it has recovered, an hour before the next round") { $0.state == "waiting" }
        #expect(healthy.failures == 0 && healthy.error == nil, "\(healthy)")
        #expect(try place.file().value("SELECT count(*) FROM Number") == "101")
        watch.cancel()
        try await watch.value
    }
}
