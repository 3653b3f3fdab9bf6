internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// A configured value of a request.
indirect enum InputValue: Sendable, Equatable {
    case null
    case text(String)
    /// Bytes, written in base64 or hexadecimal digits as the schema requires.
    case bytes([UInt8])
    case array([InputValue])
    case object([Member])

    struct Member: Sendable, Equatable {
        var name: String
        var value: InputValue
    }

    /// The definition of a value, `content`: a number keeps the digits with which it is written, since the schema takes
    /// texts.
    static let schema = ##"""
        {"type": ["string", "number", "boolean", "null", "array", "object"], "items": {"$ref": "#/$defs/content"}, "additionalProperties": {"$ref": "#/$defs/content"}}
        """##

    /// Copies a configured value, with numbers and booleans in XSD's notation.
    init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .text, .decimal: self = .text(value.string)
        case .bool, .int64: self = .text(value.json)
        case .double: self = .text(Self.lexical(value.double))
        case .bytes: self = .bytes(Array(value.rawBytes))
        case .timestamp: self = .text(Timestamp.text(microseconds: value.int64))
        case .array: self = .array((0..<value.count).map { InputValue(value[$0]) })
        case .object: self = .object(value.members.map { Member(name: $0.key, value: InputValue($0.value)) })
        }
    }

    /// Whether the value is an object without members, such as an empty config.
    var isEmptyObject: Bool { self == .object([]) }

    /// The elements of a list; a single value counts as a list of one.
    var elements: [InputValue] {
        if case .array(let elements) = self { return elements }
        return [self]
    }

    /// Returns a member of an object.
    func member(_ name: String) -> InputValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    private static func lexical(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-INF" : "INF" }
        return "\(number)"
    }

    /// Returns this object with the text at a path of member names replaced.
    ///
    /// - Throws: ``BridgeError`` configuration if the path leads through a value that is not an object.
    func setting(_ path: ArraySlice<String>, to text: String) throws(BridgeError) -> InputValue {
        try setting(path, to: .text(text))
    }

    /// Returns this object with the value at a path of member names replaced.
    func setting(_ path: ArraySlice<String>, to value: InputValue) throws(BridgeError) -> InputValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = self else {
            throw BridgeError(
                .configuration, "the paging element \"\(name)\" lies inside an input value that is not an object",
                remedy: "correct \"input\" or the path in \"paging\"")
        }
        let index = members.firstIndex { $0.name == name }
        let rest = path.dropFirst()
        if rest.isEmpty {
            if let index {
                members[index].value = value
            } else {
                members.append(Member(name: name, value: value))
            }
        } else {
            let inner = try (index.map { members[$0].value } ?? .object([])).setting(rest, to: value)
            if let index { members[index].value = inner } else { members.append(Member(name: name, value: inner)) }
        }
        return .object(members)
    }
}
