internal import BridgeKit
internal import Glibc

/// The tap's standard error: logs each line, and keeps the last ones for errors.
struct TapStandardError {
    private let context: BridgeContext
    private var line: [UInt8] = []
    private var kept: [String] = []
    /// The remaining bytes to log, so that endless output does not fill the log.
    private var left = 1 << 20

    private static let maxLineLength = 4000

    init(context: BridgeContext) { self.context = context }

    /// The last lines, the newest last.
    var last: String? { kept.isEmpty ? nil : kept.joined(separator: " | ") }

    /// Reads the available bytes; returns false at the end.
    mutating func read(from descriptor: CInt, isLast: Bool = false) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<16 {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN, !isLast { return true }
            guard count > 0 else {
                endLine()
                return false
            }
            for byte in chunk[..<count] {
                if byte == UInt8(ascii: "\n") {
                    endLine()
                } else if line.count < Self.maxLineLength {
                    line.append(byte)
                }
            }
        }
        return true
    }

    private mutating func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        kept.append(String(text.prefix(300)))
        if kept.count > 3 { kept.removeFirst() }
        guard left > 0 else { return }
        left -= line.count
        let isTrouble = ["ERROR", "CRITICAL", "WARNING"].contains { text.contains($0) }
        context.log(isTrouble ? .warning : .debug, "the tap says: \(text)")
        if left <= 0 { context.log(.warning, "the tap logs too much; the rest is dropped") }
    }
}
