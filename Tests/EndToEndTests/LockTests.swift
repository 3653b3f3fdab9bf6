import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct LockTests {
        @Test func `two syncs at once - the second says who holds the file, or waits, and death gives it back`()
            async throws
        {
            let workplace = try await RemoteWorkspace.demo(countryPage: 20)
            try workplace.server.misbehave("delay 300")
            let first = try workplace.start(["sync", "Country"])
            _ = try await eventually("a page is in") { try await workplace.count("Country") ?? 0 > 0 ? true : nil }
            // However busy the machine is, the first one is not done before it is killed.
            try workplace.server.misbehave("delay 600000")

            let second = try await workplace.bmo("sync", "Country")
            #expect(second.exitCode == 1, "\(second)")
            #expect(second.errorOutput.contains("is being written by bmo sync Country (process \(first.pid) on "))
            #expect(second.errorOutput.contains("), since 20"))
            #expect(second.errorOutput.contains("; wait until it ends, or use --wait"))
            let short = try await workplace.bmo("sync", "Country", "--wait", "1s")
            #expect(short.exitCode == 1 && short.duration >= .seconds(1), "\(short)")
            #expect(short.errorOutput.contains("bmo: note: waiting for bmo sync Country (process \(first.pid)"))
            let copy = try await workplace.bmo("copy", "--to", "copy.sqlite")
            #expect(copy.exitCode == 1 && copy.errorOutput.contains("is being written by bmo sync Country"), "\(copy)")
            let reading = try await workplace.bmo("list", "Country", "--limit", "1")
            #expect(reading.exitCode == 0, "reading needs no lock: \(reading)")

            let waiting = try workplace.start(["sync", "Country", "--wait"])
            try await eventually("the third waits") { waiting.errorOutput.contains("waiting for bmo sync") }
            try workplace.server.misbehave()
            first.signal(SIGKILL)
            _ = try await first.finish()
            let ended = try await waiting.finish()
            #expect(ended.exitCode == 0, "\(ended)")
            try await workplace.expectRows(of: "Country")
        }

        @Test func `an interrupted wait ends, and an entity after --wait is not a duration`() async throws {
            let workplace = try await RemoteWorkspace.demo(countryPage: 20)
            let holder = try RunningProcess("flock", [workplace.database + "-lock", "sleep", "60"])
            try await eventually("the lock is held") {
                try await ProcessRun.run("flock", ["-n", workplace.database + "-lock", "true"]).exitCode != 0
            }
            let waiting = try workplace.start(["sync", "--wait=5m"])
            try await eventually("it waits") { waiting.errorOutput.contains("waiting for another process") }
            waiting.signal(SIGINT)
            let ended = try await waiting.finish(within: .seconds(10))
            #expect(ended.exitCode == 130, "\(ended)")
            #expect(ended.errorOutput.contains("interrupted while waiting; nothing was done"))
            holder.signal(SIGKILL)
            _ = try await holder.finish()
            let named = try await workplace.bmo("sync", "--wait", "Country")
            #expect(named.exitCode == 0 && named.errorOutput.contains("Country: finished"), "\(named)")
            let odd = try await workplace.bmo("sync", "--wait=soon")
            #expect(odd.exitCode == 2 && odd.errorOutput.contains("--wait"), "\(odd)")
        }
    }
}
