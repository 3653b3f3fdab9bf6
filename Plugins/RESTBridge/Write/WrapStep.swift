internal import BridgeJSON
internal import BridgeKit

/// One level of wrapping around a body's values: `wrap: records[0].fields` is a member, a list of one, and a member.
enum WrapStep: Sendable, Equatable {
    case member(String)
    /// The only element of a list.
    case element

    /// - Throws: ``BridgeError`` for an index other than 0.
    static func steps(_ text: String, option: String) throws -> [WrapStep] {
        try RESTWriteRule.names(text).flatMap { part -> [WrapStep] in
            var name = part
            var elements = 0
            while name.hasSuffix("]"), let open = name.lastIndex(of: "[") {
                let index = name[name.index(after: open)...].dropLast()
                guard index.isEmpty || index == "0" else {
                    throw BridgeError(
                        .configuration, "\(option): [\(index)] cannot be the only element of a list",
                        remedy: "write [0]")
                }
                name = String(name[..<open])
                elements += 1
            }
            return (name.isEmpty ? [] : [.member(name)]) + [WrapStep](repeating: .element, count: elements)
        }
    }

    /// Returns the path of the object in a reply with the same wrapping.
    static func path(_ steps: [WrapStep], option: String) throws -> JSONPath {
        let text = steps.map { step -> String in
            switch step {
            case .member(let name): String(JSONPath(names: [name]).description.dropFirst())
            case .element: "[0]"
            }
        }
        return try JSONPath("$" + text.joined(), option: option)
    }

    /// Returns the values wrapped in this step.
    func around(_ values: JSONTree) -> JSONTree {
        switch self {
        case .member(let name): .object([(name, values)])
        case .element: .array([values])
        }
    }
}

extension JSONTree {
    /// Returns this value merged with another one: objects by member, lists by index.
    func enclosing(_ inner: JSONTree) -> JSONTree {
        switch (self, inner) {
        case (.object(let own), .object(let others)):
            var members = own
            for (name, value) in others.all { members[name] = own[name]?.enclosing(value) ?? value }
            return .object(members)
        case (.array(let own), .array(let others)):
            return .array(
                (0..<max(own.count, others.count)).map { index in
                    guard own.indices.contains(index) else { return others[index] }
                    return others.indices.contains(index) ? own[index].enclosing(others[index]) : own[index]
                })
        default: return inner
        }
    }
}
