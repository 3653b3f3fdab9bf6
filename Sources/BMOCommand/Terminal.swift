internal import Foundation
internal import RecordBatch

/// What the two output streams are, and how text goes there.
enum Terminal {
    /// Whether stderr is a terminal that can move its cursor.
    static var errorIsTerminal: Bool {
        let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDERR_FILENO) == 1 && !type.isEmpty && type != "dumb"
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Why what was printed has not all gone out, such as a full disk; nil where it has.
    static func flushOutput() -> String? {
        guard fflush(nil) != 0 else { return nil }
        if errno == ENOSPC { return "the disk is full" }
        // The descriptor of a closed one may belong to something else by now, whose error says little.
        return "standard output is closed, or what it leads to takes no more (\(String(cString: strerror(errno))))"
    }

    /// Writes a diagnostic to stderr.
    static func error(_ text: String, prefix: String = "bmo: error: ") {
        guard !text.isEmpty else { return }
        write(prefix + printable(text) + "\n")
    }

    /// Writes to stderr as it is.
    static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    /// Text from elsewhere without the control characters that a terminal would obey; line ends stay.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { out, scalar in
            if isControl(scalar) {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" { return false }
        // Controls, and the marks that turn the direction of text (UAX 9): a value could pose as another.
        return scalar.properties.generalCategory == .control || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }

    /// `1 page`, `2 pages`.
    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    /// A table with aligned columns; `rightAligned` are numbers.
    static func table(_ header: [String], _ rows: [[String]], rightAligned: Set<Int> = []) -> String {
        let rows = rows.map { row in row.map { cell(printable($0)) } }
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([header] + rows).map { row in
            row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return rightAligned.contains(column) ? padding + text : text + padding
            }
            .joined(separator: "  ")
            .trimmingTrailingSpaces
        }
        .joined(separator: "\n")
    }

    /// A cell is one line of at most 60 characters.
    private static func cell(_ text: String) -> String {
        let line = text.replacingOccurrences(of: "\n", with: " ")
        return line.count > 60 ? line.prefix(59) + "…" : line
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
