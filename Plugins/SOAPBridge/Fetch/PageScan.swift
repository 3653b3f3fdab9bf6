internal import BridgeKit

/// Tracks the pages of a scan: which one is next, and when the scan ends.
///
/// Paging without I/O.
struct PageScan {
    /// The maximum of consecutive pages without a record while the service reports more.
    private static let emptyPages = 100

    let paging: SOAPPaging
    private let maxPages: Int
    private let isResumed: Bool
    /// The offset or number of the current page; in token paging, the number of tokens followed.
    private(set) var position: Int
    /// The token of the previous page; nil for the first page.
    private(set) var token: String?
    /// The number of records so far, and of other elements of their list.
    private var records: Int
    private var pages = 0
    private var emptyInARow = 0
    private var total: Int64?
    private var isTotalStable = true
    /// The number of records on the first page if it is below the size requested, but may be the most that the service
    /// returns at once: the second page then shows whether it was all.
    private var pageLength: Int?
    /// Whether the previous page said that there are more records.
    private var saidMore = false
    private var fingerprints: Set<UInt64> = []
    /// The hashes of all tokens so far, because tokens may be numerous and long.
    private var tokens: Set<Int> = []

    /// The result of one page.
    struct Outcome {
        var count: Int
        /// The number of elements in the list that are not records.
        var others = 0
        var total: Int64?
        var fingerprint: UInt64
        var token: String?
        /// Whether the service reports more records; nil if it does not say.
        var hasMore: Bool?

        /// The number of elements that the service counts.
        var elements: Int { count + others }
    }

    /// The consequence of a page.
    struct Step: Equatable {
        var isEnd: Bool
        var isComplete = false
        /// The cursor at which a later scan continues; nil if none can.
        var cursor: String?
        var warning: String?
    }

