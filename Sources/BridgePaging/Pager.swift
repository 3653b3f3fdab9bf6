internal import BridgeKit

/// Decides how a scan continues.
///
/// A state machine that does no I/O: request the page at ``first``, describe the reply by its facts, and request the page
/// that ``after(_:_:)`` names, until it ends.
///
/// ```swift
/// var pager = try Pager(PagingRule(options.object("paging"), pageSize: nil), cursor: request.cursor)
/// var step = Pager.Step.go(pager.first)
/// while case .go(let position) = step {
///     let facts = try read(position)
///     step = try pager.after(position, facts)
/// }
/// page.isComplete = pager.isComplete
/// ```
public struct Pager: Sendable {
    let rule: PagingRule
    /// Whether the scan resumes an earlier one.
    let resumed: Bool
    let isDetected: Bool
    /// The reply's sign of more records, if nothing says how to request them.
    private let promise: String?
    /// The request's limit on the number of records, if nothing says whether there are more.
    private let limit: (name: String, count: Int)?
    private let isUntold: Bool
    /// Whether a full first page is the only sign of more records.
    let isEndUnknown: Bool
    /// The hashes of all positions so far: a scan may have a million of them, each a long URL.
    private(set) var seen: Set<Int> = []
    var fetched = 0
    var pagesRead = 0
    /// Whether a page has said that there is more.
    private var hasSaidMore = false
    private var emptyPages = 0
    /// The most records of a page so far.
    private var largestCount = 0
    private static let maxEmptyPages = 100
    /// The number of records on the latest page.
    private var lastCount = 0
    /// What the first page counts, and the number of its own records.
    private var firstCount: (all: Int, own: Int)?
    private var sawNext = false
    /// The latest total of a reply.
    var total: Int?
    /// The total that the pages have to reach, if their positions are not numbers.
    private(set) var expected = ExpectedTotal()
    /// The same of a total that the paging does not need, with its place.
    private var stated = ExpectedTotal()
    private var statedPlace = ""
    var pages: Int?
    private var lastDigest: UInt64?
    /// The number of records the server actually returns per page, once known.
    var pageLength: Int?
    /// The reply's sign of more records and its total, if the config says that one reply is all.
    private var contradiction: (sign: String?, total: (place: String, count: Int)?)?
    /// Why the listing is not complete, or what is odd about its paging, for a person.
    public internal(set) var warnings: [String] = []
    /// Whether the listing has been read to its end, as far as the replies tell.
    public private(set) var isComplete = false
    /// Whether insertions or deletions during the scan may have shifted a record past it.
    ///
    /// A next URL from the server may be that of a numbered page. A cursor or a key is not positional.
    public var isPositional: Bool {
        guard pagesRead > 1 || resumed else { return false }
        switch rule.style {
        case .page, .offset, .nextURL, .linkHeader: return true
        case .none, .automatic, .cursor, .members, .keyset, .code: return false
        }
    }
    /// Whether the page before was short, so that the next request confirms the end.
    public internal(set) var isConfirming = false

    /// The step after a page.
    public enum Step: Equatable, Sendable {
        /// The scan ends.
        case end
        /// The page at this position is next.
        case go(PagePosition)
    }

    /// Creates the pager of a scan.
    ///
    /// - Parameters:
    ///   - rule: How the remote pages.
    ///   - cursor: A ``PagePosition/text`` of an earlier scan, at which to continue; nil for the beginning.
    ///   - isDetected: Whether an earlier scan detected the rule from a reply.
    /// - Throws: `BridgeError` if the cursor does not fit the rule.
    public init(_ rule: PagingRule, cursor: String?, isDetected: Bool = false) throws {
        self.rule = rule
        resumed = cursor != nil
        self.isDetected = isDetected
        promise = nil
        limit = nil
        isUntold = false
        isEndUnknown = false
        first = try cursor.map { try Self.parse($0, rule) } ?? Self.beginning(rule)
        seen = [first.hashValue]
    }

    /// Creates the pager of a scan whose first page is read and determined the rule.
    ///
    /// - Parameters:
    ///   - first: The position of that page.
    ///   - promise: The member that says that there is more, if the rule does not follow it.
    ///   - limit: The request's own limit parameter, if no rule was found.
    ///   - isUntold: Whether nothing in the reply concerns paging.
    ///   - isEndUnknown: Whether a full page is the only sign of more records.
    package init(
        detected rule: PagingRule, first: PagePosition?, promise: String? = nil,
        limit: (name: String, count: Int)? = nil,
        isUntold: Bool = false, isEndUnknown: Bool = false
    ) {
        self.rule = rule
        resumed = false
        isDetected = true
        self.promise = promise
        self.limit = limit
        self.isUntold = isUntold
        self.isEndUnknown = isEndUnknown
        self.first = first ?? Self.beginning(rule)
        seen = [self.first.hashValue]
    }

