internal import Dispatch
internal import Foundation
internal import Synchronization

/// Cancels work on SIGINT, SIGTERM and SIGHUP; a second signal ends the process at once.
///
/// A command started with SIGHUP ignored, as by `nohup`, continues when its terminal is closed.
final class SignalTrap {
    private var sources: [any DispatchSourceSignal] = []
    private let received = Atomic<Int32>(SIGINT)
    private let hasFired = Atomic(false)
    // Keep one trap for the whole command: a second source for a signal receives nothing after the first is cancelled.
    private let handler: Mutex<@Sendable () -> Void>

    /// The exit code that shells use: 128 plus the signal's number.
    var exitCode: Int32 { 128 + received.load(ordering: .relaxed) }

    init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Mutex(handler)
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !Self.isIgnored(number) {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let count = Counter()
            source.setEventHandler { [weak self] in
                if count.increment() > 1 { _exit(128 + number) }
                guard let self else { return }
                received.store(number, ordering: .relaxed)
                hasFired.store(true, ordering: .releasing)
                self.handler.withLock { $0 }()
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Sets the handler for later signals, and calls it at once if one has already arrived.
    func handle(_ handler: @escaping @Sendable () -> Void) {
        self.handler.withLock { $0 = handler }
        if hasFired.load(ordering: .acquiring) { handler() }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN as a number, because Swift cannot compare C functions.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}

private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func increment() -> Int { value.add(1, ordering: .relaxed).newValue }
}
