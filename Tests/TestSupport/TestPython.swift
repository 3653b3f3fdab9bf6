import Foundation

/// The Python with the packages that `Scripts/install test` installs: spyne, zeep, selenium, opentelemetry-proto.
package enum TestPython {
    /// The path of its interpreter; `BMO_TEST_PYTHON` names another one.
    package static let path: String = {
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"] ?? (environment["HOME"] ?? "") + "/.cache"
        return environment["BMO_TEST_PYTHON"] ?? cache + "/bmo/test-python/bin/python3"
    }()
}
