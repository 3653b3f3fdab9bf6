internal import Model

/// Translates a stream's JSON Schema into attributes.
struct SchemaTranslator {
    let draft: EntityDraft
    /// The connector's files beside the manifest, by path.
    let files: [String: String]

    func apply(_ loader: ConfigValue?, stream: String, _ scope: Scope) {
        var properties: [(key: String, value: ConfigValue)] = []
        for loader in loader?.array ?? [loader ?? .null] {
            guard let schema = schema(loader, stream: stream, scope.with(loader)) else { continue }
            for property in schema["properties"]?.members ?? []
            where !properties.contains(where: { $0.key == property.key }) {
                properties.append(property)
            }
        }
        if properties.isEmpty {
            draft.note("no schema: all members are in the column extra; add attributes for those that need a column")
        }
        for (name, schema) in properties { add(name, schema) }
    }

    private func schema(_ loader: ConfigValue, stream: String, _ scope: Scope) -> ConfigValue? {
        switch loader.type {
        case "InlineSchemaLoader": return loader["schema"]
        case "DynamicSchemaLoader":
            draft.note("its schema comes from a separate request, which bmo does not send")
            return nil
        case "JsonFileSchemaLoader", nil:
            let given = loader["file_path"]?.printed ?? "schemas/\(stream).json"
            let path = (try? Template(given, scope).known?.printed) ?? given
            let names = path.split(separator: "/").filter { $0 != "." }
            for count in [names.count, 2, 1] where count <= names.count && count > 0 {
                let end = "/" + names.suffix(count).joined(separator: "/")
                let found = files.keys.sorted().first { ("/" + $0).hasSuffix(end) }
                if let found, let text = files[found], let value = try? ManifestText.read(text, name: found) {
                    return value
                }
            }
            if loader.type != nil { draft.note("its schema \(path) is not among the connector's files") }
            return nil
        default:
            draft.note(
                "its schema is made by \(loader["class_name"]?.string ?? loader.type ?? ""), which is custom Python")
            return nil
        }
    }

    private func add(_ name: String, _ schema: ConfigValue) {
        let column = draft.columns.claim(LocalNames.identifier(name))
        let (type, comment) = Self.type(schema)
        let transform: ConfigValue? = ["timestamp", "date"].contains(type) ? "empty_as_null" : nil
        draft.attributes.append(
            EntityDraft.Attribute(
                name: column, type: type, path: .string(EntityDraft.path([name])), transform: transform,
                comment: comment, member: name))
    }

    /// Returns the type of an attribute; it is json for values that may have several types.
    static func type(_ schema: ConfigValue) -> (String, comment: String?) {
        var types = Set((schema["type"]?.array ?? [schema["type"] ?? .null]).compactMap(\.string))
        types.remove("null")
        let options = (schema["oneOf"]?.array ?? []) + (schema["anyOf"]?.array ?? [])
        if types.isEmpty, !options.isEmpty {
            let found = Set(options.filter { $0["type"] != "null" }.map { type($0).0 })
            return (found.count == 1 ? found.first ?? "json" : "json", nil)
        }
        if types.isEmpty,
            schema["const"]?.string != nil || schema["enum"]?.array?.allSatisfy({ $0.string != nil }) == true
        {
            return ("text", nil)
        }
        guard types.count == 1 || types == ["integer", "number"] else {
            return types.isEmpty || types.contains("object") || types.contains("array") ? ("json", nil) : ("text", nil)
        }
        switch types.first {
        case "string":
            switch schema["format"]?.string {
            case "date-time": return ("timestamp", nil)
            case "date": return ("date", nil)
            default: return ("text", nil)
            }
        case "integer" where types.count == 1: return ("integer", nil)
        case "integer", "number":
            return (schema["airbyte_type"] == "integer" ? "integer" : "real", nil)
        case "boolean": return ("boolean", nil)
        default: return ("json", nil)
        }
    }
}
