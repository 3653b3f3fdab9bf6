internal import BridgeKit

/// Pages by numbers and offsets.
extension Pager {
    mutating func decideByNumber(_ position: PagePosition, _ facts: PageFacts) throws -> Step {
        if facts.count == 0 {
            if facts.hasMore == true, !isLastPage(position) {
                guard case .page(let number) = position else { return endPromised() }
                isConfirming = false
                return .go(.page(number + 1))
            }
            if !resumed, let total, fetched < total { return endUntold(fetched) }
            if case .page(let number) = position, case .page(let start) = rule.style, let pages,
                number - start + 1 < pages
            {
                warnings.append(
                    "the reply says \(pages) pages, but page \(number) has no records: the listing is not complete")
                return .end
            }
            return end()
        }
        // Some servers answer with the last page, or with the first one, where there are no more.
        if isTotalDoubted, repeats(facts) || facts.digest.map({ $0 == firstDigest }) ?? false { return end() }
        if repeats(facts) {
            guard isConfirming else { throw circles }
            if isEndUnknown {
                warnings.append(
                    "the reply counts the \(facts.count) records that arrived and no others, and the server ignores the paging "
                        + "parameters that were guessed: nothing says whether there are more, so the listing is not "
                        + "complete: set paging, or paging: none if that is all")
                return .end
            }
            warnings.append("the server ignores the paging parameters: each page is the whole listing")
            return end()
        }
        if isLastPage(position) { return endByTotal(reached(position, facts.count)) }
        if let hasMore = facts.hasMore {
            if !hasMore { return endByTotal(reached(position, facts.count)) }
            isConfirming = false
        } else if isSilent(facts) {
            return endUntold(reached(position, facts.count))
        } else if let total, let reached = reached(position, facts.count), reached <= total {
            // A total below the number of records received is wrong, such as -1 for an unknown one.
            guard reached < total || doubtsTotal(facts) else { return end() }
            isCheckingTotal = reached == total
            isTotalDoubted = isTotalDoubted || isCheckingTotal
            isConfirming = false
        } else if let size = rule.size, facts.count < (pageLength ?? size) {
            // A short first page is the end, or shows that the server returns fewer records than requested.
            if pagesRead > 1 { return end() }
            isConfirming = true
        } else {
            isConfirming = isEndUnknown
        }
        if isConfirming, pagesRead > 1 { isConfirming = false }
        if isTotalDoubted, facts.hasMore != true { isConfirming = true }
        if pageLength == nil, let size = rule.size, facts.count < size { pageLength = facts.count }
        switch position {
        case .page(let number): return .go(.page(number + 1))
        case .offset(let number):
            // What each page repeats may come on top of the records that were asked for.
            let count = rule.repeats ? min(facts.count, rule.size ?? facts.count) : facts.count
            return .go(.offset(number + count))
        case .only, .url, .cursor, .json: return end()
        }
    }

    /// Whether only the total says that the page at `position`, which is full, is the last one.
    package func endsByTotalAlone(_ position: PagePosition, _ facts: PageFacts) -> Bool {
        guard rule.checksTotal, rule.isNumbered, facts.count > 0, facts.hasMore == nil else { return false }
        var next = self
        next.fetched += facts.count
        next.pagesRead += 1
        next.pages = facts.pages ?? pages
        next.largestCount = max(largestCount, facts.count)
        guard !next.isLastPage(position), !isSilent(facts), let total = facts.total ?? self.total else { return false }
        return next.reached(position, facts.count) == total && next.doubtsTotal(facts)
    }

    /// Whether a total that is reached is not enough for the end: the page is as full as a page can be, as it is if the
    /// remote caps its total.
    private func doubtsTotal(_ facts: PageFacts) -> Bool {
        guard rule.checksTotal, pagesRead < rule.maxPages ?? .max else { return false }
        return pagesRead > 1 ? facts.count >= largestCount : rule.size.map { facts.count >= $0 } ?? false
    }

    /// Whether the reply's number of pages is reached; one below 1 is not a number of pages.
    private func isLastPage(_ position: PagePosition) -> Bool {
        guard case .page(let number) = position, case .page(let start) = rule.style, let pages, pages > 0 else {
            return false
        }
        return number - start + 1 >= pages
    }

    /// Returns the number of records up to the end of this page, if known.
    private func reached(_ position: PagePosition, _ count: Int) -> Int? {
        switch (position, rule.style) {
        case (.offset(let number), .offset(let start)): number - start + count
        case (.page(let number), .page(let start)) where resumed:
            // The product of two bounded numbers may overflow.
            rule.size.map { size in
                let before = (number - start).multipliedReportingOverflow(by: size)
                return (before.overflow ? .maxPosition : before.partialValue.clampedPosition) + count
            }
        default: resumed ? nil : fetched
        }
    }

    /// The total that the request for the next page checks; nil if it does not.
    package var checkedTotal: Int? { isCheckingTotal ? total : nil }

    /// Ends the scan because the page behind the total does not exist, or because it was refused.
    package mutating func confirmEnd(isRefused: Bool) -> Step {
        guard isRefused, isTotalDoubted, let total else { return end() }
        // Totals that are capped are round.
        guard !isCheckingTotal || total.isMultiple(of: 100) else { return end() }
        warnings.append(
            "the reply says \(total) records, and the page behind them is refused: as a remote that caps its total refuses it, "
                + "too, the listing is not complete: set paging.has_more or paging.pages to where the reply says whether there "
                + "are more")
        return .end
    }
}
