import BridgeTestSupport
import Foundation
import TestSupport
import Testing

@testable import BridgeHost

/// What is remembered of an inspection that gave no answer.
@Suite struct PluginInspectionTests {
    /// Puts a bridge that answers in the place of another.
    private func mend(_ host: CountingHost) throws {
        try FileManager.default.removeItem(atPath: host.path)
        try FileManager.default.copyItem(atPath: try CompiledBridge.counting(), toPath: host.path)
    }

    @Test func `a plugin that was too slow is inspected again later`() async throws {
        let host = try CountingHost(["COUNTING_HANG_ON_LOAD"]) { $0.inspection = .seconds(1) }
        #expect(await host.host.plugins().map(\.refusal) == ["did not answer within 1 s"])
        try mend(host)
        try await eventually("it is inspected again") { await host.host.plugins().map(\.refusal) == [nil] }
    }

    @Test func `an inspection that is cancelled ends and is not remembered`() async throws {
        let log = try TemporaryFolder(staysUntilExit: true).appending("log")
        let host = try CountingHost(["COUNTING_HANG_ON_LOAD", "COUNTING_LOAD_LOG=\"\(log)\""]) {
            $0.inspection = .seconds(300)
        }
        let first = Task { await host.host.plugins() }
        let second = Task { await host.host.inspect(path: host.path) }
        try await eventually("the plugin is loaded") { FileManager.default.fileExists(atPath: log) }
        first.cancel()
        #expect(await first.value.map(\.refusal) == ["its inspection was cancelled"])
        second.cancel()
        #expect(await second.value.refusal == "its inspection was cancelled")
        try mend(host)
        #expect(await host.host.plugins().map(\.refusal) == [nil])
    }
}
