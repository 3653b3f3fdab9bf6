internal import TextFormats

/// A JSON Schema (draft 2020-12), compiled to the keywords that ``SchemaValidator`` checks.
///
/// Checked keywords: type, properties, required, additionalProperties, items, enum, const, minimum, maximum,
/// exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, oneOf, anyOf, $ref to `#/$defs/NAME`,
/// writeOnly, which marks a secret, and x-secrets, which lets each text in a value be one. A text with
/// `"format": "path"` that is neither an absolute path nor a URL is resolved against the configuration's folder. Other
/// keywords are annotations here; the plugin validates them itself.
final class JSONSchema: Sendable {
    enum Kind: String, CaseIterable {
        case null, boolean, integer, number, string, array, object

        /// The kind's name in a message about YAML.
        var words: String {
            switch self {
            case .null: "empty"
            case .boolean: "true or false"
            case .integer: "an integer"
            case .number: "a number"
            case .string: "text"
            case .array: "a list"
            case .object: "a mapping"
            }
        }
    }

    /// False for the schema `false`, which rejects everything.
    let fitsAnything: Bool
    /// The accepted kinds; empty for any.
    let kinds: [Kind]
    let properties: [String: JSONSchema]
    let required: [String]
    let additionalProperties: JSONSchema?
    let items: JSONSchema?
    let choices: [ConfigValue]?
    let bounds: Bounds
    let oneOf: [JSONSchema]
    let anyOf: [JSONSchema]
    /// The name of the referenced definition.
    let reference: String?
    let isSecret: Bool
    /// Whether each text in the value, at any depth, may be a secret, also in a section.
    let allowsSecrets: Bool
    /// Whether the text is a file path or a URL.
    let isPath: Bool

    struct Bounds: Sendable {
        var minimum: Double?
        var maximum: Double?
        var exclusiveMinimum: Double?
        var exclusiveMaximum: Double?
        var length: ClosedRange<Int> = 0...Int.max
        var items: ClosedRange<Int> = 0...Int.max
    }

    init(_ value: ConfigValue, path: String = "#") throws(SchemaFault) {
        if let fits = value.bool {
            fitsAnything = fits
        } else if value.members == nil {
            throw SchemaFault(path: path, reason: "a schema is an object, true or false")
        } else {
            fitsAnything = true
        }
        let keywords = SchemaKeywords(value: value, path: path)
        kinds = try keywords.kinds()
        properties = try keywords.schemas(in: "properties")
        required = try keywords.names("required")
        additionalProperties = try keywords.schema("additionalProperties")
        items = try keywords.schema("items")
        choices = try keywords.choices()
        bounds = try keywords.bounds()
        oneOf = try keywords.list("oneOf")
        anyOf = try keywords.list("anyOf")
        reference = try keywords.reference()
        isSecret = value["writeOnly"]?.bool ?? false
        allowsSecrets = value["x-secrets"]?.bool ?? false
        isPath = value["format"] == .string("path")
    }
}

/// A fault in a schema, with its position.
struct SchemaFault: Error {
    /// The position as a JSON pointer.
    var path: String
    var reason: String
}

/// A plugin's schema with its definitions.
struct SchemaDocument: Sendable {
    let root: JSONSchema
    let definitions: [String: JSONSchema]
    /// Whether any schema marks a secret, so that messages must not show values.
    let hasSecrets: Bool

    /// Compiles a schema; an empty text allows everything.
    init(text: String) throws(SchemaFault) {
        let value: ConfigValue
        do throws(JSONFault) {
            value = text.isEmpty ? .bool(true) : try ConfigValue(json: text)
        } catch {
            throw SchemaFault(path: "#", reason: "not JSON at byte \(error.offset): \(error.reason)")
        }
        root = try JSONSchema(value)
        var definitions: [String: JSONSchema] = [:]
        if let members = value["$defs"] {
            guard let members = members.members else { throw SchemaFault(path: "#/$defs", reason: "must be an object") }
            for (name, schema) in members {
                definitions[name] = try JSONSchema(schema, path: "#/$defs/\(name)")
            }
        }
        self.definitions = definitions
        hasSecrets = Self.marksSecret(value)
        for reference in Self.references(value) where definitions[reference] == nil {
            throw SchemaFault(path: "#", reason: "$ref names #/$defs/\(shortened(reference)), which does not exist")
        }
    }

    private static func marksSecret(_ value: ConfigValue) -> Bool {
        switch value {
        case .array(let elements): elements.contains { marksSecret($0) }
        case .object(let members):
            members.contains { ($0.key == "writeOnly" && $0.value.bool == true) || marksSecret($0.value) }
        default: false
        }
    }

