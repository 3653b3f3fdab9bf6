internal import Foundation
internal import SystemCalls

/// Encodes a Codable type as values by name; a member that is not encoded is absent, which differs from null.
final class ObjectEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var content: Content?

    private enum Content {
        case node(ObjectNode)
        case members(MemberList)
        case list(ElementList)
    }

    /// The members of one object, in the order in which they were encoded.
    final class MemberList {
        var members: [(name: String, node: () -> ObjectNode)] = []
        var node: ObjectNode { .members(members.map { (name: $0.name, node: $0.node()) }) }
    }

    /// The elements of one list.
    final class ElementList {
        var elements: [() -> ObjectNode] = []
        var node: ObjectNode { .list(elements.map { $0() }) }
    }

    init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

    /// The encoded node; an object without members where nothing was encoded.
    var node: ObjectNode {
        switch content {
        case .node(let node): node
        case .members(let members): members.node
        case .list(let list): list.node
        case nil: .members([])
        }
    }

    static func encode(_ value: any Encodable, path: [any CodingKey] = []) throws -> ObjectNode {
        switch value {
        case let value as LocalValue: return .value(value)
        case let value as Date: return .value(value.localValue)
        case let value as Decimal: return .value(value.localValue)
        case let value as URL: return .value(value.localValue)
        case let value as UUID: return .value(value.localValue)
        case let value as Data: return .value(value.localValue)
        default:
            let encoder = ObjectEncoder(codingPath: path)
            try value.encode(to: encoder)
            return encoder.node
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let members: MemberList
        if case .members(let known) = content { members = known } else { members = MemberList() }
        content = .members(members)
        return KeyedEncodingContainer(KeyedWriter<Key>(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let list: ElementList
        if case .list(let known) = content { list = known } else { list = ElementList() }
        content = .list(list)
        return UnkeyedWriter(list: list, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(encoder: self) }

    fileprivate func set(_ node: ObjectNode) { content = .node(node) }

    fileprivate static func unsigned(_ value: UInt64) -> LocalValue {
        Int64(exactly: value).map { .integer($0) } ?? .decimal(String(value))
    }
}

/// A container of one value.
private struct SingleWriter: SingleValueEncodingContainer {
    let encoder: ObjectEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func set(_ value: LocalValue) { encoder.set(.value(value)) }

    func encodeNil() { set(.null) }
    func encode(_ value: Bool) { set(.boolean(value)) }
    func encode(_ value: String) { set(.text(value)) }
    func encode(_ value: Double) { set(.real(value)) }
    func encode(_ value: Float) { set(.real(Double(value))) }
    func encode(_ value: Int) { set(.integer(Int64(value))) }
    func encode(_ value: Int8) { set(.integer(Int64(value))) }
    func encode(_ value: Int16) { set(.integer(Int64(value))) }
    func encode(_ value: Int32) { set(.integer(Int64(value))) }
    func encode(_ value: Int64) { set(.integer(value)) }
    func encode(_ value: UInt) { set(ObjectEncoder.unsigned(UInt64(value))) }
    func encode(_ value: UInt8) { set(.integer(Int64(value))) }
    func encode(_ value: UInt16) { set(.integer(Int64(value))) }
    func encode(_ value: UInt32) { set(.integer(Int64(value))) }
    func encode(_ value: UInt64) { set(ObjectEncoder.unsigned(value)) }
    func encode(_ value: some Encodable) throws {
        encoder.set(try ObjectEncoder.encode(value, path: codingPath))
    }
}

/// A container of an object's members.
private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let members: ObjectEncoder.MemberList
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { members.members.append((key.stringValue, { .value(.null) })) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let node = try ObjectEncoder.encode(value, path: codingPath + [key])
        members.members.append((key.stringValue, { node }))
    }

    private func nested(_ key: Key) -> ObjectEncoder {
        let encoder = ObjectEncoder(codingPath: codingPath + [key])
        members.members.append((key.stringValue, { encoder.node }))
        return encoder
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder {
        let encoder = ObjectEncoder(codingPath: codingPath)
        members.members.append(("super", { encoder.node }))
        return encoder
    }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
}

/// A container of a list's elements.
private struct UnkeyedWriter: UnkeyedEncodingContainer {
    let list: ObjectEncoder.ElementList
    let codingPath: [any CodingKey]
    var count: Int { list.elements.count }

    func encodeNil() { list.elements.append { .value(.null) } }

    func encode(_ value: some Encodable) throws {
        let node = try ObjectEncoder.encode(value, path: codingPath + [NodeKey(count)])
        list.elements.append { node }
    }

    private func nested() -> ObjectEncoder {
        let encoder = ObjectEncoder(codingPath: codingPath + [NodeKey(count)])
        list.elements.append { encoder.node }
        return encoder
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }
}
