internal import Dispatch

/// A cancellable timer that releases everything when cancelled.
///
/// A sleeping task keeps its memory until the deadline, even when cancelled. A scan sets a time limit of minutes for
/// each of thousands of calls.
final class Alarm: @unchecked Sendable {
    // A dispatch source may be used from any thread.
    private let timer: any DispatchSourceTimer

    /// Runs `body` once after `delay`, even if the alarm is not retained.
    init(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource()
        self.timer = timer
        let nanoseconds = min(delay / .nanoseconds(1), Double(Int32.max) * 1e9)
        timer.schedule(deadline: .now() + .nanoseconds(Int(max(0, nanoseconds))))
        // The timer retains itself until it fires or is cancelled.
        timer.setEventHandler {
            body()
            timer.cancel()
        }
        timer.setCancelHandler { withExtendedLifetime(timer) {} }
        timer.resume()
    }

    /// Cancels the alarm if it has not fired.
    func cancel() { timer.cancel() }
}
