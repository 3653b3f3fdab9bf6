import Glibc

/// Captures what libsmbclient prints on the standard output while it works.
///
/// libsmbclient 4.17 continues without encryption even if it is required, and only prints that it failed, so its output
/// must be read.
enum CapturedOutput {
    /// Redirects all other output to standard error, and so to the log: a bridge may not print to standard output.
    ///
    /// Only for the bridge's own child process.
    static func divert() {
        if getenv("BMO_BRIDGE_SERVE") != nil { dup2(2, 1) }
    }

    /// Runs `body` and returns its printed output; nil if it could not be captured.
    static func during(_ body: () -> Void) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            body()
            return nil
        }
        defer { for end in ends { close(end) } }
        // A full pipe may lose output, but must not block the library.
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        fflush(nil)
        let standardOutput = dup(1)
        guard standardOutput >= 0, dup2(ends[1], 1) >= 0 else {
            body()
            return nil
        }
        body()
        fflush(nil)
        dup2(standardOutput, 1)
        close(standardOutput)
        var words: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            guard count > 0 else { break }
            words += buffer[..<count]
        }
        return String(decoding: words, as: UTF8.self)
    }
}
