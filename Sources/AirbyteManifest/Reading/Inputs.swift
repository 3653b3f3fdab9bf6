internal import Model
internal import TextFormats

/// The inputs of a connector (`spec.connection_specification`), and their known values.
struct Inputs {
    /// An input that the manifest refers to and whose value the user has to supply.
    struct Open: Equatable, Sendable {
        /// The path in the connector's configuration.
        let path: [String]
        let isSecret: Bool
    }

    /// The known values: from `--set`, or else the specification's constants, defaults and first examples.
    private(set) var known: ConfigValue = .object([])
    /// The inputs whose value is an example from the specification.
    private(set) var examples: [(path: String, value: ConfigValue)] = []
    /// The alternatives that were not chosen, with the option that chooses each.
    private(set) var choices: [String] = []
    private var open: [String: Open] = [:]
    private let isUnspecified: Bool
    private let given: ConfigValue
    private let specification: ConfigValue?

    /// - Parameters:
    ///   - specification: A JSON Schema, or nil if the connector has none.
    ///   - set: The values that the user gave, by dotted paths.
    init(_ specification: ConfigValue?, set: [(name: String, value: String)]) {
        self.specification = specification
        isUnspecified = specification?["properties"] == nil
        var given = ConfigValue.object([])
        for (name, text) in set {
            let path = name.split(separator: ".").map(String.init)
            let declared = Self.declared(path[...], in: specification)?["type"]
            given = given.setting(path[...], Self.value(text, declared: declared))
        }
        self.given = given
        known = given
        if let specification { read(specification, path: []) }
        known = withoutSecrets(known, path: [])
    }

    /// Returns the value of an input, the input itself if the user has to supply it, or nil if it is not set.
    func value(at path: [String]) -> Value? {
        if let input = open[path.joined(separator: ".")] { return .open(input) }
        if isUnspecified, SecretNames.suggests(path.last ?? "") { return .open(Open(path: path, isSecret: true)) }
        if let value = known.at(path) { return value == .null ? nil : .known(value) }
        guard isUnspecified else { return nil }
        return .open(Open(path: path, isSecret: SecretNames.suggests(path.last ?? "")))
    }

    enum Value {
        case known(ConfigValue)
        case open(Open)
    }

    /// Returns whether an input has members whose values the user has to supply.
    func hasMembers(_ path: [String]) -> Bool {
        let prefix = path.joined(separator: ".") + "."
        return open.keys.contains { $0.hasPrefix(prefix) }
    }

    private mutating func read(_ schema: ConfigValue, path: [String]) {
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        for (name, property) in schema["properties"]?.members ?? [] {
            readProperty(property, path: path + [name], isRequired: required.contains(name))
        }
    }

    private mutating func readProperty(_ property: ConfigValue, path: [String], isRequired: Bool) {
        let dotted = path.joined(separator: ".")
        if let options = property["oneOf"]?.array ?? property["anyOf"]?.array, options.contains(where: Self.isObject) {
            choose(options.filter(Self.isObject), path: path, isRequired: isRequired)
            return
        }
        if property["properties"] != nil {
            read(property, path: path)
            return
        }
        // A secret is never written to the file, even if `--set` gives it.
        let isNamedSecret = Self.isNamedSecret(path, property) && property["default"] == nil
        if property["airbyte_secret"]?.bool == true || isNamedSecret && (isRequired || given.at(path) != nil) {
            open[dotted] = Open(path: path, isSecret: true)
            return
        }
        if given.at(path) != nil { return }
        if let value = property["const"] ?? property["default"] {
            known = known.setting(path[...], value)
        } else if isRequired, let value = property["examples"]?.array?.first ?? property["enum"]?.array?.first,
            !value.printed.uppercased().contains("YYYY")
        {
            known = known.setting(path[...], value)
            examples.append((dotted, value))
        } else if isRequired {
            open[dotted] = Open(path: path, isSecret: false)
        }
    }

