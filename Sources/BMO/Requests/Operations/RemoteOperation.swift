internal import SystemCalls

/// The remote part of equivalent requests, which share its answer.
///
/// It ends with its work, or when the last waiting request has given up; a request that is released without giving up
/// leaves it running.
final class RemoteOperation: Sendable {
    private struct State {
        var log: [RequestEvent] = []
        var streams: [Int: (owner: Int, AsyncStream<RequestEvent>.Continuation)] = [:]
        var waiting: [Int: (owner: Int, CheckedContinuation<FetchResult, any Error>)] = [:]
        var subscribers: Set<Int> = []
        var lastNumber = 0
        var task: Task<Void, Never>?
        var outcome: Result<FetchResult, any Error>?
        var isCancelled = false
        /// The tasks that wait for the ends of subscriptions.
        var timers: [Int: Task<Void, Never>] = [:]
        /// The errors of subscriptions that ended before the operation.
        var expired: [Int: RequestError] = [:]
        /// The error of the last subscription, whose end cancels the work.
        var deadline: RequestError?

        /// Removes and returns those that wait for the result of a subscription, and the streams of its events.
        mutating func take(
            _ subscriber: Int
        ) -> (
            waiting: [CheckedContinuation<FetchResult, any Error>], streams: [AsyncStream<RequestEvent>.Continuation]
        ) {
            let waiting = self.waiting.filter { $0.value.owner == subscriber }
            let streams = self.streams.filter { $0.value.owner == subscriber }
            for number in waiting.keys { self.waiting[number] = nil }
            for number in streams.keys { self.streams[number] = nil }
            return (waiting.values.map(\.1), streams.values.map(\.1))
        }
    }

    private let state = Mutex(State())
    private let onEnd: @Sendable (RemoteOperation) -> Void

    /// The number of events kept for late subscribers.
    private static let maxLogLength = 1000

    /// Creates an operation, which ``start(_:)`` starts.
    ///
    /// - Parameter onEnd: Called once, when no other request may join any more.
    init(onEnd: @escaping @Sendable (RemoteOperation) -> Void) { self.onEnd = onEnd }

