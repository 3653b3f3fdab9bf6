internal import BridgeKit
internal import Glibc

/// The tap's standard error: logs each line, and keeps the last ones for errors.
struct TapStandardError {
    private let context: BridgeContext
    private let configured: ConfiguredTexts
    private var line: [UInt8] = []
    /// Whether the line was longer than what is kept of it.
    private var isCut = false
    /// A line whose end may be the beginning of a configured text, which the next line may continue.
    private var open: [UInt8]?
    private var kept: [String] = []
    /// The remaining bytes to log, so that endless output does not fill the log.
    private var left = 1 << 20

    private static let maxLineLength = 4000
    private static let maxKept = 3

    init(context: BridgeContext, configured: ConfiguredTexts) {
        self.context = context
        self.configured = configured
    }

    /// The last lines, the newest last.
    var last: String? {
        let lines = (kept + (open.map { [excerpt(of: $0)] } ?? [])).suffix(Self.maxKept)
        return lines.isEmpty ? nil : lines.joined(separator: " | ")
    }

    /// Reads the available bytes; returns false at the end.
    mutating func read(from descriptor: CInt, isLast: Bool = false) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<16 {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN, !isLast { return true }
            guard count > 0 else {
                endLine()
                if let rest = open { say(rest) }
                open = nil
                return false
            }
            for byte in chunk[..<count] {
                if byte == UInt8(ascii: "\n") {
                    endLine()
                } else if line.count < Self.maxLineLength {
                    line.append(byte)
                } else {
                    isCut = true
                }
            }
        }
        return true
    }

    private mutating func endLine() {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if isCut { line.removeLast(configured.begun(atEndOf: line[...])) }
        var ended = line
        line.removeAll(keepingCapacity: true)
        isCut = false
        if let before = open {
            open = nil
            // The host finds a secret only in one piece.
            if configured.areSplit(before, ended) { ended = before + ended } else { say(before) }
        }
        if ended.count <= Self.maxLineLength * 2, configured.begun(atEndOf: ended[...]) > 0 {
            open = ended
        } else {
            say(ended)
        }
    }

    private func excerpt(of line: [UInt8]) -> String { String(decoding: configured.prefix(line, 300), as: UTF8.self) }

    /// Logs a line, and keeps it for errors.
    private mutating func say(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        kept.append(excerpt(of: line))
        if kept.count > Self.maxKept { kept.removeFirst() }
        guard left > 0 else { return }
        left -= line.count
        let isTrouble = ["ERROR", "CRITICAL", "WARNING"].contains { text.contains($0) }
        context.log(isTrouble ? .warning : .debug, "the tap says: \(text)")
        if left <= 0 { context.log(.warning, "the tap logs too much; the rest is dropped") }
    }
}
