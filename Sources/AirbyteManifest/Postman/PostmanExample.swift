internal import Model

/// What a saved example says about its records.
struct PostmanExample {
    /// The path of the records, as bmo reads it.
    let records: String
    let objects: [ConfigValue]
    /// Whether the reply is one object, and no list.
    let isSingle: Bool

    private static let usual = ["data", "items", "results", "records", "value", "values", "entries", "rows"]

    /// - Parameter word: The last literal segment of the path, after which a list is often named.
    init(_ reply: ConfigValue, word: String?) throws(Untranslatable) {
        if let list = reply.array {
            (records, objects, isSingle) = ("$", list, false)
        } else {
            var found: [(path: [String], list: [ConfigValue])] = []
            func look(_ value: ConfigValue, _ path: [String]) {
                for (key, inner) in value.members ?? [] {
                    if let list = inner.array, list.allSatisfy({ $0.members != nil }) {
                        found.append((path + [key], list))
                    }
                    if path.count < 2, inner.members != nil { look(inner, path + [key]) }
                }
            }
            look(reply, [])
            let least = found.map(\.path.count).min()
            let nearest = found.filter { $0.path.count == least }
            let named = nearest.filter { $0.path.last == word || Self.usual.contains($0.path.last ?? "") }
            let hasIdentity = reply["id"] != nil || reply["uuid"] != nil
            if found.isEmpty || hasIdentity {
                (records, objects, isSingle) = ("$", [reply], true)
            } else if let only = nearest.count == 1 ? nearest.first : named.count == 1 ? named.first : nil {
                (records, objects, isSingle) = (RecordsPath.text(only.path), only.list, false)
            } else {
                let names = nearest.map { RecordsPath.text($0.path) }.joined(separator: ", ")
                throw Untranslatable("its example has several lists: \(names)")
            }
        }
        guard !objects.isEmpty else { throw Untranslatable("the list in its example is empty") }
        guard objects.allSatisfy({ $0.members != nil }) else {
            throw Untranslatable("the list in its example has values that are not objects")
        }
    }

    /// The members of all objects, with their types, in the order of their first occurrence.
    var members: [(name: String, type: String)] {
        var names: [String] = []
        var types: [String: String] = [:]
        for object in objects {
            for (name, value) in object.members ?? [] {
                if !names.contains(name) { names.append(name) }
                guard let type = Self.type(value) else { continue }
                types[name] = types[name].map { Self.both($0, type) } ?? type
            }
        }
        return names.map { ($0, types[$0] ?? "text") }
    }

    /// Returns a member that identifies the objects, and whether that is nearly certain.
    func key(entity: String) -> (name: String, isSure: Bool)? {
        let known = members.filter { ["text", "integer"].contains($0.type) }.map(\.name)
        let singular = entity.lowercased().hasSuffix("s") ? String(entity.lowercased().dropLast()) : entity.lowercased()
        let wanted = [
            "id", "uuid", "_id", "guid", "gid", singular + "id", singular + "_id", "key", "code", "slug", "name",
        ]
        for want in wanted {
            guard let name = known.first(where: { $0.lowercased() == want }) else { continue }
            let values = objects.map { $0[name]?.printed ?? "" }
            if !values.contains(""), !values.contains("None"), Set(values).count == values.count {
                return (name, ["id", "uuid", "_id"].contains(want))
            }
        }
        return nil
    }

    private static func type(_ value: ConfigValue) -> String? {
        switch value {
        case .null, .secret: nil
        case .bool: "boolean"
        case .int: "integer"
        case .double, .decimal: "real"
        case .array, .object: "json"
        case .string(let text):
            text.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil
                ? "date"
                : text.wholeMatch(of: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)/) != nil
                    ? "timestamp" : "text"
        }
    }

    private static func both(_ one: String, _ other: String) -> String {
        if one == other { return one }
        if Set([one, other]) == ["integer", "real"] { return "real" }
        if [one, other].contains("json") { return "json" }
        return "text"
    }
}