    /// Starts the work; must be the first call.
    func start(_ body: @escaping @Sendable (RemoteOperation) async throws -> FetchResult) {
        let task = Task { [self] in
            do {
                finish(.success(try await body(self)))
            } catch {
                finish(.failure(error))
            }
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Joins the operation; nil when it is being cancelled.
    func subscribe() -> Int? {
        state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.lastNumber += 1
            state.subscribers.insert(state.lastNumber)
            return state.lastNumber
        }
    }

    /// Gives up a subscription; after the last one, the work is cancelled, unless it has committed.
    func cancel(_ subscriber: Int) {
        let (waiting, streams, task) = state.withLock {
            state -> (
                [CheckedContinuation<FetchResult, any Error>], [AsyncStream<RequestEvent>.Continuation],
                Task<Void, Never>?
            ) in
            guard state.subscribers.remove(subscriber) != nil, state.outcome == nil else { return ([], [], nil) }
            state.timers.removeValue(forKey: subscriber)?.cancel()
            let (waiting, streams) = state.take(subscriber)
            guard state.subscribers.isEmpty else { return (waiting, streams, nil) }
            state.isCancelled = true
            return (waiting, streams + state.streams.values.map(\.1), state.task)
        }
        for continuation in waiting { continuation.resume(throwing: CancellationError()) }
        for stream in streams { stream.finish() }
        if state.withLock({ $0.isCancelled }) {
            onEnd(self)
            task?.cancel()
        }
    }

    /// Ends a subscription with an error after a time, unless the operation has ended by then.
    ///
    /// The end of the last one cancels the work, and has its error once the work has stopped: nothing is committed later.
    func expire(
        _ subscriber: Int, after pause: @escaping @Sendable () async throws -> Void, with error: RequestError
    ) {
        let timer = Task { [weak self] in
            do {
                try await pause()
            } catch {
                return
            }
            self?.expire(subscriber, with: error)
        }
        let isOver = state.withLock { state in
            let isOver = state.outcome != nil || !state.subscribers.contains(subscriber)
            if !isOver { state.timers[subscriber] = timer }
            return isOver
        }
        if isOver { timer.cancel() }
    }

    /// What the end of a subscription leaves to do.
    private struct Expiry {
        var error: RequestError
        var waiting: [CheckedContinuation<FetchResult, any Error>] = []
        var streams: [AsyncStream<RequestEvent>.Continuation] = []
        var task: Task<Void, Never>?
    }

    private func expire(_ subscriber: Int, with error: RequestError) {
        let expiry = state.withLock { state -> Expiry? in
            guard state.outcome == nil, !state.isCancelled, state.subscribers.contains(subscriber) else { return nil }
            var expiry = Expiry(error: error)
            if let step = state.log.last?.step { expiry.error.step = step }
            guard state.subscribers.count > 1 else {
                state.isCancelled = true
                state.deadline = expiry.error
                expiry.task = state.task
                return expiry
            }
            state.subscribers.remove(subscriber)
            state.expired[subscriber] = expiry.error
            (expiry.waiting, expiry.streams) = state.take(subscriber)
            return expiry
        }
        guard let expiry else { return }
        for continuation in expiry.waiting { continuation.resume(throwing: expiry.error) }
        for stream in expiry.streams {
            stream.yield(.failed(expiry.error))
            stream.finish()
        }
        guard let task = expiry.task else { return }
        // No other request may join any more.
        onEnd(self)
        task.cancel()
    }

    /// Gives up all subscriptions.
    func cancelAll() {
        for subscriber in state.withLock({ Array($0.subscribers) }) { cancel(subscriber) }
    }

    /// Returns when the work has ended, even if cancelled.
    func end() async { await state.withLock { $0.task }?.value }

    /// Reports an event to all listeners.
    func report(_ event: RequestEvent) {
        let streams = state.withLock { state in
            state.log.append(event)
            if state.log.count > Self.maxLogLength {
                // A fetch may have thousands of pages; the last events suffice.
                state.log.removeFirst(Self.maxLogLength / 2)
            }
            return state.streams.values.map(\.1)
        }
        for stream in streams { stream.yield(event) }
    }

    /// Returns all events of a subscription, starting with the past ones.
    func events(for subscriber: Int) -> AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: RequestEvent.self)
        let (number, isOver) = state.withLock { state in
            state.lastNumber += 1
            // Under the lock, so that no event is lost between the log and the stream.
            for event in state.log { continuation.yield(event) }
            let expired = state.expired[subscriber]
            if let expired { continuation.yield(.failed(expired)) }
            let isOver =
                expired != nil || state.outcome != nil || state.isCancelled && state.deadline == nil
                || !state.subscribers.contains(subscriber)
            if !isOver { state.streams[state.lastNumber] = (subscriber, continuation) }
            return (state.lastNumber, isOver)
        }
        if isOver { continuation.finish() }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.streams[number] = nil } }
        return stream
    }

    /// Returns the result; a cancelled task gives up its subscription.
    func result(for subscriber: Int) async throws -> FetchResult {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<FetchResult, any Error>? in
                    if let error = state.expired[subscriber] { return .failure(error) }
                    if let outcome = state.outcome { return outcome }
                    guard state.subscribers.contains(subscriber), !Task.isCancelled else {
                        return .failure(CancellationError())
                    }
                    state.lastNumber += 1
                    state.waiting[state.lastNumber] = (subscriber, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            cancel(subscriber)
        }
    }

    private func finish(_ end: Result<FetchResult, any Error>) {
        var outcome = end
        if case .failure(let error) = end, error is CancellationError,
            let deadline = state.withLock({ $0.deadline })
        {
            outcome = .failure(deadline)
        }
        let event: RequestEvent? =
            switch outcome {
            case .success(let result): .finished(result)
            case .failure(let error): (error as? RequestError).map { .failed($0) }
            }
        if let event { report(event) }
        let (waiting, streams, timers) = state.withLock { state in
            defer {
                state.waiting = [:]
                state.streams = [:]
                state.timers = [:]
            }
            state.outcome = outcome
            state.task = nil
            return (state.waiting.values.map(\.1), state.streams.values.map(\.1), Array(state.timers.values))
        }
        onEnd(self)
        for timer in timers { timer.cancel() }
        for continuation in waiting { continuation.resume(with: outcome) }
        for stream in streams { stream.finish() }
    }
}
