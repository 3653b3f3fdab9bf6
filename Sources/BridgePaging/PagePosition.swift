/// The position of a page in a listing.
public enum PagePosition: Equatable, Hashable, Sendable {
    /// The first page of a listing whose later ones the remote names, or of one that has no others.
    case only
    /// A page by its number.
    case page(Int)
    /// A page by the number of records before it.
    case offset(Int)
    /// A page by its URL.
    case url(String)
    /// A page by a value that only the remote understands.
    case cursor(String)
    /// A cursor for a body that is a number, an object or an array, as JSON.
    case json(String)

    /// The position as text that a later run can resume from.
    public var text: String {
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
