internal import BridgeKit

/// Pages after the key of the last record.
extension Pager {
    /// Returns the step after a page that is requested by the key before it.
    ///
    /// A key stays valid if the server returns fewer records than before, so each shorter page is followed by one more.
    mutating func decideByKey(_ position: PagePosition, _ facts: PageFacts) throws -> Step {
        if facts.hasMore == false { return endByExpectedTotal() }
        if facts.count == 0, facts.hasMore == true { return endPromised() }
        if facts.count == 0 || isSilent(facts) { return endOfKeys() }
        let isLast = facts.hasMore == nil && isShort(facts)
        let next: PagePosition
        switch facts.next {
        case .value(let key): next = .cursor(key)
        case .json(let key): next = .json(key)
        case .missing, .none, .unusable:
            // Records without the key may come last, and nothing could follow them.
            if isLast, pagesRead > 1 { return endOfKeys() }
            throw BridgeError(
                .malformed, "the last record has no value for paging.field, which says how to continue",
                remedy: "check paging.field")
        }
        if seen.contains(next.hashValue) {
            // A server that includes the record with the given key returns that record alone at the end.
            if facts.count == 1 { return end() }
            // Of several records with the last key it returns these.
            if isLast { return endOfKeys() }
            if repeats(facts) { return try endRepeated(facts) }
            // Behind the last key, some servers begin again.
            if isConfirming, next != position { return endOfKeys() }
            throw circles
        }
        if repeats(facts) { throw circles }
        noteLength(facts)
        isConfirming = isLast
        return .go(next)
    }

    /// Ends the scan behind the last key: a total that the config names must be reached.
    mutating func endOfKeys() -> Step { end(at: resumed ? nil : fetched, expected.count) }
}
