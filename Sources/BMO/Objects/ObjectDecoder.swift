internal import Foundation
internal import Mapping
internal import Model

/// Decodes a Codable type directly from an object's values, so that integers and decimals keep every digit.
struct ObjectDecoder: Decoder {
    let node: ObjectNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from node: ObjectNode, path: [any CodingKey] = []
    ) throws -> Value {
        if let value = try special(type, node, path) { return value }
        return try Value(from: ObjectDecoder(node: node, codingPath: path))
    }

    /// Decodes types whose own decoding would lose precision, or would not accept our values.
    private static func special<Value>(_ type: Value.Type, _ node: ObjectNode, _ path: [any CodingKey]) throws -> Value?
    {
        switch type {
        case is LocalValue.Type:
            if case .value(let value) = node { return value as? Value }
            return LocalValue.json(node.jsonText) as? Value
        case is Date.Type: return try date(node, path) as? Value
        case is Decimal.Type: return try decimal(node, path) as? Value
        case is URL.Type:
            guard let text = scalar(node)?.text, let url = URL(string: text) else {
                throw misfit(type, node, path)
            }
            return url as? Value
        case is UUID.Type:
            guard let text = scalar(node)?.text, let uuid = UUID(uuidString: text) else {
                throw misfit(type, node, path)
            }
            return uuid as? Value
        case is Data.Type:
            switch scalar(node) {
            case .data(let bytes)?: return Data(bytes) as? Value
            case .text(let text)?: return Data(base64Encoded: text) as? Value
            default: throw misfit(type, node, path)
            }
        default: return nil
        }
    }

    private static func date(_ node: ObjectNode, _ path: [any CodingKey]) throws -> Date {
        guard let value = scalar(node) else { throw misfit(Date.self, node, path) }
        if let date = value.date { return date }
        if let text = value.text, let stored = try? LocalValue.text(text).stored(as: .timestamp),
            let date = LocalValue(stored, as: .timestamp).date
        {
            return date
        }
        throw misfit(Date.self, node, path)
    }

    private static func decimal(_ node: ObjectNode, _ path: [any CodingKey]) throws -> Decimal {
        switch scalar(node) {
        case .integer(let value)?: return Decimal(value)
        case .real(let value)?: return Decimal(string: "\(value)") ?? Decimal(value)
        case .decimal(let text)?, .text(let text)?:
            guard let value = Decimal(string: text) else { break }
            let digits = text.filter { $0.isNumber }.drop { $0 == "0" }.count
            guard digits <= 38 else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: path,
                        debugDescription: "\(text) has more than the 38 digits of a Decimal; decode a LocalValue"))
            }
            return value
        default: break
        }
        throw misfit(Decimal.self, node, path)
    }

    /// Returns the single value of a node; for JSON, its content.
    static func scalar(_ node: ObjectNode) -> LocalValue? {
        if case .value(.json) = node, case .value(let value)? = node.opened { return value }
        if case .value(let value) = node { return value }
        return nil
    }

    static func misfit(_ type: Any.Type, _ node: ObjectNode, _ path: [any CodingKey]) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "\(node.kind) is not of type \(type)")
        return node.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let opened = node.opened ?? node
        switch opened {
        case .object, .members: return KeyedDecodingContainer(KeyedNodes(node: opened, codingPath: codingPath))
        default:
            throw DecodingError.typeMismatch(
                [String: Any].self,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "\(node.kind) is not an object; a relationship's object has to be included"))
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = node.opened?.elements else { throw Self.misfit([Any].self, node, codingPath) }
        return UnkeyedNodes(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleNode(node: node, codingPath: codingPath)
    }
}

/// A container of one value.
private struct SingleNode: SingleValueDecodingContainer {
    let node: ObjectNode
    let codingPath: [any CodingKey]

    private var value: LocalValue? { ObjectDecoder.scalar(node) }

    func decodeNil() -> Bool { node.isNull || value?.isNull == true }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let value = value?.boolean else { throw ObjectDecoder.misfit(type, node, codingPath) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        switch value {
        case .timestamp?: return value?.description ?? ""
        case let value?: if let text = value.text { return text }
        case nil: break
        }
        throw ObjectDecoder.misfit(type, node, codingPath)
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .real(let value)?: return value
        // An integer that a double would round is rejected.
        case .integer(let value)?: if let exact = Double(exactly: value) { return exact }
        case .decimal(let text)?: if let value = Double(text) { return value }
        default: break
        }
        throw ObjectDecoder.misfit(type, node, codingPath)
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        switch value {
        case .integer(let value)?: if let number = Number(exactly: value) { return number }
        case .decimal(let text)?: if let number = Number(text) { return number }
        case .real(let value)?: if let number = Number(exactly: value) { return number }
        default: break
        }
        throw ObjectDecoder.misfit(type, node, codingPath)
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ObjectDecoder.decode(type, from: node, path: codingPath)
    }
}

/// A container of an object's members.
private struct KeyedNodes<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: ObjectNode
    let codingPath: [any CodingKey]

    var allKeys: [Key] { node.memberNames.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { node.member(key.stringValue) != nil }

    private func member(_ key: Key) throws -> ObjectNode {
        if let member = node.member(key.stringValue) { return member }
        var words = "there is no value \"\(key.stringValue)\""
        if case .object(let object) = node, object.schema.toMany(key.stringValue) != nil {
            words = "the relationship \"\(key.stringValue)\" of \(object.entity) was not included in the request"
        }
        throw DecodingError.keyNotFound(
            key, DecodingError.Context(codingPath: codingPath, debugDescription: words))
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try ObjectDecoder.decode(type, from: try member(key), path: codingPath + [key])
    }

    private func decoder(_ key: Key) throws -> ObjectDecoder {
        ObjectDecoder(node: try member(key), codingPath: codingPath + [key])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { ObjectDecoder(node: node, codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// A container of a list's elements.
private struct UnkeyedNodes: UnkeyedDecodingContainer {
    let elements: [ObjectNode]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    init(elements: [ObjectNode], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> ObjectDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self,
                DecodingError.Context(codingPath: codingPath, debugDescription: "the list has no further element"))
        }
        defer { currentIndex += 1 }
        return ObjectDecoder(node: elements[currentIndex], codingPath: codingPath + [NodeKey(currentIndex)])
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = try next()
        return try ObjectDecoder.decode(type, from: decoder.node, path: decoder.codingPath)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
