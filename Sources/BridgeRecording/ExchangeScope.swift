/// The fetch or write on whose behalf the bridge makes requests.
package final class ExchangeScope: @unchecked Sendable {
    // Calls of one fetch come from one thread at a time; requests from a bridge's own threads have no scope.
    let entity: String
    /// Whether repeating the request changes nothing.
    let isReading: Bool
    /// True while the bridge makes requests that are not steps of the scan.
    private(set) var isAside = false

    @TaskLocal package static var current: ExchangeScope?

    /// Creates the scope of one fetch or write.
    package init(entity: String, isReading: Bool) {
        self.entity = entity
        self.isReading = isReading
    }

    /// Runs `body`, whose requests are not steps of the current scan.
    package static func aside<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let scope = current else { return try body() }
        scope.isAside = true
        defer { scope.isAside = false }
        return try body()
    }
}
