internal import BridgeHTTP
internal import BridgeKit

/// Signs of more records in a reply that the section declares the only one.
extension PagingDetector {
    /// Header fields whose value is the position of the next page, and never a count of records.
    private static let nextHeaders = [
        "X-Next-Page", "Next-Page", "X-Next-Cursor", "Next-Cursor", "X-Cursor-Next", "X-Next-Page-Token",
        "Next-Page-Token", "X-Continuation-Token", "Continuation-Token", "X-MS-Continuation", "X-Next-Token",
        "X-Nomad-NextToken", "X-MS-ContinuationToken",
    ]
    private static let totalHeaders = [
        "X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count", "X-WP-Total", "Content-Range",
    ]
    private static let pagesNames = [
        "total_pages", "totalPages", "page_count", "pageCount", "num_pages", "numPages", "nb_pages", "nbPages",
        "last_page", "lastPage",
    ]

    /// Whether the values beside the records describe the listing, which they do not if the reply itself is the record.
    private var hasSurroundings: Bool { survey?.isArray == false && !recordsNames.isEmpty }

    /// Returns a next link, cursor, flag or page count that indicates more records, such as `$.next holds a URL`.
    ///
    /// Only unambiguous signs count, since a person declared the reply complete.
    func signOfMore() -> String? {
        if LinkHeader.next(response.all("link")) != nil { return "the Link header names a next page" }
        for name in Self.nextHeaders {
            if let value = response.header(name), !value.isEmpty, value != "null" {
                return "the header \(name) has a value"
            }
        }
        guard hasSurroundings, let survey else { return nil }
        if let hasMore { return hasMore.value ? "\(hasMore.path) is true" : nil }
        if let path = byURL()?.members.first(where: { $0.name == "path" })?.value, case .text = survey[path] {
            return "\(path) holds a URL"
        }
        if let promise = promise() { return promise }
        for path in homes.flatMap({ home in Self.pagesNames.map { Self.member(home, $0) } }) {
            if let pages = survey[path].integer, pages > 1 { return "\(path) is \(pages)" }
        }
        return nil
    }

    /// Returns the reply's total, with its place.
    func plainTotal() -> (place: String, count: Int)? {
        for name in Self.totalHeaders {
            if let count = response.header(name).flatMap(HeaderNumber.total) { return (name, count) }
        }
        guard hasSurroundings, hasMore?.value != false, let total = totalInBody else { return nil }
        return (total.path, total.value)
    }
}
