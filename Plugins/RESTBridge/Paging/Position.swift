/// Where a page of a listing is.
enum Position: Equatable, Hashable, Sendable {
    case only
    case page(Int)
    case offset(Int)
    case url(String)
    case cursor(String)
    /// A cursor that is an object or an array, as JSON.
    case json(String)

    /// As text that a later run continues from.
    var text: String {
        switch self {
        case .only: "only:"
        case .page(let number): "page:\(number)"
        case .offset(let number): "offset:\(number)"
        case .url(let url): "url:\(url)"
        case .cursor(let cursor): "cursor:\(cursor)"
        case .json(let cursor): "json:\(cursor)"
        }
    }
}

/// What a page that was read says about the walk.
struct PageFacts: Sendable {
    /// Records of the page, rejected ones included.
    var count = 0
    /// The next URL or cursor: of the body, of a header, or of the last record.
    var next: NextValue = .missing
    var total: Int?
    var pages: Int?
    /// Whether the reply says that more pages follow.
    var hasMore: Bool?
    /// The reply has no place for records, and says in its own way that there are none, as `{}` does.
    var isBare = false
    /// The same for pages with the same records.
    var digest: UInt64 = 0

    enum NextValue: Equatable, Sendable {
        /// The reply doesn't mention it.
        case missing
        /// The reply says that there is none: null, false or an empty text.
        case none
        case value(String)
        /// An object or an array that goes into the next request's body, as JSON.
        case json(String)
        /// An object or an array that has no place there, or `true`.
        case unusable(String)
    }
}

extension PageFacts.NextValue {
    /// A path of a next URL behind what it is relative to, as Confluence's `_links.base` says; one that repeats the base's
    /// own path stays as it is.
    func below(_ base: String) -> Self {
        guard case .value(let text) = self, text.hasPrefix("/"), !text.hasPrefix("//") else { return self }
        let host = base.firstRange(of: "://").map { base[$0.upperBound...].prefix { $0 != "/" }.endIndex }
        var path = host.map { base[$0...] } ?? ""
        while path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !text.hasPrefix(path + "/") else { return self }
        return .value(base.prefix(upTo: path.endIndex) + text)
    }
}
