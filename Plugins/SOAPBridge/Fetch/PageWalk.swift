internal import BridgeKit

/// Which page comes next, and when the walk is over: paging without I/O.
struct PageWalk {
    let paging: Paging
    private let maxPages: Int
    private let isResumed: Bool
    /// The offset or the number of the page to read now.
    private(set) var position: Int
    private var records: Int
    private var pages = 0
    private var total: Int64?
    private var isTotalStable = true
    private var fingerprints: Set<UInt64> = []

    /// What follows a page.
    struct Step: Equatable {
        var isEnd: Bool
        var isComplete = false
        /// Where a later walk continues; nil where it can't.
        var cursor: String?
        var warning: String?
    }

    /// Begins, or continues at a cursor of an earlier walk.
    ///
    /// - Throws: ``BridgeError`` configuration for a cursor that is none of this bridge's.
    init(paging: Paging, maxPages: Int, cursor: String?) throws(BridgeError) {
        self.paging = paging
        self.maxPages = maxPages
        isResumed = cursor != nil
        guard let cursor else {
            position = paging.start
            records = 0
            return
        }
        let parts = cursor.split(separator: "/").map { Int($0) }
        switch (paging.style, parts.count) {
        case (.offset, 1):
            if let offset = parts[0], offset >= paging.start, offset < 1 << 50 {
                position = offset
                records = offset - paging.start
                return
            }
        case (.page, 2):
            if let page = parts[0], let size = parts[1], page >= paging.start, size > 0, page < 1 << 30,
                size <= 1_000_000
            {
                // With another size of page: the one that holds the first record not seen.
                records = (page - paging.start) * size / paging.size * paging.size
                position = paging.start + records / paging.size
                return
            }
        default: break
        }
        throw BridgeError(
            .configuration, "the cursor \"\(cursor)\" is not of an entity with paging style \(paging.style.rawValue)",
            remedy: "start the entity anew: its paging has changed")
    }

    /// For messages: where the page stands.
    var name: String {
        switch paging.style {
        case .none: "the reply"
        case .offset: "offset \(position)"
        case .page: "page \(position)"
        }
    }

    /// The request of the page at `position`.
    func input(_ constant: InputValue, at position: Int) throws(BridgeError) -> InputValue {
        guard paging.style != .none else { return constant }
        let value = try constant.setting(paging.positionPath[...], to: String(position))
        return paging.sizePath.isEmpty ? value : try value.setting(paging.sizePath[...], to: String(paging.size))
    }

    /// The next page, while the current one is read, if it is known to exist.
    func positionAhead(total: Int64?) -> Int? {
        guard paging.style != .none, pages + 1 < maxPages, let total = total ?? self.total,
            Int64(records) + Int64(paging.size) < total
        else { return nil }
        return position + (paging.style == .offset ? paging.size : 1)
    }

    /// Ends a page and moves on.
    ///
    /// - Throws: ``BridgeError`` malformed when the same page comes again.
    mutating func endPage(count: Int, total pageTotal: Int64?, fingerprint: UInt64) throws(BridgeError) -> Step {
        if let pageTotal {
            if let total, total != pageTotal { isTotalStable = false }
            total = pageTotal
        }
        if count > 0, !fingerprints.insert(fingerprint).inserted {
            throw BridgeError(
                .malformed, "\(name) has the same records as an earlier page: the service does not turn pages",
                remedy: "check paging.\(paging.style == .offset ? "offset_element" : "page_element")")
        }
        pages += 1
        records += count
        guard paging.style != .none else { return end() }
        let reachedTotal = total.map { Int64(records) >= $0 }
        if count == 0 || (reachedTotal ?? (count < paging.size)) { return end() }
        position += paging.style == .offset ? count : 1
        let cursor = paging.style == .offset ? "\(position)" : "\(position)/\(paging.size)"
        if pages >= maxPages {
            return Step(
                isEnd: true, cursor: cursor,
                warning: "stopped after \(pages) pages (max_pages): the listing is not complete")
        }
        return Step(isEnd: false, cursor: cursor)
    }

    private func end() -> Step {
        guard let total else {
            // Without a total, a record that moved between two pages would not be noticed.
            return Step(isEnd: true, isComplete: !isResumed && pages == 1)
        }
        guard Int64(records) == total else {
            return Step(
                isEnd: true,
                warning: "the service told of \(total) records and gave \(records): the listing is not complete")
        }
        return Step(isEnd: true, isComplete: !isResumed && isTotalStable)
    }
}
