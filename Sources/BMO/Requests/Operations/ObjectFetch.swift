internal import SystemCalls

/// A running request: its local objects are available, and its remote part can be awaited, observed or ignored.
///
/// Releasing it leaves the remote part running. ``cancel()``, or cancelling the task that awaits ``remote``, gives it
/// up; the remote part itself ends when all requests that share it have given up, at the latest before its next commit.
public final class ObjectFetch: Sendable {
    /// The request.
    public let request: ObjectRequest
    /// The local objects that matched before the remote was queried.
    public let local: [LocalObject]

    private let part: Part
    private let read: @Sendable (ObjectRequest) async throws -> [LocalObject]

    /// The remote part.
    enum Part: Sendable {
        case skipped(FetchResult.Skip)
        case running(RemoteOperation, subscriber: Int)
    }

    init(
        _ request: ObjectRequest, local: [LocalObject], _ part: Part,
        read: @escaping @Sendable (ObjectRequest) async throws -> [LocalObject]
    ) {
        self.request = request
        self.local = local
        self.part = part
        self.read = read
    }

    /// Whether the remote is queried.
    public var goesRemote: Bool { if case .running = part { true } else { false } }

    /// The result of the remote part, once it has ended.
    ///
    /// - Throws: ``RequestError`` with the step at which it failed; `CancellationError`. Earlier pages are in the
    ///   database.
    public var remote: FetchResult {
        get async throws {
            var result: FetchResult
            switch part {
            case .skipped(let reason):
                result = FetchResult()
                result.skipped = reason
            case .running(let operation, let subscriber):
                do {
                    result = try await operation.result(for: subscriber)
                } catch let error as RequestError {
                    throw error.adding(request.userInfo)
                }
            }
            result.userInfo = request.userInfo
            if request.returnsObjects { result.objects = try await objects() }
            return result
        }
    }

    /// The request's events from the first step on, whenever you begin to listen; the stream ends with the request.
    public var events: AsyncStream<RequestEvent> {
        let beginning: [RequestEvent] = [.requested, .answeredLocally(count: local.count)]
        let (stream, continuation) = AsyncStream.makeStream(of: RequestEvent.self)
        for event in beginning { continuation.yield(event) }
        guard case .running(let operation, let subscriber) = part else {
            var result = FetchResult()
            if case .skipped(let reason) = part { result.skipped = reason }
            result.userInfo = request.userInfo
            continuation.yield(.finished(result))
            continuation.finish()
            return stream
        }
        let userInfo = request.userInfo
        let task = Task {
            for await event in operation.events(for: subscriber) {
                continuation.yield(event.adding(userInfo))
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Returns the objects that match now.
    ///
    /// - Throws: ``RequestError``.
    public func objects() async throws -> [LocalObject] { try await read(request) }

    /// Gives up the remote part.
    public func cancel() {
        if case .running(let operation, let subscriber) = part { operation.cancel(subscriber) }
    }
}

extension RequestError {
    /// Returns the error with what the program said about its request.
    func adding(_ userInfo: UserInfo?) -> RequestError {
        var error = self
        error.userInfo = userInfo
        return error
    }
}

extension RequestEvent {
    /// Returns the event with what the program said about its request, which others share.
    fileprivate func adding(_ userInfo: UserInfo?) -> RequestEvent {
        switch self {
        case .finished(var result):
            result.userInfo = userInfo
            return .finished(result)
        case .failed(let error): return .failed(error.adding(userInfo))
        case .waiting(let pause, let error): return .waiting(pause, error.adding(userInfo))
        case .waitingForNetwork(let limit, let error): return .waitingForNetwork(atMost: limit, error.adding(userInfo))
        default: return self
        }
    }
}
