public import Mapping
public import StoreContract

/// The newest value of the incremental field in a scan, and how much of it has settled.
///
/// Rows change while a scan reads them. A change of a row that was already read is older than the newest value that a
/// later page brings, and a scan for what is newer than that value would not return it. So the next scan starts from the
/// newest settled value: one that no change behind the scan can be older than.
public struct ScanWatermark: Sendable, Equatable {
    /// The newest value.
    public private(set) var newest: Watermark?
    /// The newest settled value, from which the next scan starts.
    public private(set) var settled: Watermark?
    /// A value that had settled when the scan began; nil where the field is a number.
    private let start: StoredValue?
    /// The greatest plausible value.
    private let limit: StoredValue?
    /// The number of values beyond the limit.
    public private(set) var valuesBeyondLimit = 0
    /// Whether all values so far are in one reply, which no change can be behind.
    private var isInFirstReply: Bool
    /// Whether each value so far was at least as great as the one before it.
    private var isAscending: Bool
    /// Whether records never change, so that each value has settled at once.
    private let isAppendOnly: Bool

    /// Creates the watermark of a scan.
    ///
    /// - Parameters:
    ///   - known: The settled value of the pages before the point at which the scan resumes.
    ///   - start: The time of the scan's begin, less what clocks may differ, as a value of the field.
    ///   - limit: The greatest plausible value.
    ///   - isResumed: Whether the scan began in an earlier process.
    ///   - isAppendOnly: Whether the records never change: a later scan must not return any of them again.
    public init(
        known: Watermark?, start: StoredValue?, limit: StoredValue?, isResumed: Bool, isAppendOnly: Bool = false
    ) {
        newest = known
        settled = known
        self.start = start
        self.limit = limit
        isInFirstReply = !isResumed
        isAscending = !isResumed
        self.isAppendOnly = isAppendOnly
    }

    /// Notes a record's value.
    ///
    /// - Parameter remote: Returns the form that the remote sent.
    mutating func note(_ value: StoredValue, remote: () -> String) {
        guard value != .null else { return }
        if let limit, Watermark.isNewer(value, than: limit) {
            valuesBeyondLimit += 1
            return
        }
        let isNewest = Watermark.isNewer(value, than: newest?.local)
        if !isNewest, let newest, newest.local != value { isAscending = false }
        guard isNewest || Watermark.isNewer(value, than: settled?.local) else { return }
        let watermark = Watermark(local: value, remote: remote())
        if isNewest { newest = watermark }
        if hasSettled(value), Watermark.isNewer(value, than: settled?.local) { settled = watermark }
    }

    private func hasSettled(_ value: StoredValue) -> Bool {
        if isInFirstReply || isAppendOnly { return true }
        // In a listing by this field, a changed row moves to the end, which the scan reads later.
        guard let start else { return isAscending }
        return !Watermark.isNewer(value, than: start)
    }

    /// Notes the end of a page.
    public mutating func endPage() { isInFirstReply = false }
}
