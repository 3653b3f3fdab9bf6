/// The number of all records that the pages of a listing state, as far as it has to be reached.
///
/// A listing may grow and shrink while it is read. Its new records need not be on the pages that are left, so the lowest
/// number counts. One below the records that have come is wrong, such as the 0 of a reply about a failure, or an estimate.
struct ExpectedTotal {
    private(set) var count: Int?

    /// Notes what a page states.
    ///
    /// - Parameter fetched: The number of records up to the end of this page.
    mutating func note(_ stated: Int?, after fetched: Int) {
        // The records have refuted an earlier one, which would hide that a later one is not reached.
        if let known = count, known < fetched { count = nil }
        guard let stated, stated >= fetched else { return }
        // What equals the records of the pages so far may be a count of just these.
        count = count.map { min($0, stated) } ?? (stated > fetched ? stated : nil)
    }
}
