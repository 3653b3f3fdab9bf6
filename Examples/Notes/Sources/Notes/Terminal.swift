import Foundation
import Glibc

/// A key that was pressed.
enum Key: Sendable, Equatable {
    case character(Character)
    case enter, escape, backspace, up, down, end
}

/// The terminal: key by key, without echo, and a screen that is drawn as a whole.
final class Terminal: Sendable {
    private let settings: termios

    init() {
        var saved = termios()
        tcgetattr(STDIN_FILENO, &saved)
        settings = saved
        var raw = saved
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
        write("\u{1B}[?1049h\u{1B}[?25l")
    }

    /// Leaves the terminal as it was.
    func restore() {
        write("\u{1B}[?25h\u{1B}[?1049l")
        var saved = settings
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved)
    }

    /// The keys from now on, read on a thread of their own.
    func keys() -> AsyncStream<Key> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 256)
                while true {
                    let count = read(STDIN_FILENO, &bytes, bytes.count)
                    guard count > 0 else { break }
                    for key in Self.keys(in: bytes[..<count]) { continuation.yield(key) }
                }
                continuation.yield(.end)
                continuation.finish()
            }
        }
    }

    /// Several keys may arrive at once, as when a person types ahead.
    private static func keys(in bytes: ArraySlice<UInt8>) -> [Key] {
        var text = String(decoding: bytes, as: UTF8.self)[...]
        var keys: [Key] = []
        while let first = text.first {
            // An arrow is ESC [ A; an ESC before anything else is the key.
            if let arrow = ["\u{1B}[A": Key.up, "\u{1B}[B": .down].first(where: { text.hasPrefix($0.key) }) {
                keys.append(arrow.value)
                text = text.dropFirst(3)
                continue
            }
            text = text.dropFirst()
            switch first {
            case "\u{1B}": keys.append(.escape)
            case "\r", "\n", "\r\n": keys.append(.enter)
            case "\u{7F}", "\u{8}": keys.append(.backspace)
            case "\u{3}", "\u{4}": keys.append(.end)
            case _ where first.unicodeScalars.allSatisfy { $0.value >= 0x20 }: keys.append(.character(first))
            default: break
            }
        }
        return keys
    }

    /// The number of lines and columns.
    var size: (lines: Int, columns: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 20 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Shows lines, with one of them marked, and the last ones at the bottom.
    func show(_ lines: [String], marked: Int?, bottom: [String]) {
        let (height, width) = size
        let room = max(1, height - bottom.count)
        // The marked line is always on the screen.
        let first = max(0, min((marked ?? 0) - room / 2, lines.count - room))
        var screen = "\u{1B}[H"
        for row in 0..<room {
            let index = first + row
            let line = index < lines.count ? Self.printable(lines[index], width) : ""
            screen += index == marked ? "\u{1B}[7m\(line)\u{1B}[0m" : line
            screen += "\u{1B}[K\r\n"
        }
        screen += bottom.map { "\u{1B}[2m\(Self.printable($0, width))\u{1B}[0m\u{1B}[K" }.joined(separator: "\r\n")
        write(screen)
    }

    /// A text of the server's may contain control characters, which a terminal would obey.
    private static func printable(_ text: String, _ width: Int) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        ).prefix(width).description
    }

    private func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
