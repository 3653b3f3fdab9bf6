internal import BridgeHost
internal import Foundation

/// The only exit of a command.
///
/// `exit()` runs the destructors of all libraries while threads of dispatch, libcurl and bridges still use what they
/// destroy. About one failing command in thousands ended with a corrupted heap. Therefore this type ends the bridge
/// processes, flushes the output and calls `_exit`.
enum CommandEnd {
    /// Ends the bridge processes, flushes the output and exits.
    static func end(_ code: Int32) async -> Never {
        await BridgeHost.endProcesses()
        _ = Terminal.flushOutput()
        _exit(code)
    }

    /// Makes writes to the outputs block: stdio loses data that it cannot write to a non-blocking descriptor.
    static func waitForReaders() {
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            let flags = fcntl(descriptor, F_GETFL)
            if flags >= 0, flags & O_NONBLOCK != 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
        }
    }
}
