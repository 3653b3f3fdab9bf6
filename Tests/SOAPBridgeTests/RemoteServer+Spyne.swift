import Foundation
import TestSupport

extension RemoteServer {
    /// A script of Tests/Servers with the Python that has spyne, which `Scripts/install test` makes.
    static func spyne(_ script: String) async throws -> RemoteServer {
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "") + "/.cache"
        return try await python(
            script, interpreter: environment["BMO_TEST_PYTHON"] ?? cache + "/bmo/test-python/bin/python3")
    }
}
