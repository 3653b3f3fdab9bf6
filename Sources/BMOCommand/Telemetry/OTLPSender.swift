internal import Foundation
internal import SystemCalls
internal import WebServer

/// Sends requests to a collector of OpenTelemetry, one at a time, in a task of its own.
///
/// Nothing here slows or fails the command's work: requests that a slow collector does not take are dropped, and the
/// command waits for the last one for at most ``patience`` when it ends.
final class OTLPSender: Sendable {
    /// A request that waits.
    private struct Request {
        let body: String
        /// How many samples or spans it has.
        let count: Int
    }

    private struct State {
        /// The requests that are being sent.
        var task: Task<Void, Never>?
        /// The requests that wait for it.
        var waiting: [Request] = []
        /// How many samples or spans were dropped.
        var dropped = 0
        /// Whether the last request failed, which is reported once.
        var hasFailed = false
    }

    /// How long a command that has ended waits for the collector.
    private static let patience: Duration = .seconds(1)

    private let settings: OTLPSettings
    private let room: Int
    private let state = Mutex(State())

    /// - Parameter room: How many requests may wait; then the oldest is dropped.
    init(_ settings: OTLPSettings, room: Int) {
        self.settings = settings
        self.room = room
    }

    /// Sends a request, after those that wait.
    ///
    /// - Parameter count: How many samples or spans it has.
    func send(_ body: String, count: Int) {
        state.withLock { state in
            state.waiting.append(Request(body: body, count: count))
            if state.waiting.count > room { state.dropped += state.waiting.removeFirst().count }
            if state.task == nil { state.task = Task { await self.sendWaiting() } }
        }
    }

    /// Waits for the last request, but not for a collector that does not answer.
    ///
    /// - Parameter reportsLoss: Whether dropped requests are lost; a later request of metrics has all that an earlier
    ///   one had.
    func finish(reportsLoss: Bool) async {
        if let task = state.withLock({ $0.task }), await !Self.ends(task) {
            warn("no reply within \(Self.patience.components.seconds) s")
        }
        let dropped = state.withLock { $0.dropped }
        if reportsLoss, dropped > 0 { warn("the collector was too slow for \(dropped) of them") }
    }

    /// Returns whether a task ends in time.
    private static func ends(_ task: Task<Void, Never>) async -> Bool {
        // A task group would wait for both of its tasks.
        let ends = AsyncStream.makeStream(of: Bool.self)
        Task {
            await task.value
            ends.continuation.yield(true)
        }
        Task {
            try? await Task.sleep(for: patience)
            ends.continuation.yield(false)
        }
        var iterator = ends.stream.makeAsyncIterator()
        return await iterator.next() == true
    }

    private func sendWaiting() async {
        func next() -> Request? {
            state.withLock { state in
                guard !state.waiting.isEmpty, !Task.isCancelled else {
                    state.task = nil
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
        while let request = next() { await post(request) }
    }

    private func post(_ request: Request) async {
        var failure: String?
        do {
            let status = try await WebClient.post(
                Array(request.body.utf8), to: settings.target,
                headers: settings.headers + [("Content-Type", "application/json")],
                timeout: settings.timeout)
            if !(200..<300).contains(status) { failure = "status \(status)" }
        } catch {
            failure = "\(error)"
        }
        let isNews = state.withLock { state in
            defer { state.hasFailed = failure != nil }
            return !state.hasFailed
        }
        if let failure, isNews { warn(failure) }
    }

    private func warn(_ words: String) {
        Terminal.error(
            "the \(settings.signal.rawValue) were not sent to the OTLP collector: \(words)", prefix: "bmo: warning: ")
    }
}
