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
    /// Step 4: the network is unavailable, and the request waits for it for at most this time.
    case waitingForNetwork(atMost: Duration, RequestError)
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
        case .contacting, .waiting, .waitingForNetwork: .contacting
        case .received: .representing
        case .imported: .importing
        case .finished: .finished
        case .failed(let error): error.step
        }
    }
}