    /// Returns the names of the definitions that the compiled parts of the schema refer to.
    private static func references(_ value: ConfigValue) -> [String] {
        switch value {
        case .array(let elements): elements.flatMap { references($0) }
        case .object(let members):
            members.flatMap { member in
                if member.key == "$ref", let name = member.value.string?.split(separator: "/").last {
                    return [String(name)]
                }
                return ["default", "examples", "enum", "const"].contains(member.key) ? [] : references(member.value)
            }
        default: []
        }
    }
}

/// Reads the keywords of one schema; each method throws if the value does not fit its keyword.
private struct SchemaKeywords {
    let value: ConfigValue
    let path: String

    func kinds() throws(SchemaFault) -> [JSONSchema.Kind] {
        guard let type = value["type"] else { return [] }
        let names = type.string.map { [ConfigValue.string($0)] } ?? type.array
        guard let names, !names.isEmpty else { throw fault("type", "must be a name or a list of names") }
        var kinds: [JSONSchema.Kind] = []
        for name in names {
            guard let kind = name.string.flatMap(JSONSchema.Kind.init(rawValue:)) else {
                throw fault("type", "unknown type \(quoted(name.string ?? name.json))")
            }
            kinds.append(kind)
        }
        return kinds
    }

    func schema(_ keyword: String) throws(SchemaFault) -> JSONSchema? {
        guard let schema = value[keyword] else { return nil }
        return try JSONSchema(schema, path: "\(path)/\(keyword)")
    }

    func schemas(in keyword: String) throws(SchemaFault) -> [String: JSONSchema] {
        guard let object = value[keyword] else { return [:] }
        guard let members = object.members else { throw fault(keyword, "must be an object") }
        var schemas: [String: JSONSchema] = [:]
        for (name, schema) in members {
            schemas[name] = try JSONSchema(schema, path: "\(path)/\(keyword)/\(name)")
        }
        return schemas
    }

    func list(_ keyword: String) throws(SchemaFault) -> [JSONSchema] {
        guard let list = value[keyword] else { return [] }
        guard let elements = list.array, !elements.isEmpty else { throw fault(keyword, "must be a list of schemas") }
        var schemas: [JSONSchema] = []
        for (index, element) in elements.enumerated() {
            schemas.append(try JSONSchema(element, path: "\(path)/\(keyword)/\(index)"))
        }
        return schemas
    }

    func names(_ keyword: String) throws(SchemaFault) -> [String] {
        guard let list = value[keyword] else { return [] }
        guard let names = list.array?.map(\.string), !names.contains(nil) else {
            throw fault(keyword, "must be a list of names")
        }
        return names.compactMap { $0 }
    }

    func choices() throws(SchemaFault) -> [ConfigValue]? {
        if let constant = value["const"] { return [constant] }
        guard let list = value["enum"] else { return nil }
        guard let elements = list.array, !elements.isEmpty else { throw fault("enum", "must be a list of values") }
        return elements
    }

    func reference() throws(SchemaFault) -> String? {
        guard let reference = value["$ref"] else { return nil }
        let prefix = "#/$defs/"
        guard let text = reference.string, text.hasPrefix(prefix), !text.dropFirst(prefix.count).contains("/") else {
            throw fault("$ref", "must be \(prefix)NAME")
        }
        return String(text.dropFirst(prefix.count))
    }

    func bounds() throws(SchemaFault) -> JSONSchema.Bounds {
        var bounds = JSONSchema.Bounds()
        bounds.minimum = try number("minimum")
        bounds.maximum = try number("maximum")
        bounds.exclusiveMinimum = try number("exclusiveMinimum")
        bounds.exclusiveMaximum = try number("exclusiveMaximum")
        bounds.length = try range("minLength", "maxLength")
        bounds.items = try range("minItems", "maxItems")
        return bounds
    }

    private func number(_ keyword: String) throws(SchemaFault) -> Double? {
        switch value[keyword] {
        case nil: return nil
        case .int(let number): return Double(number)
        case .double(let number): return number
        default: throw fault(keyword, "must be a number")
        }
    }

    private func range(_ least: String, _ most: String) throws(SchemaFault) -> ClosedRange<Int> {
        let low = try count(least) ?? 0
        let high = try count(most) ?? Int.max
        guard low <= high else { throw fault(least, "is more than \(most)") }
        return low...high
    }

    private func count(_ keyword: String) throws(SchemaFault) -> Int? {
        guard let count = value[keyword] else { return nil }
        guard let number = count.int, number >= 0 else { throw fault(keyword, "must be a number from 0") }
        return Int(number)
    }

    private func fault(_ keyword: String, _ reason: String) -> SchemaFault {
        SchemaFault(path: "\(path)/\(keyword)", reason: reason)
    }
}
