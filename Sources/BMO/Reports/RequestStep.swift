/// The seven steps of a request.
public enum RequestStep: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// A local request was made.
    case requested = 1
    /// The local objects were returned.
    case answeredLocally
    /// The bridge translates the request into a remote operation.
    case translating
    /// The operation contacts the API.
    case contacting
    /// Its answer is converted to representations.
    case representing
    /// The importer merges these into the local database.
    case importing
    /// The caller gets the result.
    case finished

    /// Compares by position.
    public static func < (left: RequestStep, right: RequestStep) -> Bool { left.rawValue < right.rawValue }

    /// A description of the step for errors.
    public var description: String {
        switch self {
        case .requested: "making the request"
        case .answeredLocally: "reading local objects"
        case .translating: "turning the request into a remote operation"
        case .contacting: "contacting the remote"
        case .representing: "reading the remote's answer"
        case .importing: "importing the answer"
        case .finished: "returning the result"
        }
    }
}
