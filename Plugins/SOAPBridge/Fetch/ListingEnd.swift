internal import BridgeKit
internal import Inference

/// Listings that seem to be over although the service may have more records.
extension SOAPSource {
    /// Returns a warning about the last reply of a listing if it may not have the last records; nil if all is well.
    func openEndWarning(_ reader: ReplyReader) -> String? {
        let paging = scan.paging
        guard !paging.isDeclaredWhole, reader.hasMore == nil else { return nil }
        if let promise = reader.promise, paging.isUndeclared || reader.total == nil {
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
        if let limit = input.recordLimit, count >= limit.count {
            return "just the \(count) records arrived that \(limit.name) = \(limit.count) in input requests, \(open)"
        }
        return PageSize.isUsual(count) ? "just \(count) records arrived, a common page size, \(open)" : nil
    }
}

extension InputValue {
    /// Names of the number of records wanted, beside those of ``PagingVocabulary``: SharePoint's and Exchange's.
    private static let sizes = Set(PagingVocabulary.Elements.sizes).union(["rowlimit", "maxentriesreturned"])

    /// The first element or attribute that says how many records the request asks for; nil if there is none.
    ///
    /// One record is none of a list that may be cut.
    fileprivate var recordLimit: (name: String, count: Int)? {
        guard case .object(let members) = self else { return nil }
        for member in members {
            if case .text(let text) = member.value, let count = Int(text), count > 1,
                Self.sizes.contains(NameWords.plain(member.name))
            {
                return (member.name, count)
            }
            if let limit = member.value.recordLimit { return limit }
        }
        return nil
    }
}
