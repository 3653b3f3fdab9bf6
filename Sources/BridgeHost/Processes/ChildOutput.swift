#if PLUGINS
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Splits one of a child's outputs into lines for the log, up to a limit, and keeps the last one.
///
/// Used only on the child's reading thread.
struct ChildOutput {
    private let descriptor: CInt
    private let log: BridgeLog
    private var left: Int
    private var line: [UInt8] = []
    private var isCut = false
    /// Whether the child may still write.
    private(set) var isOpen = true
    /// Whether the child wrote anything.
    private(set) var isUsed = false
    /// The last line that is not blank, redacted.
    private(set) var lastLine: String?
    /// The memory note that the process left when it crashed.
    private(set) var memory: MemoryNote?

    init(_ descriptor: CInt, log: BridgeLog, limit: Int) {
        self.descriptor = descriptor
        self.log = log
        left = limit
    }

    /// The event to poll for; none once the output is closed.
    var poll: pollfd { pollfd(fd: isOpen ? descriptor : -1, events: Int16(POLLIN), revents: 0) }

    /// Reads the available bytes without waiting.
    ///
    /// Reads at most 64 buffers per call, so that a process that prints without pause does not starve the other
    /// descriptors.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<64 where isOpen {
            let count = systemRead(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            if count <= 0 {
                isOpen = false
                return endLine()
            }
            isUsed = true
            take(buffer[..<count])
        }
    }

    /// Logs the last line if the process ended before finishing it.
    mutating func finish() { endLine() }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < 4096 {
                // Drop the rest of an overlong line.
                line.append(byte)
            }
        }
    }

    private mutating func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        let end = line.lastIndex { $0 > UInt8(ascii: " ") }
        guard let end else { return }
        let said = String(decoding: line[...end], as: UTF8.self)
        if let note = MemoryNote(line: said) {
            memory = note
            return
        }
        let text = log.clean(said, limit: 1000)
        lastLine = text
        if left >= line.count {
            left -= line.count
            log.printed(text)
        } else if !isCut {
            isCut = true
            log.printed("(the bridge prints too much; the rest is dropped)")
        }
    }
}
#endif
