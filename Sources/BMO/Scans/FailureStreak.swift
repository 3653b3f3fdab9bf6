internal import BridgeHost

/// The failures of a walk's scans in a row, after which the rest is not tried.
///
/// A request that succeeded may wait long for its import, so the two are counted apart: requests that fail now and then say
/// nothing about the database, and the other way round.
struct FailureStreak {
    /// How many scans have failed in a row for the same reason.
    private struct Count {
        private var code = ""
        private(set) var count = 0

        mutating func add(_ code: String) {
            count = code == self.code ? count + 1 : 1
            self.code = code
        }

        mutating func end() { (code, count) = ("", 0) }
    }

    /// The number of consecutive failures with the same code after which the rest is skipped.
    static let most = 10

    private var requests = Count()
    private var imports = Count()
    /// The last transaction that failed as a whole.
    private var transaction: Int?

    /// Whether the rest is skipped.
    var isTooLong: Bool { max(requests.count, imports.count) >= Self.most }

    /// Notes that all of a parent's records were received.
    mutating func noteReceived() { requests.end() }

    /// Notes that a scan is complete.
    mutating func noteDone() {
        requests.end()
        imports.end()
    }

    /// Notes a failure.
    ///
    /// - Parameters:
    ///   - wasReceived: Whether all of the parent's records had been received.
    ///   - transaction: The number of the transaction that failed with all its pages, which counts once.
    mutating func noteFailure(_ code: String, wasReceived: Bool, transaction: Int?) {
        guard wasReceived else { return requests.add(code) }
        if let transaction, transaction == self.transaction { return }
        self.transaction = transaction
        imports.add(code)
    }
}
