#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Counts the attributes of start tags before libxml2 parses them.
///
/// libxml2 compares each attribute with all others of its tag, so that 400,000 of them take a minute, and reports the
/// element only afterwards. An attribute value cannot contain `<` (XML 1.0, section 2.3): only a tag that is long
/// enough for too many attributes before the next `<` is examined. A value-type state machine that accepts bytes in any
/// pieces.
struct TagGuard {
    /// The maximum for one element, including namespace declarations.
    static let maxAttributes = 2_000
    /// The shortest attribute is ` a=""`.
    private static let shortest = 5 * maxAttributes

    private enum State {
        case outside, name, space, attribute, afterAttribute, beforeValue, value(UInt8), afterValue
    }

    private var state = State.outside
    private var count = 0

    /// Examines the next bytes.
    ///
    /// - Returns: False once a tag has too many attributes.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var index = 0
        if case .outside = state {
        } else {
            index = scan(bytes, from: 0)
            if count > Self.maxAttributes { return false }
        }
        while index < bytes.count, let found = memchr(base + index, 0x3C, bytes.count - index) {
            index = lastTag(near: UnsafeRawPointer(found) - base, in: bytes)
            let start = index + 1
            let next = memchr(base + start, 0x3C, bytes.count - start).map { UnsafeRawPointer($0) - base }
            if let next, next - start < Self.shortest {
                index = next
                continue
            }
            (state, count) = (.name, 0)
            index = scan(bytes, from: start)
            if count > Self.maxAttributes { return false }
        }
        return true
    }

    /// Returns the last `<` that follows the one at `index` so closely that all tags between the two are short; `index` if
    /// there is none.
    private func lastTag(near index: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var last = min(index + Self.shortest, bytes.count - 1)
        while last > index, bytes[last] != 0x3C { last -= 1 }
        return last
    }

    /// Continues with a tag; markup that breaks the grammar is left to the parser.
    ///
    /// - Returns: The index after the tag or at the end of the bytes.
    private mutating func scan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            // The other byte of a UTF-16 code unit.
            if byte == 0 { continue }
            step(byte)
            if case .outside = state { return index }
            if count > Self.maxAttributes { return index }
        }
        return index
    }

    private mutating func step(_ byte: UInt8) {
        let isSpace = byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        let isOther = byte == 0x3C || byte == 0x3E || byte == 0x2F || byte == 0x22 || byte == 0x27 || byte == 0x3D
        switch state {
        case .outside: break
        case .name:
            if isSpace { state = .space } else if isOther || byte == 0x21 || byte == 0x3F { state = .outside }
        case .space:
            if isSpace { break }
            if isOther {
                state = .outside
            } else {
                state = .attribute
                count += 1
            }
        case .attribute:
            if byte == 0x3D {
                state = .beforeValue
            } else if isSpace {
                state = .afterAttribute
            } else if isOther {
                state = .outside
            }
        case .afterAttribute:
            if byte == 0x3D { state = .beforeValue } else if !isSpace { state = .outside }
        case .beforeValue:
            if byte == 0x22 || byte == 0x27 { state = .value(byte) } else if !isSpace { state = .outside }
        case .value(let quote):
            if byte == quote { state = .afterValue } else if byte == 0x3C { state = .outside }
        case .afterValue:
            if isSpace { state = .space } else { state = .outside }
        }
    }
}
