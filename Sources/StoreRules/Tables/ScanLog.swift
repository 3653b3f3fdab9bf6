package import StoreContract

/// What the pages of a scan have listed so far.
package struct ScanLog: Sendable {
    /// A list of links, by its owner.
    package struct ListOwner: Hashable, Sendable {
        package var root: Int
        package var relationship: String
        package var owner: RowKey

        package init(root: Int, relationship: String, owner: RowKey) {
            self.root = root
            self.relationship = relationship
            self.owner = owner
        }
    }

    /// A list that lacks stored targets, and waits for the end of its scan because a later page may have its other part.
    package struct WaitingList: Equatable, Sendable {
        package var owner: ListOwner
        /// The number of lists received before it; an earlier list of the same object makes this one a further part.
        package var place: Int
        /// The targets received so far, in order.
        package var listed: [RowKey]
        /// The stored targets that the list lacks.
        package var missing: [RowKey]

        package init(owner: ListOwner, place: Int, listed: [RowKey], missing: [RowKey]) {
            self.owner = owner
            self.place = place
            self.listed = listed
            self.missing = missing
        }

        mutating func add(_ part: [RowKey]) {
            let known = Set(listed)
            listed += part.filter { !known.contains($0) }
        }
    }

    /// The rows, in the order of the listing.
    package private(set) var rows = LayeredArray<Int64>()
    /// Whether the scan skipped rows that cannot be identified.
    package var hasUnknown = false
    /// The owners of the lists received, in order.
    package var owners = LayeredArray<ListOwner>()
    /// The lists that wait, by owner.
    package var waiting: [ListOwner: WaitingList] = [:]
    private var distinct = LayeredSet()
    private var repeated: [Int64] = []
    private var repeatedNumbers: Set<Int64> = []
    private var ends = LayeredArray<(page: Int, rows: Int, owners: Int)>()
    /// The numbers of rows before the pages.
    private var pageStarts = LayeredArray<Int>()

    package init() {}

    /// The rows that were listed more than once with different values, in order of discovery.
    package var repeatedRows: [Int64] { repeated }

    /// Whether the scan listed a row.
    package func contains(_ row: Int64) -> Bool { distinct.contains(row) }

    /// Returns the ranges of numbers without a listed row, in ascending order; nil if there are more than a limit.
    ///
    /// The numbers of a whole listing mostly follow one another.
    package func gaps(atMost limit: Int) -> [ClosedRange<Int64>]? {
        guard let ranges = distinct.ranges(atMost: limit - 1) else { return nil }
        var gaps: [ClosedRange<Int64>] = []
        var next: Int64? = .min
        for range in ranges {
            if let next, next < range.lowerBound { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound == .max ? nil : range.upperBound + 1
        }
        if let next { gaps.append(next...Int64.max) }
        return gaps
    }

    /// The number of distinct rows; nil if some cannot be identified.
    package var distinctCount: Int? { hasUnknown ? nil : distinct.count }

    /// Appends a row; `isRewritten` says whether its values changed when it was listed.
    package mutating func append(_ row: Int64, isRewritten: Bool = false) {
        if !distinct.insert(row), isRewritten, repeatedNumbers.insert(row).inserted {
            repeated.append(row)
        }
        rows.append(row)
    }

    /// Appends rows in order.
    mutating func append(_ rows: [(number: Int64, isRewritten: Bool)]) {
        for row in rows {
            if !distinct.insert(row.number), row.isRewritten, repeatedNumbers.insert(row.number).inserted {
                repeated.append(row.number)
            }
        }
        self.rows.append(contentsOf: rows.map(\.number))
    }

    /// Notes a list, or a part of it.
    ///
    /// - Returns: The number of lists received before it; nil if the list waits already, and the part is now in it.
    mutating func note(_ part: [RowKey], of owner: ListOwner) -> Int? {
        defer { owners.append(owner) }
        return waiting[owner]?.add(part) == nil ? owners.count : nil
    }

    /// The number of lists received before the first one of each owner.
    var firstPlaces: [ListOwner: Int] {
        Dictionary(owners.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// How often a row was listed again on the same page.
    package var repeatedOnPage: Int {
        var page: Set<Int64> = []
        var starts = pageStarts.makeIterator()
        var start = starts.next()
        var found = 0
        for (index, row) in rows.enumerated() {
            while let next = start, next <= index {
                page.removeAll(keepingCapacity: true)
                start = starts.next()
            }
            if !page.insert(row).inserted { found += 1 }
        }
        return found
    }

    /// Notes the beginning of a page.
    mutating func beginPage() { pageStarts.append(rows.count) }

    /// Notes the end of a page.
    package mutating func endPage(_ page: Int) { ends.append((page, rows.count, owners.count)) }

    /// Returns the log as it was after a page.
    package func through(page: Int) -> ScanLog {
        let end = ends.last { $0.page <= page }
        guard let end, end.rows < rows.count || end.owners < owners.count else { return end == nil ? ScanLog() : self }
        var log = ScanLog()
        log.hasUnknown = hasUnknown
        for row in rows.prefix(end.rows) { log.append(row) }
        log.owners.append(contentsOf: owners.prefix(end.owners))
        log.waiting = waiting.filter { $0.value.place < end.owners }
        log.ends.append(contentsOf: ends.filter { $0.page <= page })
        log.pageStarts.append(contentsOf: pageStarts.filter { $0 < end.rows })
        return log
    }
}
