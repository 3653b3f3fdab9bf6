internal import BMO
internal import Foundation
internal import StoreContract
internal import Synchronization
internal import WebServer

/// Where a command's metrics go: the file of `--metrics`, and the collector of the environment.
///
/// Nothing here slows or fails the command's work: metrics are sent by a task of their own, one request at a time, and
/// the command waits for the last one for at most ``patience`` when it ends.
final class MetricsOutput: Sendable {
    private struct State {
        /// The request that is being sent.
        var task: Task<Void, Never>?
        /// The newest request that waits for it; older ones are dropped, because counters are cumulative.
        var next: String?
        /// Whether the last request failed, which is reported once.
        var hasFailed = false
    }

    /// How long a command that has ended waits for the collector.
    private static let patience: Duration = .seconds(1)

    private let file: MetricsFile
    private let settings: OTLPSettings?
    private let state = Mutex(State())

    init(_ file: MetricsFile, _ settings: OTLPSettings?) {
        self.file = file
        self.settings = settings
    }

    /// Notes the result of a sync.
    func note(_ report: SyncReport, _ store: any Store) {
        noting { try file.note(report, store) }
        export()
    }

    /// Notes the result of a push.
    func note(_ report: PushReport, _ store: any Store) {
        noting { try file.note(report, store) }
        export()
    }

    /// Warns of metrics that could not be written: the work itself is done.
    func noting(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            Terminal.error("the file of --metrics was not written: \(error)", prefix: "bmo: warning: ")
        }
    }

    /// Sends the metrics, after the request that is being sent.
    private func export() {
        guard let settings else { return }
        let request = file.otlp(resource: settings.resource)
        state.withLock { state in
            guard state.task == nil else { return state.next = request }
            state.task = Task { await self.send(request, settings) }
        }
    }

    /// Waits for the last request, but not for a collector that does not answer.
    func finish() async {
        guard let task = state.withLock({ $0.task }) else { return }
        // A task group would wait for both of its tasks.
        let ends = AsyncStream.makeStream(of: Bool.self)
        Task {
            await task.value
            ends.continuation.yield(true)
        }
        Task {
            try? await Task.sleep(for: Self.patience)
            ends.continuation.yield(false)
        }
        var iterator = ends.stream.makeAsyncIterator()
        guard await iterator.next() != true else { return }
        Terminal.error(
            "the metrics were not sent to the OTLP collector: no reply within \(Self.patience.components.seconds) s",
            prefix: "bmo: warning: ")
    }

    private func send(_ first: String, _ settings: OTLPSettings) async {
        var request: String? = first
        while let body = request, !Task.isCancelled {
            await send(body: body, settings)
            request = state.withLock { state in
                defer { state.next = nil }
                if state.next == nil { state.task = nil }
                return state.next
            }
        }
    }

    private func send(body: String, _ settings: OTLPSettings) async {
        var failure: String?
        do {
            let status = try await WebClient.post(
                Array(body.utf8), to: settings.target,
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
        guard let failure, isNews else { return }
        Terminal.error("the metrics were not sent to the OTLP collector: \(failure)", prefix: "bmo: warning: ")
    }
}
