internal import BridgeHost
internal import Importer
internal import StoreContract

/// A scan of a listing that is paged by position.
///
/// Such pages shift during the fetch where an object is changed (and so moves to the end) or removed: its successor is
/// missed, and an advanced cursor would never request it again. So the cursor waits until no record can have been
/// missed: either there is only one page, whose total proves that all were received, or a further scan returns nothing
/// that the previous one should have returned.
enum ScanAttempt: Sendable {
    case first
    /// A further scan, after one with this newest value of the incremental field.
    case again(after: Watermark?)

    /// The limit of scans of a listing in one sync.
    static let most = 4

    /// The newest value of the previous scan.
    var known: Watermark? { if case .again(let known) = self { known } else { nil } }
}

/// The objects that a listing lacks because other records came more than once.
struct LackingObjects: Sendable, Equatable {
    var count = 0
    /// Whether the remote's own total says so; otherwise they are rows that two listings lack.
    var isByTotal = false

    /// A warning of them.
    var warning: String {
        let what =
            isByTotal
            ? "by its own total it lacks \(count == 1 ? "another" : "\(count) others"): nothing missing from it was deleted"
            : "it lacks \(count == 1 ? "a row" : "\(count) rows") of the database: nothing missing from it was deleted"
        return "the listing has some records twice, and \(what); the remote must sort it by a unique value"
    }
}

extension ListedRows {
    /// How often a row was listed again; 0 if there are too many rows to count.
    var repeats: Int { distinct.map { count - $0 } ?? 0 }
}

/// The totals that the pages of a scan report.
struct ReportedTotals: Sendable {
    private var first: Int64?
    /// Whether all pages reported the same total: a different one means that records were added or removed meanwhile.
    private var isStable = true

    mutating func add(_ page: PageInfo) {
        guard page.pageEnd || page.end else { return }
        guard let total = page.total else {
            isStable = false
            return
        }
        if let first, first != total { isStable = false }
        first = first ?? total
    }

    /// Returns the number of objects that a listing lacks although as many records arrived as the remote reports: other
    /// records came more than once.
    ///
    /// - Parameter records: The number of records received.
    func lacking(_ rows: ListedRows?, records: Int) -> Int {
        guard isStable, let first, let rows, rows.repeats > 0 else { return 0 }
        return Int(clamping: max(0, first - Int64(records - rows.repeats)))
    }

    /// Returns whether as many records arrived as the remote reports.
    func areReached(by records: Int) -> Bool { first.map { Int64(records) >= $0 } ?? false }

    /// Returns whether these rows and quarantined records are as many as the remote reports.
    ///
    /// That does not prove several pages by position complete: the total stays the same if one record is removed and
    /// another added meanwhile.
    func prove(_ rows: ListedRows?, quarantined: Int) -> Bool {
        guard isStable, let first, let distinct = rows?.distinct else { return false }
        return Int64(distinct + quarantined) >= first
    }
}
