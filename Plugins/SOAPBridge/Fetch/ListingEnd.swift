internal import BridgeKit
internal import Inference

/// Listings that seem to be over although the service may have more records.
extension SOAPSource {
    /// Returns a warning about the last reply of a listing if it may not have the last records; nil if all is well.
    func openEndWarning(_ reader: ReplyReader) -> String? {
        let paging = scan.paging
        guard !paging.isDeclaredWhole, reader.hasMore == nil else { return nil }
        // A service may repeat a position, which counts only where nothing else advances.
        let isCounted = paging.style == .offset || paging.style == .page
        let promise = reader.promise ?? (isCounted ? nil : reader.nextPosition)
        if let promise, paging.isUndeclared || reader.total == nil {
            return
                "there may be more records, because \(promise.words), so the listing is not complete: "
                + (paging.isUndeclared
                    ? "set paging; if that means something else, write paging: {style: none}"
                    : "say in paging where the list ends (total, more or done)")
        }
        let count = reader.recordCount + reader.otherCount
        guard paging.isUndeclared, !reader.deniesMore, (reader.total ?? -1) < count else { return nil }
        let open =
            "and nothing says whether there are more, so the listing is not complete: set paging, or paging: {style: none} if that is "
            + "all"
        if let name = input.nameOfLimit(count) {
            return "just the \(count) records arrived that \(name) = \(count) in input requests, \(open)"
        }
        return PageSize.isUsual(count) ? "just \(count) records arrived, a common page size, \(open)" : nil
    }
}

extension InputValue {
    /// Names of the number of records wanted, beside those of ``PagingVocabulary``: SharePoint's and Exchange's.
    private static let sizes = Set(PagingVocabulary.Elements.sizes).union(["rowlimit", "maxentriesreturned"])

    /// Returns the name of an element or attribute that asks for just this number of records; nil without one.
    ///
    /// One record is none of a list that may be cut. A number below that of the records limits something else.
    fileprivate func nameOfLimit(_ count: Int) -> String? {
        guard count > 1, case .object(let members) = self else { return nil }
        for member in members {
            if case .text(let text) = member.value, Int(text) == count,
                Self.sizes.contains(NameWords.plain(member.name))
            {
                return member.name
            }
            if let name = member.value.nameOfLimit(count) { return name }
        }
        return nil
    }
}
