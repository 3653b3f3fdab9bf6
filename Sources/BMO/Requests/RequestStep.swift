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

/// An event of a request; each belongs to a step.
public enum RequestEvent: Sendable {
    /// Step 1: the request is made.
    case requested
    /// Step 2: the local objects were returned.
    case answeredLocally(count: Int)
    /// Step 3: the remote operation is planned.
    case translated(RemotePlan)
    /// Step 4: the bridge contacts its remote.
    case contacting(bridge: String)
    /// Step 4: the remote is unreachable, and is retried after a pause.
    case waiting(Duration, RequestError)
    /// Step 5: records of the page with this number, from 1, were received.
    case received(page: Int, records: Int)
    /// Step 6: a page is committed to the local database.
    case imported(page: Int, metadata: PageMetadata)
    /// Steps 3 to 6: a warning for the user.
    case warning(String)
    /// Step 7: the remote part has ended.
    case finished(FetchResult)
    /// The request failed at a step.
    case failed(RequestError)

    /// The step that the event belongs to.
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

/// The plan of a remote operation.
public struct RemotePlan: Sendable, Equatable {
    /// How much of the listing is fetched.
    public enum Extent: Sendable, Equatable {
        /// The entity's listing, as a sync scans it: objects that it lacks are deleted as configured.
        case listing
        /// As many of its pages as the request needs.
        case pages
    }

    /// The scanned entity: for a sub-entity without a listing, its super-entity.
    public var entity: String
    /// The bridge's name in the configuration.
    public var bridge: String
    /// How much of the listing is fetched.
    public var extent: Extent
    /// The conditions passed to the bridge, as text; it need not apply all of them.
    public var filters: [String]
}

/// The remote's information about a page.
public struct PageMetadata: Sendable, Equatable {
    /// The remote's total number of records.
    public var total: Int64?
    /// The URL or path, without secrets.
    public var location: String?
    /// Further information: a JSON object's text.
    public var json: String?
}