    /// The position at which the scan starts.
    public let first: PagePosition

    /// Returns the position at which a scan by a rule starts.
    package static func beginning(_ rule: PagingRule) -> PagePosition {
        switch rule.style {
        case .page(let start): .page(start)
        case .offset(let start): .offset(start)
        case .none, .automatic, .nextURL, .linkHeader, .cursor, .members, .keyset, .code: .only
        }
    }

    private static func parse(_ text: String, _ rule: PagingRule) throws -> PagePosition {
        let value = String(text.drop { $0 != ":" }.dropFirst())
        switch (text.prefix { $0 != ":" }, rule.style) {
        case ("page", .page): if let number = Int(value) { return .page(number.clampedPosition) }
        case ("offset", .offset): if let number = Int(value) { return .offset(number.clampedPosition) }
        case ("url", .nextURL), ("url", .linkHeader): return .url(value)
        case ("cursor", .cursor), ("cursor", .members), ("cursor", .keyset), ("cursor", .code):
            return .cursor(value)
        case ("json", .cursor), ("json", .keyset): return .json(value)
        default: break
        }
        throw BridgeError(
            .configuration, "the stored cursor does not fit paging.style \(rule.name)",
            remedy: "the config changed since the last run: sync this entity with --restart")
    }

    /// Returns up to `limit` positions that can be requested before the page at `position` is read.
    ///
    /// Without a total, this assumes that as many pages remain as were read.
    public func ahead(of position: PagePosition, limit: Int) -> [PagePosition] {
        guard let step = numberStep else { return [] }
        var positions: [PagePosition] = []
        var left = rule.maxPages.map { $0 - pagesRead - 1 } ?? Int.max
        if let pages, case .page(let number) = position, case .page(let start) = rule.style {
            left = min(left, start + pages - 1 - number)
        } else if !resumed, let total, let length = pageLength ?? rule.size {
            left = min(left, (total - fetched - 1) / length)
        } else {
            // The guess grows with the pages read: at most half of the requests are wasted.
            left = min(left, max(1, pagesRead))
        }
        var next = position
        while positions.count < min(limit, left) {
            switch next {
            case .page(let number): next = .page(number + 1)
            case .offset(let number): next = .offset(number + step)
            case .only, .url, .cursor, .json: return positions
            }
            positions.append(next)
        }
        return positions
    }

    /// The increment of a page number or an offset, or nil if the server determines it or it is not known yet.
    private var numberStep: Int? {
        switch rule.style {
        case .page: 1
        case .offset: pageLength ?? rule.size
        case .none, .automatic, .nextURL, .linkHeader, .cursor, .members, .keyset, .code: nil
        }
    }

    /// Whether a page says a total that the records before it have already passed, unlike the pages before, as a reply about a
    /// failure might.
    private func takesBack(_ new: Int?, _ old: Int?) -> Bool {
        guard let new, let old else { return false }
        return new < fetched && fetched <= old
    }

    /// Records the reply's signs of more records, for a config that says that there are none.
    package mutating func noteContradiction(sign: String?, total: (place: String, count: Int)?) {
        contradiction = (sign, total)
    }

    /// Returns the sign that contradicts the config's statement that a reply with `count` records is all.
    private func sign(besides count: Int) -> String? {
        if let sign = contradiction?.sign { return sign }
        guard let total = contradiction?.total, total.count > count else { return nil }
        return "\(total.place) is \(total.count), and \(count) came"
    }

