import Foundation
import Glibc
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct KillTests {
        /// BMO_TEST_KILLS=200 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 60

        @Test func `a sync that is killed at any instant and run again brings the rows of one that was not`()
            async throws
        {
            let place = try RemoteWorkspace.people()
            let start = ContinuousClock.now
            let cleanRun = try await place.sync("clean.sqlite").finish()
            // How long to wait at most: it follows the machine, which may be busier now than later.
            var window = ContinuousClock.now - start
            try #require(cleanRun.exitCode == 0, "\(cleanRun)")
            let clean = try place.contents(of: "clean.sqlite")
            #expect(clean.count > 2 * PeoplePages.count)

            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var killed = 0
            var lives = 0
            var resumed = 0
            while killed < Self.kills {
                let run = try place.sync("killed.sqlite")
                try await Task.sleep(for: window * Double.random(in: 0..<1, using: &random))
                run.signal(SIGKILL)
                let ended = try await run.finish()
                killed += ended.signal == SIGKILL ? 1 : 0
                // Some come to their end.
                window = window * (ended.signal == SIGKILL ? 1.1 : 0.7)
                resumed += ended.allOutput.contains("continuing after page") ? 1 : 0
                let what: Comment = "seed \(seed), kill \(killed): \(ended)"
                try #require(ended.signal == SIGKILL || ended.exitCode == 0, what)
                guard place.isThere("killed.sqlite") else { continue }
                try #require(try place.faults(of: "killed.sqlite").isEmpty, what)
                // What is in is what a clean run brings, or waits as a stub for what is to come.
                guard ended.exitCode == 0 else { continue }
                let rows = try place.contents(of: "killed.sqlite")
                try #require(rows == clean, "\(what.rawValue): \(Self.difference(rows, clean))")
                place.remove("killed.sqlite")
                lives += 1
            }
            let last = try await place.sync("killed.sqlite").finish()
            #expect(last.exitCode == 0, "seed \(seed): \(last)")
            #expect(try place.contents(of: "killed.sqlite") == clean, "seed \(seed)")
            #expect(resumed > 0, "seed \(seed): no sync went on after a page: the kills came too early, or too late")
            #expect(lives < killed * 10, "seed \(seed): hardly any sync was killed")
        }

        @Test func `a sync that is killed while it deletes and run again deletes what one that was not would`()
            async throws
        {
            let place = try RemoteWorkspace.people()
            try #require(try await place.sync("before.sqlite").finish().exitCode == 0)
            try place.write(without: { $0.isMultiple(of: 11) || $0 % 60 == 59 }, change: { $0.isMultiple(of: 13) })
            try place.copy("before.sqlite", to: "clean.sqlite")
            let start = ContinuousClock.now
            let cleanRun = try await place.sync("clean.sqlite").finish()
            let whole = ContinuousClock.now - start
            try #require(cleanRun.exitCode == 0, "\(cleanRun)")
            let clean = try place.contents(of: "clean.sqlite")
            #expect(cleanRun.allOutput.contains("63 deleted"), "\(cleanRun)")

            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var killed = 0
            var resumed = 0
            while killed < Self.kills / 2 {
                try place.copy("before.sqlite", to: "killed.sqlite")
                var isOver = false
                while !isOver {
                    let run = try place.sync("killed.sqlite")
                    try await Task.sleep(for: whole * Double.random(in: 0..<1.2, using: &random))
                    run.signal(SIGKILL)
                    let ended = try await run.finish()
                    killed += ended.signal == SIGKILL ? 1 : 0
                    resumed += ended.allOutput.contains("continuing after page") ? 1 : 0
                    let what: Comment = "seed \(seed), kill \(killed): \(ended)"
                    try #require(ended.signal == SIGKILL || ended.exitCode == 0, what)
                    try #require(try place.faults(of: "killed.sqlite").isEmpty, what)
                    isOver = ended.exitCode == 0
                    guard isOver else { continue }
                    let rows = try place.contents(of: "killed.sqlite")
                    try #require(rows == clean, "\(what.rawValue): \(Self.difference(rows, clean))")
                }
            }
            #expect(resumed > 0, "seed \(seed): no sync went on after a page: the kills came too early, or too late")
        }

        private static func difference(_ rows: [String], _ clean: [String]) -> String {
            rows.difference(from: clean).map { change in
                switch change {
                case .insert(_, let row, _): "+ \(row)"
                case .remove(_, let row, _): "- \(row)"
                }
            }.joined(separator: "\n")
        }
    }
}
