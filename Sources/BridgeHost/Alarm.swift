internal import Dispatch

/// Does something later, unless it is called off before; then nothing stays of it.
///
/// A task that sleeps keeps its memory until the time has come, cancelled or not: a walk has a limit of minutes for each of thousands
/// of calls.
final class Alarm: @unchecked Sendable {
    // A dispatch source may be used from any thread.
    private let timer: any DispatchSourceTimer

    /// Runs `body` once after `delay`, whether anybody keeps the alarm or not.
    init(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource()
        self.timer = timer
        let nanoseconds = min(delay / .nanoseconds(1), Double(Int32.max) * 1e9)
        timer.schedule(deadline: .now() + .nanoseconds(Int(max(0, nanoseconds))))
        // Until it rings or is called off, the timer keeps itself.
        timer.setEventHandler {
            body()
            timer.cancel()
        }
        timer.setCancelHandler { withExtendedLifetime(timer) {} }
        timer.resume()
    }

    /// Calls it off, where it has not rung.
    func cancel() { timer.cancel() }
}
