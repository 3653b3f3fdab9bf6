internal import BridgeKit
internal import Glibc

/// An incremental splitter of multipart bodies (RFC 2046, section 5.1).
///
/// A value-type state machine: it returns events and has no side effects.
struct MultipartSplitter {
    enum Limits {
        static let headers = 64 << 10
        /// The maximum white space between a boundary and the end of its line.
        static let padding = 1 << 10
        static let parts = 100_000
    }

    enum Event: Equatable {
        /// The start of a part, with its header fields by name in lower case.
        case part([String: String])
        case content([UInt8])
        case endOfPart
    }

    private enum State {
        case preamble, headers, content, afterBoundary, over
    }

    /// The line break and `--boundary`.
    ///
    /// The line break is a bare LF until the line of the first boundary shows which one the body uses.
    private var delimiter: [UInt8]
    private var lineBreak: [UInt8] = [10]
    private var buffer: [UInt8]
    private var state = State.preamble
    private var parts = 0

    /// Whether the closing boundary has been read.
    var isOver: Bool { state == .over }

    init(boundary: String) {
        delimiter = Array("\n--\(boundary)".utf8)
        // The first boundary may start the body, without a line break before it.
        buffer = [13, 10]
    }

    /// Splits the next bytes and returns the events they complete.
    ///
    /// - Throws: ``BridgeError`` limit for headers or the line of a boundary without an end, or for too many parts.
    mutating func feed(_ bytes: some Collection<UInt8>) throws(BridgeError) -> [Event] {
        buffer.append(contentsOf: bytes)
        var events: [Event] = []
        while try step(&events) {}
        return events
    }

    private mutating func step(_ events: inout [Event]) throws(BridgeError) -> Bool {
        switch state {
        case .over:
            buffer.removeAll()
            return false
        case .preamble, .content:
            guard let place = find(delimiter) else {
                // Keep the bytes that may begin a boundary.
                let safe = buffer.count - delimiter.count
                guard safe > 0 else { return false }
                if state == .content { events.append(.content(Array(buffer[..<safe]))) }
                buffer.removeFirst(safe)
                return false
            }
            if state == .content {
                if place > 0 { events.append(.content(Array(buffer[..<place]))) }
                events.append(.endOfPart)
            }
            buffer.removeFirst(place + delimiter.count)
            state = .afterBoundary
            return true
        case .afterBoundary:
            guard buffer.count >= 2 else { return false }
            if buffer.starts(with: [45, 45]) {
                state = .over
                return true
            }
            // White space may pad the line.
            guard let end = buffer.prefix(Limits.padding).firstIndex(of: 10) else {
                guard buffer.count < Limits.padding else {
                    throw BridgeError(.limit, "a boundary of the reply has more than \(Limits.padding) bytes after it")
                }
                return false
            }
            // Some servers write bare line feeds throughout; the first line shows it.
            if parts == 0, lineBreak.count == 1, end > 0, buffer[end - 1] == 13 {
                lineBreak = [13, 10]
                delimiter.insert(13, at: 0)
            }
            buffer.removeSubrange(...end)
            state = .headers
            return true
        case .headers:
            guard let (length, total) = headerLength() else {
                guard buffer.count <= Limits.headers else {
                    throw BridgeError(.limit, "a part of the reply has headers over \(Limits.headers >> 10) KiB")
                }
                return false
            }
            parts += 1
            guard parts <= Limits.parts else {
                throw BridgeError(.limit, "the reply has more than \(Limits.parts) parts")
            }
            events.append(.part(Self.fields(buffer[..<length])))
            buffer.removeSubrange(..<total)
            // If a part is empty, its boundary follows the headers directly and shares their line break.
            if buffer.starts(with: delimiter.dropFirst(lineBreak.count)) {
                buffer.insert(contentsOf: lineBreak, at: 0)
            }
            state = .content
            return true
        }
    }

    /// Returns the length of the headers without and with the empty line after them.
    private func headerLength() -> (Int, Int)? {
        if buffer.starts(with: [13, 10]) { return (0, 2) }
        if buffer.first == 10 { return (0, 1) }
        var index = 0
        while index + 1 < buffer.count {
            if buffer[index] == 10 {
                if buffer[index + 1] == 10 { return (index, index + 2) }
                if index + 2 < buffer.count, buffer[index + 1] == 13, buffer[index + 2] == 10 {
                    return (index, index + 3)
                }
            }
            index += 1
        }
        return nil
    }

    private func find(_ needle: [UInt8]) -> Int? {
        buffer.withUnsafeBytes { haystack in
            guard let base = haystack.baseAddress else { return nil }
            var start = 0
            while haystack.count - start >= needle.count,
                let found = memchr(base + start, Int32(needle[0]), haystack.count - start - needle.count + 1)
            {
                let place = UnsafeRawPointer(found) - base
                if memcmp(base + place, needle, needle.count) == 0 { return place }
                start = place + 1
            }
            return nil
        }
    }

    /// Parses header fields by name in lower case; a line that begins with white space continues the previous one.
    private static func fields(_ bytes: ArraySlice<UInt8>) -> [String: String] {
        var fields: [String: String] = [:]
        var last: String?
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if let last, line.first?.isWhitespace == true {
                fields[last, default: ""] += " " + String(line).trimmingWhiteSpace
            } else if let colon = line.firstIndex(of: ":") {
                let name = String(line[..<colon]).trimmingWhiteSpace.lowercased()
                fields[name] = String(line[line.index(after: colon)...]).trimmingWhiteSpace
                last = name
            }
        }
        return fields
    }
}
