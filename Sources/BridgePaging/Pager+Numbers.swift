internal import BridgeKit

/// Pages by number or offset.
extension Pager {
    /// Returns the step after a page that is requested by its number or its offset.
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
        if repeats(facts) { return try endRepeated(facts) }
        if isLastPage(position) { return endByTotal(reached(position, facts.count)) }
        if let hasMore = facts.hasMore {
            if !hasMore { return endByTotal(reached(position, facts.count)) }
            isConfirming = false
        } else if isSilent(facts) {
            return endUntold(reached(position, facts.count))
        } else if let total, let reached = reached(position, facts.count), reached <= total {
            // A total below the number of records received is wrong, such as -1 for an unknown one.
            if reached == total, !mayCountPage(facts) { return end() }
            isConfirming = reached == total
        } else if isShort(facts) {
            if pagesRead > 1 { return end() }
            isConfirming = true
        } else {
            isConfirming = isEndUnknown
        }
        if isConfirming, pagesRead > 1 { isConfirming = false }
        if pageLength == nil { noteLength(facts) }
        switch position {
        case .page(let number): return .go(.page(number + 1))
        case .offset(let number):
            // What each page repeats may come on top of the records that were asked for.
            let count = rule.repeats ? min(facts.count, rule.size ?? facts.count) : facts.count
            return .go(.offset(number + count))
        case .only, .url, .cursor, .json: return end()
        }
    }

    /// Whether the reply's number of pages is reached; one below 1 is not a number of pages.
    private func isLastPage(_ position: PagePosition) -> Bool {
        guard case .page(let number) = position, case .page(let start) = rule.style, let pages, pages > 0 else {
            return false
        }
        return number - start + 1 >= pages
    }

    /// Whether a total that the config names may be the number of this page's records, as `count` is in some APIs.
    ///
    /// The first page alone cannot tell: one that is full has just so many. The next page decides.
    private func mayCountPage(_ facts: PageFacts) -> Bool {
        guard pagesRead == 1, !resumed, !isDetected, let size = rule.size, facts.count >= size else { return false }
        return rule.total.map { !$0.description.lowercased().contains("total") } ?? false
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
}
