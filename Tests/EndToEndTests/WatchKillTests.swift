import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// A watch that dies at any instant while edits are being made.
    @Suite struct WatchKillTests {
        /// BMO_TEST_KILLS=100 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 8

        @Test func `a watch that is killed at any instant loses and doubles no edit`() async throws {
            // The server has a new note 1.5 s before it answers: many kills come in between.
            let place = try RemoteWorkspace.notes(style: "slow")
            try await place.expect("sync", "-q")
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var killed = 0
            var number = 0
            var cities: [Int: String] = [:]
            while killed < Self.kills {
                let watch = try place.start(["watch", "--every", "1s"])
                let end = ContinuousClock.now + .milliseconds(Int.random(in: 100..<4000, using: &random))
                // Each takes the server 1.5 s: not more than it can send in the end.
                for _ in 1...3 where ContinuousClock.now < end {
                    number += 1
                    try await place.expect("create", "Note", "--set", "text=n\(number)")
                    let other = Int.random(in: 1...number, using: &random)
                    if try await move(other, to: "c\(number)", place) { cities[other] = "c\(number)" }
                }
                try await Task.sleep(until: end)
                watch.signal(SIGKILL)
                let ended = try await watch.finish()
                try #require(ended.signal == SIGKILL, "seed \(seed): \(ended)")
                killed += 1
                try #require(try place.faults() == [], "seed \(seed), kill \(killed)")
            }
            try await eventually("all is sent", within: .seconds(300)) {
                try await place.start(["push", "--look-again-after", "0s"]).finish(within: .seconds(300)).exitCode == 0
            }
            try await place.expect("sync", "-q")
            let expected = (1...number).map { [String("n\($0)"), cities[$0] ?? "null"] }.sorted { $0[0] < $1[0] }
            let what: Comment = "seed \(seed)"
            #expect(try place.rows("SELECT text, city FROM Note").sorted { $0[0] < $1[0] } == expected, what)
            #expect(try place.value("SELECT count(*) FROM Note WHERE id <= 0") == "0", what)
            #expect(try place.value("SELECT count(*) FROM bmo_outbox") == "0", what)
            let remote = try await place.server.content()
            for pair in expected {
                #expect(remote.components(separatedBy: "\"\(pair[0])\"").count == 2, "\(pair[0]), seed \(seed)")
                if pair[1] != "null" {
                    #expect(remote.contains("\"city\": \"\(pair[1])\""), "\(pair[1]), seed \(seed)")
                }
            }
        }

        /// Edits a note by its key as it is now, which the watch may be changing: whether it was edited.
        private func move(_ number: Int, to city: String, _ place: RemoteWorkspace<NoteServer>) async throws -> Bool {
            for _ in 1...5 {
                let id = try place.value("SELECT id FROM Note WHERE text = 'n\(number)'")
                if try await place.bmo("update", "Note", id, "--set", "city=\(city)").exitCode == 0 { return true }
            }
            return false
        }
    }
}
