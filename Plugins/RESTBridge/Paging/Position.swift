/// Where a page of a listing is.
enum Position: Equatable, Hashable, Sendable {
    case only
    case page(Int)
    case offset(Int)
    case url(String)
    case cursor(String)

    /// As text that a later run continues from.
    var text: String {
        switch self {
        case .only: "only:"
        case .page(let number): "page:\(number)"
        case .offset(let number): "offset:\(number)"
        case .url(let url): "url:\(url)"
        case .cursor(let cursor): "cursor:\(cursor)"
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
    /// The same for pages with the same records.
    var digest: UInt64 = 0

    enum NextValue: Equatable, Sendable {
        /// The reply doesn't mention it.
        case missing
        /// The reply says that there is none: null, false or an empty text.
        case none
        case value(String)
        /// An object, an array or `true`.
        case unusable(String)
    }
}
