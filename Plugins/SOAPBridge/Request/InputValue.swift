internal import BridgeKit
internal import RecordBatch

/// A value of a request as the config gives it.
indirect enum InputValue: Sendable, Equatable {
    case null
    case text(String)
    case array([InputValue])
    case object([Member])

    struct Member: Sendable, Equatable {
        var name: String
        var value: InputValue
    }

    /// Copies a value of the config; numbers and bools as XSD writes them, bytes as base64.
    init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .text, .decimal: self = .text(value.string)
        case .bool, .int64: self = .text(value.json)
        case .double: self = .text(Self.lexical(value.double))
        case .bytes: self = .text(Base64.encode(value.rawBytes))
        case .timestamp: self = .text(Timestamp.text(microseconds: value.int64))
        case .array: self = .array((0..<value.count).map { InputValue(value[$0]) })
        case .object: self = .object(value.members.map { Member(name: $0.key, value: InputValue($0.value)) })
        }
    }

    /// An object without members: what a config that says nothing becomes.
    var isEmptyObject: Bool { self == .object([]) }

    /// The elements of a list; one value counts as a list of one.
    var elements: [InputValue] {
        if case .array(let elements) = self { return elements }
        return [self]
    }

    /// A member of an object.
    func member(_ name: String) -> InputValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    private static func lexical(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-INF" : "INF" }
        return "\(number)"
    }

    /// This object with the text at a path of member names set.
    ///
    /// - Throws: ``BridgeError`` configuration where the path runs into a value that is not an object.
    func setting(_ path: ArraySlice<String>, to text: String) throws(BridgeError) -> InputValue {
        guard let name = path.first else { return .text(text) }
        guard case .object(var members) = self else {
            throw BridgeError(
                .configuration, "the paging element \"\(name)\" lies inside an input value that is not an object",
                remedy: "correct \"input\" or the path in \"paging\"")
        }
        let index = members.firstIndex { $0.name == name }
        let rest = path.dropFirst()
        if rest.isEmpty {
            if let index {
                members[index].value = .text(text)
            } else {
                members.append(Member(name: name, value: .text(text)))
            }
        } else {
            let inner = try (index.map { members[$0].value } ?? .object([])).setting(rest, to: text)
            if let index { members[index].value = inner } else { members.append(Member(name: name, value: inner)) }
        }
        return .object(members)
    }
}
