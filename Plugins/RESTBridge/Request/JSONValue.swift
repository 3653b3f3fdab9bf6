internal import RecordBatch

/// A JSON value that can be changed: the body of a request before it is sent.
indirect enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// With the characters as they are written.
    case number(String)
    case text(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSONValue
    }

    init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .bool: self = .bool(value.bool)
        case .int64, .double: self = .number(value.json)
        case .decimal: self = .number(value.string)
        case .array: self = .array(value.elements.map(Self.init))
        case .object: self = .object(value.members.map { Member(name: $0.key, value: Self($0.value)) })
        default: self = .text(value.text ?? value.json)
        }
    }

    /// Sets the member that names lead to; objects on the way are made, and what is no object is replaced by one.
    mutating func set(_ names: ArraySlice<String>, _ value: JSONValue) {
        guard let name = names.first else {
            self = value
            return
        }
        var members: [Member] = []
        if case .object(let own) = self { members = own }
        let index = members.firstIndex { $0.name == name } ?? members.count
        if index == members.count { members.append(Member(name: name, value: .object([]))) }
        members[index].value.set(names.dropFirst(), value)
        self = .object(members)
    }

    /// The value with `change` made to each text in it; nil from it takes a member or element away.
    func mapTexts(_ change: (String) -> JSONValue?) -> JSONValue? {
        switch self {
        case .text(let text): change(text)
        case .array(let values): .array(values.compactMap { $0.mapTexts(change) })
        case .object(let members):
            .object(
                members.compactMap { member in
                    member.value.mapTexts(change).map { Member(name: member.name, value: $0) }
                })
        case .null, .bool, .number: self
        }
    }

    /// RFC 8259, without white space.
    var json: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let characters): characters
        case .text(let text): text.jsonQuoted
        case .array(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { $0.name.jsonQuoted + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    /// As a form's field or a query parameter has it; nil for null, objects and arrays.
    var plainText: String? {
        switch self {
        case .bool, .number: json
        case .text(let text): text
        case .null, .array, .object: nil
        }
    }
}
