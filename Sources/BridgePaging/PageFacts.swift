/// What a page says about the listing, as far as paging uses it.
public struct PageFacts: Sendable {
    /// The number of records on the page, including rejected ones.
    public var count = 0
    /// The next URL or cursor, from the body, a header field or the last record.
    public var next: NextValue = .missing
    /// The number of records in the listing, if the reply says it.
    public var total: Int?
    /// A total that the paging does not need, if the reply says one.
    package var stated: (place: String, count: Int)?
    /// A total by which an empty page is the end although it names a next one.
    package var counted: Int?
    /// The number of pages, if the reply says it.
    public var pages: Int?
    /// Whether the reply says that more pages follow.
    public var hasMore: Bool?
    /// Whether the reply has the remote's token for a later scan, which comes with the last page.
    public var hasToken = false
    /// Whether the reply has no place for records and indicates an empty listing, as `{}` does.
    public var isBare = false
    /// A digest that is equal for pages with the same records; nil if it is not known.
    ///
    /// The pager finds by it that a remote ignores the paging parameters.
    public var digest: UInt64?

    /// Creates facts that say nothing.
    public init() {}

    /// What the reply says about the next page.
    public enum NextValue: Equatable, Sendable {
        /// The reply does not mention a next page.
        case missing
        /// The reply says that no next page exists: null, false or an empty text.
        case none
        /// The next page's URL or cursor.
        case value(String)
        /// A number, an object or an array for the next request's body, as JSON.
        case json(String)
        /// An object or an array that the request cannot carry, `true`, or a Link header that cannot be read.
        case unusable(String)
    }
}

extension PageFacts.NextValue {
    /// Returns a next path appended to its base URL, such as Confluence's `_links.base`.
    ///
    /// A path that repeats the base's own path stays unchanged.
    package func below(_ base: String) -> Self {
        guard case .value(let text) = self, text.hasPrefix("/"), !text.hasPrefix("//") else { return self }
        let host = base.firstRange(of: "://").map { base[$0.upperBound...].prefix { $0 != "/" }.endIndex }
        var path = host.map { base[$0...] } ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !text.hasPrefix(path + "/") else { return self }
        return .value(base.prefix(upTo: path.endIndex) + text)
    }
}
