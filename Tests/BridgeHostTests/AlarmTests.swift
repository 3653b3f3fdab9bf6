import Synchronization
import Testing

@testable import BridgeHost

/// The one timer of all alarms.
@Suite struct AlarmTests {
    @Test func `alarms fire in the order of their times, whatever the order in which they were set`() async {
        let promise = Promise<[Int]>()
        let fired = Mutex<[Int]>([])
        for number in [3, 1, 2] {
            _ = Alarm(after: .milliseconds(150 * number)) {
                let all = fired.withLock { fired in
                    fired.append(number)
                    return fired
                }
                if all.count == 3 { promise.fulfil(all) }
            }
        }
        #expect(await promise.value == [1, 2, 3])
    }

    @Test func `a cancelled alarm does not fire, and releases its body at once`() async {
        let promise = Promise<Void>()
        weak var owned: Owned?
        do {
            let kept = Owned()
            owned = kept
            let alarm = Alarm(after: .milliseconds(50)) { [kept] in
                Issue.record("the cancelled alarm fired")
                withExtendedLifetime(kept) {}
            }
            alarm.cancel()
        }
        #expect(owned == nil)
        _ = Alarm(after: .milliseconds(150)) { promise.fulfil(()) }
        await promise.value
    }

    @Test func `an alarm fires behind thousands of cancelled ones, which were due before it`() async {
        let promise = Promise<Int>()
        for _ in 0..<10_000 { Alarm(after: .milliseconds(20)) { Issue.record("a cancelled alarm fired") }.cancel() }
        _ = Alarm(after: .milliseconds(30)) { promise.fulfil(7) }
        #expect(await promise.value == 7)
    }
}

private final class Owned: Sendable {}
