internal import SystemCalls

/// A value that is set once, from any thread; the first to fulfil the promise wins and later values are dropped.
///
/// To abandon a call, fulfil its promise with the reason; the late reply is then discarded.
package final class Promise<Value: Sendable>: Sendable {
    private typealias Waiters = [CheckedContinuation<Value, Never>]

    private enum State {
        case waiting(Waiters)
        /// A caller has won and runs its `first` closure before the value becomes visible.
        case claimed(Waiters)
        case fulfilled(Value)
    }

    private let state = Mutex(State.waiting([]))

    /// Creates an unfulfilled promise.
    package init() {}

    /// Sets the value unless it is already set; returns whether this call set it.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool { fulfil(value) {} }

    /// Runs `first` and then sets the value, unless it is already set; returns whether this call set it.
    ///
    /// Waiters resume only after `first`, which can thus mark a resource as unusable before they release it. `first`
    /// runs on this thread without a lock, and must not wait for this promise.
    @discardableResult
    func fulfil(_ value: Value, first: () -> Void) -> Bool {
        let isMine = state.withLock { state in
            guard case .waiting(let waiting) = state else { return false }
            state = .claimed(waiting)
            return true
        }
        guard isMine else { return false }
        first()
        let waiting = state.withLock { state -> Waiters in
            defer { state = .fulfilled(value) }
            guard case .claimed(let waiting) = state else { return [] }
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
        return true
    }

    /// Whether the value is visible; a claimed promise is not fulfilled yet.
    package var isFulfilled: Bool {
        state.withLock { if case .fulfilled = $0 { true } else { false } }
    }

    /// Waits for the value.
    ///
    /// Cancelling the task does not end the wait; the canceller must fulfil the promise.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    switch state {
                    case .fulfilled(let value): return value
                    case .waiting(let waiting): state = .waiting(waiting + [continuation])
                    case .claimed(let waiting): state = .claimed(waiting + [continuation])
                    }
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Runs `first` after `delay` and then sets `value`, unless the promise is fulfilled before.
    ///
    /// Cancel the returned alarm once the value is set.
    func fulfil(
        after delay: Duration, with value: @autoclosure @escaping @Sendable () -> Value,
        first: @escaping @Sendable () -> Void = {}
    ) -> Alarm {
        Alarm(after: delay) { [self] in _ = fulfil(value(), first: first) }
    }
}
