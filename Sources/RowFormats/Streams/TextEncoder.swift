import BridgeKit

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Converts UTF-8 to the encoding of a file.
package final class TextEncoder {
    /// The byte order mark in UTF-8.
    package static let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let encoding: String
    private var converter: iconv_t?

    /// - Throws: ``BridgeError`` for an encoding that iconv does not know.
    package init(encoding: String?) throws {
        self.encoding = encoding ?? "utf-8"
        guard let encoding, !["utf-8", "utf8"].contains(encoding.lowercased()) else { return }
        let opened = encoding.contains("/") ? nil : iconv_open(encoding, "UTF-8")
        guard let opened, Int(bitPattern: opened) != -1 else {
            throw BridgeError(.configuration, "encoding: \"\(encoding)\" is not known")
        }
        converter = opened
    }

    /// Returns the byte order mark in an encoding; empty if that has none.
    package static func mark(in encoding: String?) -> [UInt8] {
        (try? TextEncoder(encoding: encoding).encode(utf8Mark)) ?? []
    }

    deinit {
        if let converter { iconv_close(converter) }
    }

    /// - Throws: ``BridgeError`` for a character that the encoding cannot represent.
    package func encode(_ text: [UInt8]) throws -> [UInt8] {
        guard let converter else { return text }
        var input = text
        var output = [UInt8](repeating: 0, count: text.count * 4 + 16)
        let (status, count) = input.withUnsafeMutableBytes { source in
            output.withUnsafeMutableBytes { target in
                var from = source.baseAddress?.assumingMemoryBound(to: CChar.self)
                var fromLeft = source.count
                var to = target.baseAddress?.assumingMemoryBound(to: CChar.self)
                var toLeft = target.count
                let status = iconv(converter, &from, &fromLeft, &to, &toLeft)
                return (status, target.count - toLeft)
            }
        }
        guard status == 0 else {
            throw BridgeError(
                .configuration, "the text has a character that \(encoding) does not have",
                remedy: "leave it out, or write the file in utf-8")
        }
        return Array(output[..<count])
    }
}