    /// Whether an input's name suggests a secret, unless the specification lists its possible values.
    private static func isNamedSecret(_ path: [String], _ property: ConfigValue?) -> Bool {
        let isListed = property?["const"] != nil || property?["enum"] != nil
        return SecretNames.suggests(path.last ?? "") && !isListed && property?["type"] != "boolean"
    }

    /// Removes the secrets from the known values; they become inputs from the environment.
    ///
    /// The members of a list cannot be named, so secrets in them are just removed.
    private mutating func withoutSecrets(_ value: ConfigValue, path: [String]) -> ConfigValue {
        if let elements = value.array { return .array(elements.map { withoutSecrets($0, path: path + ["[]"]) }) }
        guard let members = value.members else { return value }
        var kept: [(key: String, value: ConfigValue)] = []
        for (name, inner) in members {
            let path = path + [name]
            let isGroup = inner.members != nil || inner.array != nil
            let property = Self.declared(path[...], in: specification)
            if open[path.joined(separator: ".")] != nil { continue }
            if !isGroup, given.at(path) != nil || path.contains("[]"), Self.isNamedSecret(path, property) {
                if !path.contains("[]") { open[path.joined(separator: ".")] = Open(path: path, isSecret: true) }
                continue
            }
            kept.append((name, withoutSecrets(inner, path: path)))
        }
        return .object(kept)
    }

    private static func isObject(_ schema: ConfigValue) -> Bool { schema["properties"] != nil }

    /// Chooses one of several alternatives: the one that `--set` names, or else the first that needs no OAuth consent.
    private mutating func choose(_ options: [ConfigValue], path: [String], isRequired: Bool) {
        func constants(_ option: ConfigValue) -> [(key: String, value: ConfigValue)] {
            (option["properties"]?.members ?? []).compactMap { name, schema in
                let only = schema["enum"]?.array.flatMap { $0.count == 1 ? $0.first : nil }
                return (schema["const"] ?? only).map { (name, $0) }
            }
        }
        func fits(_ option: ConfigValue) -> Bool {
            let group = given.at(path)
            let set = constants(option).filter { group?[$0.key] != nil }
            if !set.isEmpty { return set.allSatisfy { group?[$0.key] == $0.value } }
            let names = Set((option["properties"]?.members ?? []).map(\.key))
            return !(group?.members ?? []).isEmpty && (group?.members ?? []).allSatisfy { names.contains($0.key) }
        }
        func needsConsent(_ option: ConfigValue) -> Bool { option["properties"]?["refresh_token"] != nil }
        let chosen =
            options.first(where: fits) ?? options.first { !needsConsent($0) } ?? options[0]
        read(chosen, path: path)
        for option in options where option != chosen {
            guard let title = option["title"]?.string, let mark = constants(option).first else { continue }
            choices.append(
                "\(title): --set \((path + [mark.key]).joined(separator: "."))=\(mark.value.printed)")
        }
    }

    private static func declared(_ path: ArraySlice<String>, in schema: ConfigValue?) -> ConfigValue? {
        guard let schema, let name = path.first else { return schema }
        if let property = schema["properties"]?[name] { return declared(path.dropFirst(), in: property) }
        let options = (schema["oneOf"]?.array ?? []) + (schema["anyOf"]?.array ?? [])
        return options.lazy.compactMap { declared(path, in: $0) }.first
    }

    /// Reads a value as its declared type; lists and objects are JSON.
    private static func value(_ text: String, declared: ConfigValue?) -> ConfigValue {
        let types = declared?.array?.compactMap(\.string) ?? [declared?.string].compactMap(\.self)
        if text.hasPrefix("[") || text.hasPrefix("{"), let value = try? ConfigValue(json: text) { return value }
        if types.contains("boolean"), ["true", "false"].contains(text.lowercased()) {
            return .bool(text.lowercased() == "true")
        }
        if types.contains("integer") || types.contains("number") {
            if let number = Int64(text) { return .int(number) }
            if let number = Double(text) { return .double(number) }
        }
        if types.contains("array") { return .array(text.split(separator: ",").map { .string(String($0)) }) }
        return .string(text)
    }
}