    /// Starts a scan, or resumes one at the cursor of an earlier scan.
    ///
    /// - Throws: ``BridgeError`` configuration for a cursor that this bridge did not write.
    init(paging: SOAPPaging, maxPages: Int, cursor: String?) throws(BridgeError) {
        self.paging = paging
        self.maxPages = maxPages
        isResumed = cursor != nil
        position = paging.start
        records = 0
        guard let cursor else { return }
        if paging.style == .token {
            // The number of records so far, and the token.
            let parts = cursor.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, let count = Int(parts[0]), count >= 0, count < 1 << 50, !parts[1].isEmpty {
                records = count
                position = 1
                token = String(parts[1])
                tokens = [String(parts[1]).hashValue]
                return
            }
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
                // With a different page size, start at the page that holds the first unread record.
                records = (page - paging.start) * size / paging.size * paging.size
                position = paging.start + records / paging.size
                return
            }
        default: break
        }
        throw BridgeError(
            .configuration, "the cursor \"\(cursor)\" is not of an entity with paging style \(paging.style.rawValue)",
            remedy: "sync the entity with --restart: its paging has changed")
    }

    /// The page's position, for messages.
    var name: String {
        switch paging.style {
        case .none: "the reply"
        case .offset: "offset \(position)"
        case .page: "page \(position)"
        case .token: token == nil ? "the first page" : "the page after record \(records)"
        }
    }

    /// Whether the operation of further pages requests the page.
    var isFurther: Bool { paging.style == .token && token != nil }

    /// Returns the request of the page at `position`; `token` applies to the current position only.
    func input(_ constant: InputValue, at position: Int) throws(BridgeError) -> InputValue {
        var value = constant
        switch paging.style {
        case .none: return constant
        case .offset, .page: value = try value.setting(paging.positionPath[...], to: String(position))
        case .token:
            if let token {
                value = try (paging.operation == nil ? constant : paging.input)
                    .setting(paging.positionPath[...], to: token)
            }
        }
        let isOther = isFurther && paging.operation != nil
        return paging.sizePath.isEmpty || isOther
            ? value : try value.setting(paging.sizePath[...], to: String(paging.size))
    }

    /// Returns the position of the next page if it is known to exist, so that it can be requested early.
    func positionAhead(total: Int64?) -> Int? {
        guard paging.style == .offset || paging.style == .page, pages + 1 < maxPages, let total = total ?? self.total,
            Int64(records) + Int64(paging.size) < total
        else { return nil }
        return position + (paging.style == .offset ? paging.size : 1)
    }

    /// Ends a page and advances to the next.
    ///
    /// - Throws: ``BridgeError`` malformed if a page or token repeats, or if the service reports more records but gives
    ///   none.
    mutating func endPage(_ page: Outcome) throws(BridgeError) -> Step {
        var page = page
        // More than requested: the other elements are not among what the service counts.
        if !paging.sizePath.isEmpty, page.elements > paging.size { page.others = 0 }
        if let pageTotal = page.total {
            if let total, total != pageTotal { isTotalStable = false }
            total = pageTotal
        }
        if page.elements > 0, !fingerprints.insert(page.fingerprint).inserted {
            if isCheck {
                return Step(
                    isEnd: true,
                    warning:
                        "\(name) has the same records as the first page, which may be all or as many as the service "
                        + "returns at once, so the listing is not complete: check paging.\(positionMember), or name "
                        + "paging.total, more or done")
            }
            throw BridgeError(
                .malformed, "\(name) has the same records as an earlier page: the paging does not advance",
                remedy: "check paging.\(positionMember)")
        }
        pages += 1
        records += page.elements
        emptyInARow = page.elements == 0 ? emptyInARow + 1 : 0
        guard emptyInARow <= Self.emptyPages else {
            throw BridgeError(
                .malformed, "\(Self.emptyPages) pages in a row have no record, but the service says that there is more",
                remedy: "check paging.\(positionMember) and paging.\(paging.donePath.isEmpty ? "more" : "done")")
        }
        switch paging.style {
        case .none: return end(page)
        case .token:
            guard let next = try nextToken(page) else { return end(page) }
            token = next
            position += 1
        case .offset, .page:
            if try isLast(page) { return end(page) }
            position += paging.style == .offset ? page.elements : 1
        }
        saidMore = page.hasMore == true
        let cursor = cursor
        if pages >= maxPages {
            return Step(
                isEnd: true, cursor: cursor,
                warning: "stopped after \(pages) pages (max_pages): the listing is not complete")
        }
        return Step(isEnd: false, cursor: cursor)
    }

    /// Whether the current page is requested only to see whether the first page was all: it may be past the last one.
    var isCheck: Bool { pageLength != nil && pages == 1 }

    /// Ends the scan at a fault.
    ///
    /// - Parameter isEmpty: Whether the config takes the fault for a page without records.
    mutating func endAtFault(isEmpty: Bool) -> Step {
        let isWhole = isEmpty && !isResumed && (pages == 0 || isCheck)
        pages += 1
        return Step(isEnd: true, isComplete: isWhole)
    }

    /// Whether insertions or deletions during the scan may have shifted an unread record past it.
    var isPositional: Bool { pages > 1 && (paging.style == .offset || paging.style == .page) }

    private var positionMember: String {
        switch paging.style {
        case .none, .offset: "offset_element"
        case .page: "page_element"
        case .token: "token_element"
        }
    }

    private var cursor: String {
        switch paging.style {
        case .none, .offset: "\(position)"
        case .page: "\(position)/\(paging.size)"
        case .token: "\(records)/\(token ?? "")"
        }
    }

    private mutating func isLast(_ page: Outcome) throws(BridgeError) -> Bool {
        if let hasMore = page.hasMore {
            guard hasMore else { return true }
            // Without records, an offset does not advance.
            guard page.elements > 0 || paging.style == .page else {
                throw BridgeError(
                    .malformed, "\(name) has no record, but the service says that there is more",
                    remedy: "check paging.more or paging.done")
            }
            return false
        }
        guard page.elements > 0 else { return true }
        if let total = plausibleTotal { return Int64(records) >= total }
        guard page.elements < pageLength ?? paging.size else { return false }
        // The service may return no more than this number at once.
        guard pages == 1, PageSize.isUsual(page.elements) else { return true }
        pageLength = page.elements
        return false
    }

    /// The total; nil if it is below the number of records, such as 0 for an unknown one.
    private var plausibleTotal: Int64? { total.flatMap { $0 < Int64(records) ? nil : $0 } }

    private mutating func nextToken(_ page: Outcome) throws(BridgeError) -> String? {
        if page.hasMore == false { return nil }
        guard let next = page.token else {
            guard page.hasMore == true else { return nil }
            throw BridgeError(
                .malformed, "\(name) says that there is more, but gives no token", remedy: "check paging.token")
        }
        guard tokens.insert(next.hashValue).inserted else {
            throw BridgeError(
                .malformed, "\(name) repeats an earlier token: the paging does not advance",
                remedy: "check paging.token and paging.token_element")
        }
        return next
    }

    private func end(_ page: Outcome) -> Step {
        if page.hasMore == true {
            return Step(
                isEnd: true,
                warning: "the service says that there are more records, so the listing is not complete: set paging")
        }
        // A number that is not above that of the records may mean something else.
        guard let total = plausibleTotal, !paging.isOpen || total > Int64(records) else {
            // A token refers to a result that the service keeps until it signals its end. Otherwise, without a total, a
            // record that moved between two pages would go unnoticed.
            let isKept = paging.style == .token
            if saidMore, page.elements == 0, page.hasMore == nil {
                return Step(
                    isEnd: true,
                    warning: "\(name) has no record, although the page before said that there is more: "
                        + "the listing is not complete")
            }
            let isConfirmed = pageLength != nil && pages == 2 && page.elements == 0
            if isResumed || pages == 1 || isKept || isConfirmed { return Step(isEnd: true, isComplete: !isResumed) }
            return Step(
                isEnd: true,
                warning: "the service does not say how many records the \(pages) pages should have, and one that moved "
                    + "between two requests would be missing, so nothing counts as deleted: name paging.total")
        }
        guard Int64(records) == total else {
            return Step(
                isEnd: true,
                warning: "the service announced \(total) records but returned \(records): the listing is not complete")
        }
        if isResumed || isTotalStable { return Step(isEnd: true, isComplete: !isResumed) }
        return Step(
            isEnd: true,
            warning: "the number of records that the service announces changed from page to page, so nothing counts as "
                + "deleted this time")
    }
}
