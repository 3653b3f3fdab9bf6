import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct InterruptTests {
        @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
        func `an interrupted sync ends within a second, keeps its pages, and is completed by the next`(
            signal: Int32
        ) async throws {
            let workplace = try await RemoteWorkspace.demo(countryPage: 20)
            try workplace.server.misbehave("delay 300")
            let sync = try workplace.start(["sync", "Country"])
            let before = try await eventually("a page of countries is committed") {
                let count = try await workplace.count("Country")
                return count == 0 ? nil : count
            }

            let interrupted = ContinuousClock.now
            sync.signal(signal)
            let ended = try await sync.finish(within: .seconds(20))
            #expect(ContinuousClock.now - interrupted < .seconds(5), "\(ended)")
            #expect(ended.exitCode == 128 + signal, "\(ended)")
            let kept = try #require(await workplace.count("Country"))
            #expect(kept >= before && kept < 249)
            #expect(kept.isMultiple(of: 20))

            try workplace.server.misbehave()
            let next = try await workplace.bmo("sync", "Country")
            #expect(next.exitCode == 0, "\(next)")
            try await workplace.expectRows(of: "Country")
        }
    }
}