    /// Returns the step after the page at `position`.
    ///
    /// - Throws: `BridgeError` if the paging loops, or if the reply's cursor is not usable.
    public mutating func after(_ position: PagePosition, _ facts: PageFacts) throws -> Step {
        let isEndKnown = !resumed && (pagesRead == 0 || fetched == total)
        fetched += facts.count
        pagesRead += 1
        if facts.isBare, !isEndKnown {
            warnings.append(
                "page \(pagesRead) has no member for records, as an error reply might, so the listing is not "
                    + "complete: if it does end this way, say so under responses: when: {path: ..., missing: true}, action: empty"
            )
            return .end
        }
        if !rule.repeats, !takesBack(facts.total, total) { total = facts.total ?? total }
        if !rule.repeats { expected.note(facts.total, after: fetched) }
        stated.note(facts.stated?.count, after: fetched)
        if let place = facts.stated?.place { statedPlace = place }
        if pagesRead == 1, !resumed { firstCount = (facts.counted ?? facts.total).map { ($0, facts.count) } }
        lastCount = facts.count
        let largest = largestCount
        largestCount = max(largest, facts.count)
        // Pages behind the last one hold just what each page repeats.
        if rule.repeats, facts.hasMore != true, repeats(facts), facts.count < largest { return end() }
        // An empty page without pages before it is a failure rather than the end.
        if facts.count > 0 || facts.pages.map({ $0 > 0 }) ?? true { pages = facts.pages ?? pages }
        emptyPages = facts.count == 0 ? emptyPages + 1 : 0
        if emptyPages > Self.maxEmptyPages {
            throw BridgeError(
                .malformed, "paging does not end: \(emptyPages) pages in a row hold no records",
                remedy: "check paging.style \(rule.name); if each page names a next one, also the last, set "
                    + "paging.end_below: 1; or set paging.max_pages")
        }
        let step = try decide(position, facts)
        hasSaidMore = hasSaidMore || facts.hasMore == true
        lastDigest = facts.digest
        guard case .go(let next) = step else { return .end }
        // A separate path for later pages may use one cursor for the whole scan, as Elasticsearch's scroll does.
        guard seen.insert(next.hashValue).inserted || rule.nextPath != nil else {
            throw BridgeError(
                .malformed, "paging loops: the reply names a page that was read before",
                remedy: isDetected
                    ? "paging was guessed from the first reply (\(rule.name)): say under paging how the API continues, "
                        + "or paging: none"
                    : "check paging.style \(rule.name) against the API's documentation")
        }
        if let limit = rule.maxPages, pagesRead >= limit {
            // A shorter page after others counts as the end, as the limit allows no further request.
            if isConfirming, pagesRead > 1 { return confirmEnd() }
            warnings.append("stopped after paging.max_pages = \(limit): the listing is not complete")
            return .end
        }
        return step
    }

    /// Ends the scan: the page requested only to confirm the end does not exist.
    public mutating func confirmEnd() -> Step {
        if case .keyset = rule.style { endOfKeys() } else { end() }
    }

    private mutating func decide(_ position: PagePosition, _ facts: PageFacts) throws -> Step {
        switch rule.style {
        case .none, .automatic:
            if let sign = sign(besides: facts.count) {
                warnings.append(
                    "paging is none, but the reply says that there is more (\(sign)), so the listing is not complete: set "
                        + "paging, or paging: {style: none, whole: true} if this is complete nevertheless")
                return .end
            }
            if let total, fetched < total {
                warnings.append("the reply says \(total) records and holds \(fetched): set paging to read them all")
                return .end
            }
            if let promise {
                warnings.append(
                    "\(promise): there is more, but nothing says how to request it, so the listing is not complete: "
                        + "set paging")
                return .end
            }
            if let limit, facts.count >= limit.count {
                warnings.append(
                    "just the \(facts.count) records arrived that \(limit.name)=\(limit.count) requests, and nothing says whether "
                        + "there are more, so the listing is not complete: set paging, or paging: none if that is all"
                )
                return .end
            }
            if isUntold, PageSize.isUsual(facts.count) {
                warnings.append(
                    "just \(facts.count) records arrived, a common page size, and nothing says whether there are more, "
                        + "so the listing is not complete: set paging, or paging: none if that is all")
                return .end
            }
            return end()
        case .page, .offset: return try decideByNumber(position, facts)
        case .keyset: return try decideByKey(position, facts)
        case .code(let code, _):
            return try code.next(after: position, facts).map { .go($0) } ?? endByExpectedTotal()
        case .linkHeader:
            if isBelowEnd(facts) || isBehindAll(facts) { return endByExpectedTotal() }
            switch facts.next {
            case .value(let url): return .go(.url(url))
            case .unusable(let field): return endUnread(field)
            case .missing, .none, .json: return endByExpectedTotal()
            }
        case .nextURL, .cursor, .members:
            if facts.count > 0, repeats(facts) { throw circles }
            if facts.hasMore == false || isBelowEnd(facts) || isBehindAll(facts) { return endByExpectedTotal() }
            switch facts.next {
            case .value(let text):
                if case .nextURL = rule.style { return follow(.url(text), facts) }
                return follow(.cursor(text), facts)
            case .json(let text): return follow(.json(text), facts)
            case .none:
                sawNext = true
                return facts.hasMore == true ? try brokenPromise() : endByExpectedTotal()
            case .missing:
                if facts.hasMore == true { return try brokenPromise() }
                if sawNext || resumed || isDetected || fetched == total { return endByExpectedTotal() }
                if case .cursor = rule.style, facts.hasToken { return endByExpectedTotal() }
                warnings.append(
                    "the reply has no \(rule.next?.description ?? ""), so this is taken as the only page; "
                        + "the listing does not count as complete")
                return .end
            case .unusable(let what):
                throw BridgeError(
                    .malformed, "\(rule.next?.description ?? "") holds \(what), which does not say how to continue",
                    remedy: "check paging.path")
            }
        }
    }

