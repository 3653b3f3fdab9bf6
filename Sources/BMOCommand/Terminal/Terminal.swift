internal import Foundation
internal import Logging
internal import RecordBatch
internal import TextFormats

/// The properties of the two output streams, and functions to write to them.
enum Terminal {
    /// Whether stderr is a terminal that can move its cursor.
    static var errorIsTerminal: Bool {
        let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDERR_FILENO) == 1 && !type.isEmpty && type != "dumb"
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Flushes the output; returns the reason if that fails, such as a full disk.
    static func flushOutput() -> String? {
        fflush(nil) == 0 ? nil : words(ofOutputError: errno)
    }

    /// Returns why the output could not be written, by the system's error number.
    static func words(ofOutputError number: Int32) -> String {
        if number == ENOSPC { return "the disk is full" }
        // A closed descriptor's number may have been reused, so its error says little.
        return "standard output is closed or cannot be written (\(String(cString: strerror(number))))"
    }

    /// Returns the columns of the terminal behind a stream; nil if it is not a terminal or does not report them.
    static func width(of stream: Int32) -> Int? {
        var size = winsize()
        guard isatty(stream) == 1, ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Returns the lines of the terminal behind a stream; nil if it is not a terminal or does not report them.
    static func height(of stream: Int32) -> Int? {
        var size = winsize()
        guard isatty(stream) == 1, ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return nil }
        return Int(size.ws_row)
    }

    /// An SGR colour (ECMA-48).
    enum Colour: Int {
        case red = 31
        case yellow = 33
    }

    /// Colours text if the stream is a terminal and the user has not disabled colours (no-color.org).
    static func painted(_ text: String, _ colour: Colour?, on stream: Int32) -> String {
        guard let colour, hasColours(stream) else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    private static func hasColours(_ stream: Int32) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let type = environment["TERM"] ?? ""
        return isatty(stream) == 1 && !type.isEmpty && type != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Writes a diagnostic to stderr.
    ///
    /// - Parameters:
    ///   - prefix: What precedes the text.
    ///   - level: The level in a JSON log; nil for the one that the prefix names.
    ///   - facts: What the text is about, for a JSON log.
    static func error(
        _ text: String, prefix: String = "bmo: error: ", level: Logger.Level? = nil, facts: Logger.Metadata = [:]
    ) {
        guard !text.isEmpty else { return }
        guard !CommandLog.isJSON else { return CommandLog.write(level ?? self.level(of: prefix), text, facts) }
        let colour: Colour? = prefix.contains("error") ? .red : prefix.contains("warning") ? .yellow : nil
        write(painted(prefix, colour, on: STDERR_FILENO) + printable(text) + "\n")
    }

    private static func level(of prefix: String) -> Logger.Level {
        prefix.contains("error")
            ? .error : prefix.contains("warning") ? .warning : prefix.contains("note") ? .notice : .info
    }

    /// Writes text to stderr as it is; in a JSON log, it becomes the message of a line.
    ///
    /// There is nowhere to report that it cannot be written.
    static func write(_ text: String) {
        guard CommandLog.isJSON else {
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
            return
        }
        CommandLog.write(.info, text.trimmingCharacters(in: .newlines))
    }

    /// Returns external text without control characters that a terminal would obey; keeps line ends.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { out, scalar in
            if isControl(scalar) {
                out += scalar.escape
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\n" && scalar.isDisguising
    }

    /// Formats a number with its noun: `1 page`, `2 pages`.
    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
