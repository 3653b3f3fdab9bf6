/// Pages that are shorter than others, which ends a listing or shows how many records the server returns.
extension Pager {
    /// Whether a page has fewer records than the server returns per page.
    ///
    /// A short first page is the end, or shows that the server returns fewer records than requested: the next page decides.
    func isShort(_ facts: PageFacts) -> Bool { rule.size.map { facts.count < pageLength ?? $0 } ?? false }

    /// Notes how many records the server returns per page, if they are fewer than before.
    mutating func noteLength(_ facts: PageFacts) {
        if isShort(facts) { pageLength = facts.count }
    }

    /// Ends the scan at a page with the records of the one before, which had to show whether there are more.
    ///
    /// - Throws: `BridgeError` if that page was expected to have others.
    mutating func endRepeated(_ facts: PageFacts) throws -> Step {
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
}
