import TestSupport
import Foundation

/// A service of spyne's: 10,000 products in both versions of SOAP, for who sends the right header.
enum SpyneService {
    static let count = 10_000

    /// The Python that has spyne: `Scripts/install test` makes it.
    static var python: String {
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "") + "/.cache"
        return environment["BMO_TEST_PYTHON"] ?? cache + "/bmo/test-python/bin/python3"
    }

    static func start() async throws -> RemoteServer {
        try await RemoteServer.python("spyne-shop.py", interpreter: python)
    }
}
