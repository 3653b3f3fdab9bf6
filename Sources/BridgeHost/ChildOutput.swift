internal import Glibc

/// Splits what a child prints into lines for the log, up to a limit, and remembers the last one.
///
/// Used by the child's reading thread only.
struct ChildOutput {
    private let log: BridgeLog
    private var left: Int
    private var line: [UInt8] = []
    private var isCut = false
    /// The last line that was not blank, without secrets.
    private(set) var lastLine: String?

    init(log: BridgeLog, limit: Int) {
        self.log = log
        left = limit
    }

    /// Reads what is there without waiting; false at the end.
    mutating func read(from descriptor: CInt) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return errno == EAGAIN }
            if count == 0 {
                endLine()
                return false
            }
            take(buffer[..<count])
        }
    }

    /// The line that has no end yet, because the process ended before it.
    mutating func finish() { endLine() }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < 4096 {
                // The rest of a longer line is dropped.
                line.append(byte)
            }
        }
    }

    private mutating func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        let end = line.lastIndex { $0 > UInt8(ascii: " ") }
        guard let end else { return }
        let text = log.clean(String(decoding: line[...end], as: UTF8.self), limit: 1000)
        lastLine = text
        if left >= line.count {
            left -= line.count
            log.printed(text)
        } else if !isCut {
            isCut = true
            log.printed("(the bridge prints too much; the rest is left out)")
        }
    }
}
