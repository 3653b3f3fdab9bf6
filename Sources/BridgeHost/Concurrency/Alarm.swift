internal import Dispatch
internal import SystemCalls

/// A cancellable timer that releases everything when cancelled.
///
/// A sleeping task keeps its memory until the deadline, even when cancelled. A scan sets a time limit of minutes for
/// each of thousands of calls.
final class Alarm: Sendable {
    private let number: Int

    /// Runs `body` once after `delay`, on a thread of Dispatch, even if the alarm is not retained.
    init(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        number = AlarmClock.shared.add(after: delay, body)
    }

    /// Cancels the alarm if it has not fired.
    func cancel() { AlarmClock.shared.cancel(number) }
}

/// The timer of all alarms of the process.
///
/// A timer of the system for each alarm would wake Dispatch's thread twice for each call of a bridge. Nearly all alarms
/// are cancelled long before they are due, so the one timer is set again only for an alarm that is due before all others.
private final class AlarmClock: @unchecked Sendable {
    static let shared = AlarmClock()

    private struct Deadline {
        let time: DispatchTime
        let number: Int
    }

    private struct State {
        /// The deadlines of the alarms in their order, among them those of cancelled alarms.
        var deadlines: [Deadline] = []
        var bodies: [Int: @Sendable () -> Void] = [:]
        var lastNumber = 0
        /// When the timer fires; nil if it is not set.
        var firing: DispatchTime?

        mutating func insert(_ deadline: Deadline) {
            // Most alarms have the same delay, so that the new one is the last.
            var index = deadlines.endIndex
            while index > 0, deadlines[index - 1].time > deadline.time { index -= 1 }
            deadlines.insert(deadline, at: index)
        }

        /// Forgets the deadlines of cancelled alarms once they are the majority.
        mutating func prune() {
            guard deadlines.count > 2 * bodies.count + 64 else { return }
            deadlines.removeAll { bodies[$0.number] == nil }
        }

        /// Takes the alarms that are due.
        mutating func takeDue() -> [@Sendable () -> Void] {
            let now = DispatchTime.now()
            let due = deadlines.prefix { $0.time <= now }
            defer { deadlines.removeFirst(due.count) }
            return due.compactMap { bodies.removeValue(forKey: $0.number) }
        }
    }

    private let state = Mutex(State())
    // A dispatch source may be used from any thread.
    private let timer = DispatchSource.makeTimerSource()

    private init() {
        timer.setEventHandler { [unowned self] in fire() }
        timer.resume()
    }

    func add(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Int {
        let nanoseconds = min(delay / .nanoseconds(1), Double(Int32.max) * 1e9)
        let time = DispatchTime.now() + .nanoseconds(Int(max(0, nanoseconds)))
        return state.withLock { state in
            state.lastNumber += 1
            state.bodies[state.lastNumber] = body
            state.insert(Deadline(time: time, number: state.lastNumber))
            set(&state)
            return state.lastNumber
        }
    }

    func cancel(_ number: Int) {
        // Released outside the lock: the body may own what cancels another alarm when it is freed.
        let body = state.withLock { state in
            defer { state.prune() }
            return state.bodies.removeValue(forKey: number)
        }
        withExtendedLifetime(body) {}
    }

    private func fire() {
        let due = state.withLock { state in
            let due = state.takeDue()
            state.firing = nil
            set(&state)
            return due
        }
        // One that takes long, such as the end of a process, must not delay the others.
        for body in due { DispatchQueue.global().async(execute: DispatchWorkItem(block: body)) }
    }

    /// Sets the timer if it would fire after the first alarm, or not at all.
    private func set(_ state: inout State) {
        guard let first = state.deadlines.first?.time, state.firing.map({ $0 > first }) ?? true else { return }
        state.firing = first
        timer.schedule(deadline: first)
    }
}
