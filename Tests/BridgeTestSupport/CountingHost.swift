package import BridgeHost
internal import Foundation
package import TestSupport

/// A host that finds one counting bridge (Tests/CountingBridge).
package struct CountingHost: Sendable {
    /// What the bridge is compiled with.
    package let definitions: [String]
    /// Where the bridge is.
    package let folder: TemporaryFolder
    /// The bridge.
    package let path: String
    package let host: BridgeHost
    package let lines: LogLines

    /// - Parameters:
    ///   - definitions: what the bridge is compiled with, such as its isolation.
    ///   - folder: where the bridge is put; default: a folder that stays until the tests end.
    ///   - isMended: whether the bridge ignores the options with which it crashes, fails and blocks.
    package init(
        _ definitions: [String] = [], isMended: Bool = false, in folder: TemporaryFolder? = nil,
        lines: LogLines = LogLines(), change: (inout BridgeLimits) -> Void = { _ in }
    ) throws {
        self.definitions = definitions
        self.lines = lines
        // A connection may need its plugin again when the test is over.
        self.folder = try folder ?? TemporaryFolder(staysUntilExit: true)
        path = self.folder.appending("libCountingBridge.so")
        try FileManager.default.copyItem(
            atPath: try CompiledBridge.counting(definitions, isMended: isMended), toPath: path)
        var limits = BridgeLimits()
        limits.retries.base = .milliseconds(10)
        change(&limits)
        host = BridgeHost(
            searchPaths: [SearchPath(self.folder.path)], executable: Products.testHost, logger: lines.logger,
            limits: limits)
    }
}
