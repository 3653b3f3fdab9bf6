/// The position of a page in a listing.
enum Position: Equatable, Hashable, Sendable {
    case only
    case page(Int)
    case offset(Int)
    case url(String)
    case cursor(String)
    /// A cursor that is an object or an array, as JSON.
    case json(String)

    /// The position as text that a later run can resume from.
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
