internal import Synchronization

/// A value that arrives once, from any thread; the first to fulfil it wins and what comes later is dropped.
///
/// That is how a call is abandoned: its promise is fulfilled with the reason, and the late reply is released unseen.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, Never>])
        case fulfilled(Value)
    }

    private let state = Mutex(State.waiting([]))

    /// A promise that nobody has fulfilled yet.
    package init() {}

    /// Gives the value, unless another came first; says whether it was taken.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>]? in
            guard case .waiting(let waiting) = state else { return nil }
            state = .fulfilled(value)
            return waiting
        }
        guard let waiting else { return false }
        for continuation in waiting { continuation.resume(returning: value) }
        return true
    }

    var isFulfilled: Bool {
        state.withLock { if case .fulfilled = $0 { true } else { false } }
    }

    /// The value, once it is there.
    ///
    /// Not cancelled with the task: whoever gives up fulfils the promise.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    switch state {
                    case .fulfilled(let value): return value
                    case .waiting(let waiting):
                        state = .waiting(waiting + [continuation])
                        return nil
                    }
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Fulfils with `value` after `delay` and then runs `then`, unless something else fulfils it before.
    ///
    /// Call off the alarm that it returns once the value is there.
    func fulfil(
        after delay: Duration, with value: Value, then: @escaping @Sendable () -> Void = {}
    ) -> Alarm {
        Alarm(after: delay) { [self] in if fulfil(value) { then() } }
    }
}
