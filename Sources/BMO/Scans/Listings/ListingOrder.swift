internal import Mapping
internal import StoreContract

/// Whether a listing has its records in order, the newest first, so that a scan may end at what is known.
///
/// A record that was changed while the pages were fetched moves to the top, and the others move down: pages overlap, but
/// their last records still become older. Where they do not, or where a record within a page is newer than the one
/// before it, the remote does not sort by the field, and everything behind may be new.
struct ListingOrder: Sendable {
    /// The last value of the pages so far.
    private var last: StoredValue?
    /// Whether the records are not in order.
    private(set) var isBroken = false

    /// Adds a page: the last of its values, and whether a value is newer than the one before it.
    mutating func add(last new: StoredValue?, rises: Bool) {
        guard let new else { return }
        if rises || last.map({ Watermark.isNewer(new, than: $0) }) == true { isBroken = true }
        last = new
    }

    /// Returns whether everything behind the pages so far is older than a known value.
    ///
    /// Records with the known value itself may be new: others with the same value may have come before them.
    func hasPassed(_ known: StoredValue?) -> Bool {
        guard let known, let last, !isBroken else { return false }
        return Watermark.isNewer(known, than: last)
    }
}