    /// Returns the step to the position that a page names.
    private mutating func follow(_ next: PagePosition, _ facts: PageFacts) -> Step {
        sawNext = true
        // Some servers return the same cursor forever and end with a page without records. A scroll returns its cursor
        // even after the last record.
        let isOver = seen.contains(next.hashValue) || rule.nextPath != nil && facts.hasMore == nil && pagesRead > 1
        guard facts.count == 0, isOver else { return .go(next) }
        return facts.hasMore == true ? endPromised() : endByExpectedTotal()
    }

    /// Whether the page has the records of the one before.
    func repeats(_ facts: PageFacts) -> Bool { facts.digest.map { $0 == lastDigest } ?? false }

    /// Whether the config says that a page with so few records is the last one.
    private func isBelowEnd(_ facts: PageFacts) -> Bool { rule.endBelow.map { facts.count < $0 } ?? false }

    /// Whether a page without records comes after exactly as many as it counts: some servers link to a next page for ever.
    ///
    /// A count below that of the first page may be one of this page, or the reply one about a failure. Where the first page
    /// counted just its own records, the number may be that of the pages so far, so that several such pages have to come.
    private func isBehindAll(_ facts: PageFacts) -> Bool {
        guard facts.count == 0, facts.hasMore != true, !rule.repeats, let firstCount, firstCount.all > 0,
            let count = facts.counted ?? facts.total, count >= firstCount.all, count == fetched
        else { return false }
        return firstCount.all > firstCount.own || emptyPages >= 10
    }

    /// Whether so many pages in a row had no records that a later scan had better not continue there.
    ///
    /// If the pages do not end, it would never see the records before them again.
    package var mayNotEnd: Bool { emptyPages >= 20 }

    var circles: BridgeError {
        BridgeError(
            .malformed, "paging loops: two pages in a row hold the same records",
            remedy: isDetected
                ? "paging was guessed from the first reply (\(rule.name)), and the server ignores it: say under paging how the API "
                    + "continues, or paging: none if one reply is all"
                : "check the names of the paging parameters: the server may ignore them")
    }

    /// Handles a reply that says that there is more, but not where.
    private mutating func brokenPromise() throws -> Step {
        warnings.append(
            "the reply says that there is more, but has no \(rule.next?.description ?? ""): the listing is not complete"
        )
        return .end
    }

    /// Ends the scan at a page without records that says that there are more.
    mutating func endPromised() -> Step {
        warnings.append(
            "page \(pagesRead) has no records, but says that there are more: the listing is not complete")
        return .end
    }

    /// Ends the scan at a page whose header field Link cannot be read, and so may name a next page.
    private mutating func endUnread(_ field: String) -> Step {
        warnings.append(
            "page \(pagesRead) has a header Link that cannot be read and may name a next page, so the listing is not complete "
                + "(\(field)): have the server write it as <URL>; rel=\"next\", or set another paging")
        return .end
    }

    /// Whether the flag for more pages disappeared.
    ///
    /// Protocol Buffers' JSON leaves out false, so this means the end.
    func isSilent(_ facts: PageFacts) -> Bool { hasSaidMore && facts.hasMore == nil && rule.hasMore != nil }

    /// Ends the scan without an explicit sign of the end: a known total must be reached.
    ///
    /// - Parameter reached: The number of records so far, or nil if unknown.
    mutating func endUntold(_ reached: Int?) -> Step { end(at: reached, total) }

    /// Ends the scan by the reply's sign of the end: a total that the config names must be reached.
    mutating func endByTotal(_ reached: Int?) -> Step { isDetected || resumed ? end() : endUntold(reached) }

    /// Ends the scan by a sign of the end after pages that are not numbered.
    mutating func endByExpectedTotal() -> Step {
        isDetected || resumed ? end() : end(at: fetched, expected.count)
    }

    mutating func end(at reached: Int?, _ total: Int?) -> Step {
        guard let total, let reached, reached < total else { return end() }
        warnings.append("the reply says \(total) records, but its pages held \(reached): not complete")
        return .end
    }

    mutating func end() -> Step {
        if isDetected, !resumed, let count = stated.count, fetched < count {
            warnings.append(
                "the reply says \(count) records (\(statedPlace)), but its pages held \(fetched), so the listing is not "
                    + "complete: request it in parts (each, split) if the remote limits its pages, or, if that number counts "
                    + "something else, write the detected paging into the section")
            return .end
        }
        if let cap {
            warnings.append(
                "the reply says \(cap) records, where many APIs limit a search, and the last page was full, so the listing is not "
                    + "complete: request it in parts (each, split), or, if these are all, write the detected paging into the "
                    + "section")
            return .end
        }
        isComplete = true
        return .end
    }

    /// The total, if a remote that counts no further may have said it: as many records came, up to a full page.
    private var cap: Int? {
        guard isDetected, !resumed, pagesRead > 1, lastCount == largestCount, let count = stated.count ?? total,
            count == fetched, [1000, 10_000].contains(count)
        else { return nil }
        return count
    }
}
