/// The seven steps in the life of a request.
public enum RequestStep: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// A local request was made.
    case requested = 1
    /// The local objects came back.
    case answeredLocally
    /// The bridge turns the request into a remote operation.
    case translating
    /// The operation contacts the API.
    case contacting
    /// Its answer is turned into representations.
    case representing
    /// The importer merges these into the local database.
    case importing
    /// The caller gets the result.
    case finished

    /// In the order of time.
    public static func < (left: RequestStep, right: RequestStep) -> Bool { left.rawValue < right.rawValue }

    /// The step in words, as an error shows it.
    public var description: String {
        switch self {
        case .requested: "making the request"
        case .answeredLocally: "reading local objects"
        case .translating: "turning the request into a remote operation"
        case .contacting: "contacting the remote"
        case .representing: "reading the remote's answer"
        case .importing: "importing the answer"
        case .finished: "giving the result"
        }
    }
}

/// What happens in the life of a request; every one belongs to a step.
public enum RequestEvent: Sendable {
    /// Step 1: the request is made.
    case requested
    /// Step 2: so many local objects came back.
    case answeredLocally(count: Int)
    /// Step 3: what the remote will be asked for.
    case translated(RemotePlan)
    /// Step 4: the bridge contacts its remote.
    case contacting(bridge: String)
    /// Step 4: the remote cannot be reached; it is tried again after a pause.
    case waiting(Duration, RequestError)
    /// Step 5: records came, of the page with this number, from 1.
    case received(page: Int, records: Int)
    /// Step 6: a page is in the local database, for good.
    case imported(page: Int, metadata: PageMetadata)
    /// Steps 3 to 6: something that a person should know.
    case warning(String)
    /// Step 7: the remote part is over.
    case finished(FetchResult)
    /// The request failed at a step.
    case failed(RequestError)

    /// The step it belongs to.
    public var step: RequestStep {
        switch self {
        case .requested: .requested
        case .answeredLocally: .answeredLocally
        case .translated, .warning: .translating
        case .contacting, .waiting: .contacting
        case .received: .representing
        case .imported: .importing
        case .finished: .finished
        case .failed(let error): error.step
        }
    }
}

/// What the remote is asked for.
public struct RemotePlan: Sendable, Equatable {
    /// How much.
    public enum Extent: Sendable, Equatable {
        /// The entity's listing, as a sync walks it: what it lacks is deleted as the configuration says.
        case listing
        /// Pages of it, as many as the request needs.
        case pages
    }

    /// The entity that is walked: of a sub-entity without a listing, its super-entity.
    public var entity: String
    /// The configuration's name of the bridge.
    public var bridge: String
    /// How much is asked for.
    public var extent: Extent
    /// The conditions that the bridge gets, as text; it may leave any of them to us.
    public var filters: [String]
}

/// What the remote said about a page.
public struct PageMetadata: Sendable, Equatable {
    /// How many records the remote says there are.
    public var total: Int64?
    /// The URL or path, without secrets.
    public var location: String?
    /// What else it said: a JSON object's text.
    public var json: String?
}
