internal import StoreContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// One of a database's two locks.
final class LockSlot: Sendable {
    private let holder = Mutex<(lock: ObjectIdentifier, holder: LockHolder)?>(nil)

    var current: LockHolder? { holder.withLock { $0?.holder } }

    var isFree: Bool { current == nil }

    /// Takes the lock if it is free.
    func attempt(command: String) -> LockAttempt {
        let lock = MemoryLock(self)
        let line = command.split(whereSeparator: \.isNewline).joined(separator: " ")
        let held = holder.withLock { slot -> LockHolder? in
            if let slot { return slot.holder }
            slot = (
                ObjectIdentifier(lock), LockHolder(pid: getpid(), host: Self.host, command: line, since: Clock.now())
            )
            return nil
        }
        return held.map { .held(by: $0) } ?? .taken(lock)
    }

    fileprivate func release(_ lock: ObjectIdentifier) {
        holder.withLock { slot in if slot?.lock == lock { slot = nil } }
    }

    private static var host: String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// A held lock of a database in memory.
private final class MemoryLock: StoreLock {
    private let slot: LockSlot

    init(_ slot: LockSlot) { self.slot = slot }

    deinit { release() }

    func release() { slot.release(ObjectIdentifier(self)) }
}
