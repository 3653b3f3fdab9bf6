internal import Foundation
internal import RecordBatch
internal import TextFormats

/// The input of a decoder and output of an encoder: values, objects, and the content of JSON attributes.
indirect enum ObjectNode: Sendable {
    case value(LocalValue)
    case object(LocalObject)
    case list([ObjectNode])
    /// Members in their order.
    case members([(name: String, node: ObjectNode)])

    var isNull: Bool { if case .value(.null) = self { true } else { false } }

    /// Returns the node of a name; nil where there isn't one.
    func member(_ name: String) -> ObjectNode? {
        switch self {
        case .members(let members): return members.first { $0.name == name }?.node
        case .object(let object):
            if let included = object.included[name] {
                if object.schema.toOne(name) != nil { return included.first.map { .object($0) } ?? .value(.null) }
                return .list(included.map { .object($0) })
            }
            return object[name].map { .value($0) }
        case .value(.json): return opened.flatMap { if case .members = $0 { $0.member(name) } else { nil } }
        default: return nil
        }
    }

    /// The names that ``member(_:)`` knows.
    var memberNames: [String] {
        switch self {
        case .members(let members): members.map(\.name)
        case .object(let object): object.names + object.included.keys.filter { object[$0] == nil }.sorted()
        case .value(.json): opened?.memberNames ?? []
        default: []
        }
    }

    /// A JSON text's content; nil where the text is not JSON.
    var opened: ObjectNode? {
        guard case .value(.json(let text)) = self else { return self }
        // The parser reads objects and arrays, so a number or a text is wrapped in an array.
        guard let batch = try? JSONParser.batch("[\(text)]") else { return nil }
        let elements = withExtendedLifetime(batch) { Self.node(of: batch[0]).elements }
        return elements?.count == 1 ? elements?.first : nil
    }

    var elements: [ObjectNode]? { if case .list(let elements) = self { elements } else { nil } }

    private static func node(of value: BatchValue) -> ObjectNode {
        switch value.tag {
        case .null: .value(.null)
        case .bool: .value(.boolean(value.bool))
        case .int64: .value(.integer(value.int64))
        case .double: .value(.real(value.double))
        case .decimal: .value(.decimal(value.string))
        case .text: .value(.text(value.string))
        case .timestamp: .value(.timestamp(microseconds: value.int64))
        case .bytes: .value(.data(Array(value.rawBytes)))
        case .array: .list(value.elements.map { node(of: $0) })
        case .object: .members(value.members.map { (name: $0.key, node: node(of: $0.value)) })
        }
    }

    /// The node as JSON.
    var jsonText: String {
        switch self {
        case .value(let value): return value.jsonText
        case .object(let object):
            return ObjectNode.members(object.names.map { (name: $0, node: .value(object[$0] ?? .null)) }).jsonText
        case .list(let elements): return "[" + elements.map(\.jsonText).joined(separator: ",") + "]"
        case .members(let members):
            let parts = members.map { member in
                var text = ""
                text.appendJSONString(member.name)
                return text + ":" + member.node.jsonText
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
    }

    /// Whether all numbers have a JSON form.
    var isFinite: Bool {
        switch self {
        case .value(.real(let number)): number.isFinite
        case .value, .object: true
        case .list(let elements): elements.allSatisfy(\.isFinite)
        case .members(let members): members.allSatisfy(\.node.isFinite)
        }
    }

    /// The node's kind, for messages.
    var kind: String {
        switch self {
        case .value(.null): "null"
        case .value(.json): "JSON"
        case .value(let value): "\(value)"
        case .object(let object): "an object of \(object.entity)"
        case .list: "a list"
        case .members: "an object"
        }
    }
}

/// A name or an index in the path to a value.
struct NodeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}
