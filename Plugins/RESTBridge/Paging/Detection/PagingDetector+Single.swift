internal import BridgePaging
internal import BridgeHTTP
internal import Inference

/// Signs of more records in a reply that the section declares the only one.
extension PagingDetector {
    /// Header fields whose value is the position of the next page, and never a count of records.
    private static let nextHeaders = PagingSignature.table.flatMap { signature -> [String] in
        if case .nextHeader(let names, _) = signature.sign { names } else { [] }
    }

    /// Returns a next link, cursor, flag or page count that indicates more records, such as `$.next holds a URL`.
    ///
    /// Only unambiguous signs count, since a person declared the reply complete.
    func signOfMore() -> String? {
        if LinkHeader.next(response.all("link")) != nil { return "the Link header names a next page" }
        if let unread = unreadLink() { return unread }
        for name in Self.nextHeaders {
            if let value = response.header(name), !value.isEmpty, value != "null" {
                return "the header \(name) has a value"
            }
        }
        guard isListed, let survey else { return nil }
        if let hasMore { return hasMore.value ? "\(hasMore.path) is true" : nil }
        if let path = detect(PagingSignature.nextLinks)?["path"], case .text = survey[path] {
            return "\(path) holds a URL"
        }
        if let promise = promise() { return promise }
        let names = PagingVocabulary.pages.names(.clear)
        for path in homes.flatMap({ home in names.map { ReplySurvey.member(home, $0) } }) {
            if let pages = survey[path].integer, pages > 1 { return "\(path) is \(pages)" }
        }
        return nil
    }

    /// Returns the reply's total, with its place.
    func plainTotal() -> (place: String, count: Int)? {
        for name in PagingVocabulary.totalHeaders + ["X-WP-Total", "Content-Range"] {
            if let count = response.header(name).flatMap(HeaderNumber.total) { return (name, count) }
        }
        guard isListed, hasMore?.value != false, let total = totalInBody else { return nil }
        return (total.path, total.value)
    }
}
