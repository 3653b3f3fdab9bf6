internal import RecordBatch
internal import SystemCalls
internal import WebServer

/// The stream of `/events`: what is running, as server-sent events (HTML, section 9.2).
///
/// A stream sends the progress at once and after each change, and a comment if nothing changes, by which a client that
/// has gone is noticed. It ends after ``lifetime``, or with its session; a client then connects again.
final class ProgressEvents: Sendable {
    /// The number of streams at a time.
    ///
    /// They must leave connections for pages.
    static let limit = 16
    private static let lifetime: Duration = .seconds(600)
    private static let silence: Duration = .seconds(10)

    private let live: LiveSnapshot
    private let activity: Activity
    private let count = Mutex(0)

    init(_ live: LiveSnapshot, _ activity: Activity) {
        self.live = live
        self.activity = activity
    }

    /// A place among the streams, for as long as it exists.
    private final class Place: Sendable {
        private let events: ProgressEvents

        init?(_ events: ProgressEvents) {
            let isFree = events.count.withLock { count in
                guard count < ProgressEvents.limit else { return false }
                count += 1
                return true
            }
            guard isFree else { return nil }
            self.events = events
        }

        deinit { events.count.withLock { $0 -= 1 } }
    }

    /// What a stream has sent.
    private struct Sent {
        var text: String?
        var at = ContinuousClock.now
    }

    /// Returns a stream.
    ///
    /// - Parameter isValid: Whether the request's session still exists.
    func response(isValid: @escaping @Sendable () -> Bool) -> WebResponse {
        guard let place = Place(self) else {
            return WebResponse(503, headers: [("Retry-After", "10")])
        }
        let began = ContinuousClock.now
        let sent = Mutex(Sent())
        let stream = ResponseStream { [self] in
            while ContinuousClock.now - began < Self.lifetime, isValid() {
                let text = await text()
                let event = sent.withLock { sent -> String? in
                    if text == sent.text, ContinuousClock.now - sent.at < Self.silence { return nil }
                    defer { sent = Sent(text: text) }
                    return text == sent.text ? ":\n\n" : "event: progress\ndata: \(text)\n\n"
                }
                if let event { return Array(event.utf8) }
                guard (try? await Task.sleep(for: LiveSnapshot.interval)) != nil else { return nil }
            }
            return withExtendedLifetime(place) { nil }
        }
        var response = WebResponse(
            200, headers: [("Content-Type", "text/event-stream; charset=utf-8")], body: Array("retry: 2000\n\n".utf8))
        response.stream = stream
        return response
    }

    private func text() async -> String {
        let state = await live.state()
        if let progress = state.progress { return progress.json }
        let last = activity.state
        return RecordBatchWriter.json { writer in
            writer.key("running")
            if case .unknown(let reason) = state {
                writer.null()
                writer.member("error", reason)
            } else {
                writer.bool(false)
            }
            if case .reserved(let holder) = state { writer.member("reserved", holder) }
            writer.member("title", last.title)
            writer.member("outcome", last.title == nil ? nil : last.outcome)
        }
    }
}
