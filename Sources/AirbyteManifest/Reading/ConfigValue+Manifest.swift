internal import Model
internal import TextFormats

extension ConfigValue {
    /// The kind of a component, from its member `type`.
    var type: String? { self["type"]?.string }

    /// Whether Python takes the value as true.
    var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .int(let value): value != 0
        case .double(let value): value != 0
        case .decimal(let text): Double(text) != 0
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        case .secret: true
        }
    }

    /// The value as Jinja prints it.
    var printed: String {
        switch self {
        case .null: "None"
        case .bool(let value): value ? "True" : "False"
        case .int(let value): String(value)
        case .double(let value): "\(value)"
        case .decimal(let text): text
        case .string(let text): text
        case .array, .object: python
        case .secret: ""
        }
    }

    private var python: String {
        switch self {
        case .string(let text): "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        case .array(let elements): "[" + elements.map(\.python).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "'\($0.key)': \($0.value.python)" }.joined(separator: ", ") + "}"
        default: printed
        }
    }

    /// The value as JSON.
    var json: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .string(let text): text.jsonQuoted
        case .array(let elements): "[" + elements.map(\.json).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\($0.key.jsonQuoted): \($0.value.json)" }.joined(separator: ", ") + "}"
        default: printed
        }
    }

    /// Returns the value at a path of members.
    func at(_ path: some Sequence<String>) -> ConfigValue? {
        var value: ConfigValue? = self
        for name in path {
            if let list = value?.array, let index = Int(name) {
                value = list.indices.contains(index) ? list[index] : nil
            } else {
                value = value?[name]
            }
        }
        return value
    }

    /// Returns an object with a member set.
    func setting(_ key: String, _ value: ConfigValue) -> ConfigValue {
        var members = self.members ?? []
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = value
        } else {
            members.append((key, value))
        }
        return .object(members)
    }

    /// Returns an object with a value at a path of members; missing members are created.
    func setting(_ path: ArraySlice<String>, _ value: ConfigValue) -> ConfigValue {
        guard let name = path.first else { return value }
        if var list = array, let index = Int(name), list.indices.contains(index) {
            list[index] = list[index].setting(path.dropFirst(), value)
            return .array(list)
        }
        return setting(name, (self[name] ?? .object([])).setting(path.dropFirst(), value))
    }

    /// Returns an object without a member.
    func removing(_ key: String) -> ConfigValue {
        .object((members ?? []).filter { $0.key != key })
    }
}
