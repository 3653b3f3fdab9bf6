internal import Dispatch
internal import Foundation
internal import SystemCalls

/// Cancels work on SIGINT, SIGTERM and SIGHUP; a second signal ends the process at once.
///
/// A command started with SIGHUP ignored, as by `nohup`, continues when its terminal is closed.
final class SignalTrap {
    private var sources: [any DispatchSourceSignal] = []
    private let received = Mutex<Int32?>(nil)
    // Keep one trap for the whole command: a second source for a signal receives nothing after the first is cancelled.
    private let handler: Mutex<@Sendable () -> Void>

    /// The exit code that shells use: 128 plus the signal's number.
    var exitCode: Int32 { 128 + (received.withLock { $0 } ?? SIGINT) }

    init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Mutex(handler)
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !Self.isIgnored(number) {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let count = Mutex(0)
            source.setEventHandler { [weak self] in
                if count.withLock({
                    $0 += 1; return $0 > 1
                }) {
                    _exit(128 + number)
                }
                guard let self else { return }
                received.withLock { $0 = number }
                self.handler.withLock { $0 }()
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Sets the handler for later signals, and calls it at once if one has already arrived.
    func handle(_ handler: @escaping @Sendable () -> Void) {
        self.handler.withLock { $0 = handler }
        if received.withLock({ $0 != nil }) { handler() }
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
