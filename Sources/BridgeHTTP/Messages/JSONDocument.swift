internal import TextFormats

/// A small JSON text, such as the reply of a token endpoint, parsed as a whole and queried by path.
///
/// Not for records, which are copied from the text to the batch directly.
indirect enum JSONDocument {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    case array([JSONDocument])
    case object([String: JSONDocument])

    private static let maxDepth = 64
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Parses a text (RFC 8259); nil if it is not JSON.
    init?(_ bytes: [UInt8]) {
        guard String(validUTF8: bytes) != nil else { return nil }
        // Some servers begin their text with a byte order mark.
        let text = bytes.starts(with: Self.mark) ? Array(bytes.dropFirst(Self.mark.count)) : bytes
        var tokens = JSONTokenizer(text, maxDepth: Self.maxDepth)
        do throws(JSONFault) {
            guard let first = try tokens.next() else { return nil }
            self = try Self.value(first, &tokens)
            guard try tokens.next() == nil else { return nil }
        } catch {
            return nil
        }
    }

    private static func value(_ token: JSONToken, _ tokens: inout JSONTokenizer) throws(JSONFault) -> JSONDocument {
        switch token {
        case .bool(let value): return .bool(value)
        case .number(let text): return .number(text)
        case .string(let text): return .text(text)
        case .beginArray:
            var elements: [JSONDocument] = []
            while let token = try tokens.next(), token != .endArray { elements.append(try value(token, &tokens)) }
            return .array(elements)
        case .beginObject:
            var members: [String: JSONDocument] = [:]
            while case .key(let name) = try tokens.next() {
                if let token = try tokens.next() { members[name] = try value(token, &tokens) }
            }
            return .object(members)
        case .null, .key, .endArray, .endObject: return .null
        }
    }

    /// Returns the value at `$.a.b` as text; nil for a missing value or an object.
    func text(at path: String) -> String? {
        var value = self
        for name in path.split(separator: ".") where name != "$" {
            guard case .object(let members) = value, let next = members[String(name)] else { return nil }
            value = next
        }
        switch value {
        case .text(let text), .number(let text): return text
        case .bool(let value): return value ? "true" : "false"
        case .null, .array, .object: return nil
        }
    }
}
