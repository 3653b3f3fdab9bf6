import BridgeTestSupport
import TestSupport
import Testing

@testable import BridgeHost

/// Waiting for a word of the remote.
@Suite struct ChangeWatchTests {
    static let definition = #"COUNTING_CAPABILITIES="fetch","watch""#

    private func connect(
        _ isolation: PluginListing.Isolation, change: (inout BridgeLimits) -> Void = { _ in }
    ) async throws -> BridgeConnection {
        try await CountingHost([Self.definition], change: change).connect(isolation)
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a change ends the wait, and one that comes between two waits counts for the next`(
        isolation: PluginListing.Isolation
    ) async throws {
        let connection = try await connect(isolation)
        let watch = try await connection.watch(try request(["moves_after": 50, "moves": 2]))
        #expect(try await watch.change(within: .seconds(30)))
        let stream = try await connection.fetch(try request())
        #expect(try await ids(stream).count == 10, "the connection is free for other work")
        #expect(try await watch.change(within: .seconds(30)))
        let start = ContinuousClock.now
        #expect(try await !watch.change(within: .milliseconds(300)))
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        await watch.close()
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a bridge that ends each watch is asked anew, and one without news is asked on`(
        isolation: PluginListing.Isolation
    ) async throws {
        let connection = try await connect(isolation) { $0.call = .seconds(8) }
        let watch = try await connection.watch(try request(["moves_after": 300, "moves": 1, "watch_ends": 1]))
        for _ in 1...3 { #expect(try await watch.change(within: .seconds(30))) }
        await watch.close()
        let quiet = try await connection.watch(try request())
        #expect(try await !quiet.change(within: .seconds(10)), "after several answers that nothing moved")
        await quiet.close()
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a task that is cancelled stops waiting at once, whatever the bridge does`(
        isolation: PluginListing.Isolation
    ) async throws {
        let connection = try await connect(isolation)
        for section in [[:], ["stubborn": 1]] as [Literal] {
            let watch = try await connection.watch(try request(section))
            let waiting = Task { () async throws(BridgeFailure) -> Bool in try await watch.change(within: .seconds(60))
            }
            try await Task.sleep(for: .milliseconds(100))
            let start = ContinuousClock.now
            waiting.cancel()
            #expect(try await failure { _ = try await waiting.value }.code == .cancelled)
            #expect(ContinuousClock.now - start < .seconds(20), "the bridge itself would wait for sixty")
            #expect(try await failure { _ = try await watch.change(within: .seconds(1)) }.code == .cancelled)
        }
        let open = try await connection.watch(try request())
        let waiting = Task { () async throws(BridgeFailure) -> Bool in try await open.change(within: .seconds(60)) }
        try await Task.sleep(for: .milliseconds(100))
        await connection.close()
        #expect(try await failure { _ = try await waiting.value }.code == .cancelled, "closing the connection ends it")
    }

    @Test func `a remote or a bridge that cannot tell says so`() async throws {
        let connection = try await connect(.inProcess)
        let refused = try await failure { _ = try await connection.watch(try request(["watch_refused": 1])) }
        #expect(refused.code == .unsupported)
        await connection.close()
        let older = try await CountingHost().connect(.inProcess)
        let unable = try await failure { _ = try await older.watch(try request()) }
        #expect(unable.code == .unsupported)
        #expect(unable.message == "the bridge `counting` cannot watch")
        await older.close()
    }

    @Test func `a bridge that crashes, or does not come back, ends the watch with the reason`() async throws {
        let connection = try await connect(.childProcess) { $0.call = .seconds(8) }
        let watch = try await connection.watch(try request(["stubborn": 1]))
        #expect(try await failure { _ = try await watch.change(within: .seconds(30)) }.code == .timeout)
        #expect(try await failure { _ = try await watch.change(within: .seconds(30)) }.code == .timeout)
        await connection.close()
    }
}
