import BridgeKit

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Converts the chunks of a file to UTF-8.
///
/// UTF-8 passes through unchecked (its consumer checks it), without its byte order mark; iconv converts all other
/// encodings. Without a configured encoding, a byte order mark decides; the default is UTF-8.
package final class TextDecoder {
    /// Bytes that are invalid in the encoding, with their offset in the file.
    package struct Fault: Error, Equatable {
        package let offset: Int

        package init(offset: Int) { self.offset = offset }
    }

    /// Whether the output equals the input, which is not known to be valid UTF-8.
    package var isPassThrough: Bool { converter == nil }
    private var converter: iconv_t?
    private let mayGuess: Bool
    private var pending: [UInt8] = []
    private var consumed = 0
    private var isAtStart = true

    /// - Throws: ``BridgeError`` for an encoding that iconv does not know.
    package init(encoding: String?) throws {
        mayGuess = encoding == nil
        guard let encoding, !["utf-8", "utf8"].contains(encoding.lowercased()) else { return }
        // A slash begins iconv's own suffixes, such as //IGNORE, which would drop characters.
        let opened = encoding.contains("/") || encoding.isEmpty ? nil : Self.open(encoding)
        guard let opened else {
            throw BridgeError(
                .configuration, "encoding: \"\(encoding)\" is not known",
                remedy: "use utf-8, windows-1252, iso-8859-1 or another name that iconv --list shows")
        }
        converter = opened
    }

    private static func open(_ encoding: String) -> iconv_t? {
        let opened = iconv_open("UTF-8", encoding)
        return Int(bitPattern: opened) == -1 ? nil : opened
    }

    /// Returns the encoding of a byte order mark (The Unicode Standard, table 23-6); nil for UTF-8 and without a mark.
    package static func encoding(ofMarkIn bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return "UTF-32LE" }
        if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32BE" }
        if bytes.starts(with: [0xFF, 0xFE]) { return "UTF-16LE" }
        if bytes.starts(with: [0xFE, 0xFF]) { return "UTF-16BE" }
        return nil
    }

    /// Returns the name of UTF-16 if an ASCII first character without a byte order mark reveals it; nil otherwise.
    package static func encoding(withoutMarkOf bytes: [UInt8]) -> String? {
        guard bytes.count >= 2, encoding(ofMarkIn: bytes) == nil else { return nil }
        if bytes[0] == 0, bytes[1] != 0 { return "utf-16be" }
        return bytes[0] != 0 && bytes[1] == 0 ? "utf-16le" : nil
    }

    deinit {
        if let converter { iconv_close(converter) }
    }

    /// Returns the next chunk as UTF-8; an incomplete character at its end waits for the next chunk.
    package func decode(_ chunk: [UInt8]) throws(Fault) -> [UInt8] {
        if isAtStart, mayGuess, converter == nil, let encoding = Self.encoding(ofMarkIn: chunk) {
            converter = Self.open(encoding)
        }
        guard let converter else { return withoutMark(chunk) }
        var input = pending + chunk
        var output: [UInt8] = []
        output.reserveCapacity(input.count + input.count / 4)
        var used = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isInvalid = false
        var isWaiting = false
        while used < input.count, !isInvalid, !isWaiting {
            input.withUnsafeMutableBytes { source in
                buffer.withUnsafeMutableBytes { target in
                    var from = source.baseAddress.map { ($0 + used).assumingMemoryBound(to: CChar.self) }
                    var fromLeft = source.count - used
                    var to = target.baseAddress?.assumingMemoryBound(to: CChar.self)
                    var toLeft = target.count
                    let result = iconv(converter, &from, &fromLeft, &to, &toLeft)
                    let number = errno
                    used = source.count - fromLeft
                    output.append(contentsOf: target[..<(target.count - toLeft)])
                    if result == -1 {
                        isInvalid = number == EILSEQ
                        isWaiting = number == EINVAL
                    }
                }
            }
        }
        if isInvalid { throw Fault(offset: consumed + used) }
        pending = Array(input[used...])
        consumed += used
        return withoutMark(output)
    }

    /// Checks that the text does not end inside a character.
    package func finish() throws(Fault) {
        if !pending.isEmpty { throw Fault(offset: consumed) }
    }

    private func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
        guard isAtStart, !bytes.isEmpty else { return bytes }
        isAtStart = false
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }
}
