/// A syntax error in a JSON text.
package struct JSONFault: Error, Sendable, Equatable {
    /// The offset of the error, in bytes.
    package var offset: Int
    /// The reason.
    package var reason: String
}

/// A strict parser with limits, because schemas come from plugins, which are not trusted.
struct JSONReader {
    static let largest = 1 << 20
    static let deepest = 64

    let bytes: [UInt8]
    var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONFault) -> ConfigValue {
        guard bytes.count <= Self.largest else { throw JSONFault(offset: Self.largest, reason: "more than 1 MiB") }
        let result = try value(depth: 1)
        skipSpace()
        guard at == bytes.count else { throw fault("more text after the value") }
        return result
    }

    private func fault(_ reason: String) -> JSONFault { JSONFault(offset: at, reason: reason) }

    private mutating func skipSpace() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[at...].starts(with: word.utf8) else { return false }
        at += word.utf8.count
        return true
    }

    private mutating func value(depth: Int) throws(JSONFault) -> ConfigValue {
        guard depth <= Self.deepest else { throw fault("more than \(Self.deepest) levels of nesting") }
        skipSpace()
        if take("{") { return try object(depth: depth) }
        if take("[") { return try array(depth: depth) }
        if take("\"") { return .string(try string()) }
        if take(word: "true") { return .bool(true) }
        if take(word: "false") { return .bool(false) }
        if take(word: "null") { return .null }
        return try number()
    }

    private mutating func array(depth: Int) throws(JSONFault) -> ConfigValue {
        var elements: [ConfigValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw fault("expected \",\" or \"]\"") }
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) -> ConfigValue {
        var members: [(key: String, value: ConfigValue)] = []
        var seen: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard take("\"") else { throw fault("expected a key in quotes") }
            let key = try string()
            guard seen.insert(key).inserted else { throw fault("duplicate key \(quoted(key))") }
            skipSpace()
            guard take(":") else { throw fault("expected \":\"") }
            members.append((key, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw fault("expected \",\" or \"}\"") }
        }
    }

    private mutating func number() throws(JSONFault) -> ConfigValue {
        let start = at
        let part: Set<UInt8> = Set("+-.0123456789eE".utf8)
        while at < bytes.count, part.contains(bytes[at]) { at += 1 }
        let digits = bytes[start..<at].drop { $0 == UInt8(ascii: "-") }
        func isDigit(_ byte: UInt8?) -> Bool {
            byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        }
        guard isDigit(digits.first), at - start <= 64 else {
            at = start
            throw fault(start < bytes.count ? "expected a value" : "the text ends too early")
        }
        // YAML accepts some numbers that JSON does not: with a leading zero, or without a digit on one side of the
        // point.
        let beforePoint = digits.firstIndex(of: UInt8(ascii: "."))
        let isStrict =
            !(digits.first == UInt8(ascii: "0") && isDigit(digits.dropFirst().first))
            && (beforePoint.map { isDigit(digits[($0 + 1)...].first) } ?? true)
        guard isStrict else { throw JSONFault(offset: start, reason: "no number") }
        switch CoreSchema.resolve(String(decoding: bytes[start..<at], as: UTF8.self)) {
        case .int(let number): return .int(number)
        case .double(let number) where number.isFinite: return .double(number)
        default: throw JSONFault(offset: start, reason: "no number")
        }
    }

    private mutating func string() throws(JSONFault) -> String {
        var result: [UInt8] = []
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"): result += try escape()
            case 0..<0x20: throw fault("a control character in a string")
            default: result.append(byte)
            }
        }
        throw fault("the string does not end")
    }

    private mutating func escape() throws(JSONFault) -> [UInt8] {
        guard at < bytes.count else { throw fault("the string does not end") }
        let byte = bytes[at]
        at += 1
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return [byte]
        case "b": return [0x08]
        case "f": return [0x0C]
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        case "u":
            let high = try hexadecimal()
            if !(0xD800..<0xDC00).contains(high) { return try utf8(high) }
            guard take("\\"), take("u") else { throw fault("half a surrogate pair") }
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw fault("half a surrogate pair") }
            return try utf8(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        default: throw fault("unknown escape")
        }
    }

    private func utf8(_ value: UInt32) throws(JSONFault) -> [UInt8] {
        guard let scalar = Unicode.Scalar(value) else { throw fault("half a surrogate pair") }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
        guard bytes.count - at >= 4, let value = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        at += 4
        return value
    }
}
