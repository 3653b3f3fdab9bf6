internal import Foundation
internal import TextFormats
public import Mapping
public import Model

/// A database, bridges and entities that are defined in code, equivalent to a configuration file.
///
/// ```swift
/// let world = ModelDefinition(
///     database: "world.sqlite",
///     bridges: ["world": .plugin("rest", options: ["url": "https://api.example.com"])],
///     entities: [
///         EntityDefinition(
///             "Country", bridge: "world", key: "code",
///             attributes: ["code": .text, "name": .text.from("name.common"), "population": .integer],
///             relationships: ["cities": .many("City", inverse: "country")], section: ["path": "/countries"]),
///     ])
/// ```
public struct ModelDefinition: Sendable {
    /// A bridge with its options: a plugin, or a bridge linked into the program, by its name.
    public struct Bridge: Sendable {
        let plugin: String
        let options: ConfigValue

        /// Returns a bridge; secrets among the options are `.secret(.env("NAME"))` or `.secret(.file("PATH"))`.
        public static func plugin(_ name: String, options: ConfigValue = [:]) -> Bridge {
            Bridge(plugin: name, options: options)
        }
    }

    let database: String
    let bridges: [(name: String, bridge: Bridge)]
    let entities: [EntityDefinition]

    /// Creates a definition, which is checked when it is loaded.
    ///
    /// - Parameters:
    ///   - database: The path of the file, or the URI of a PostgreSQL database.
    ///   - bridges: The bridges, by the names that entities use.
    ///   - entities: The entities, in the order of their tables.
    public init(database: String, bridges: KeyValuePairs<String, Bridge>, entities: [EntityDefinition]) {
        self.database = database
        self.bridges = bridges.map { (name: $0.key, bridge: $0.value) }
        self.entities = entities
    }

    /// The code of its attributes and entities.
    var code: CustomCode {
        let attributes = entities.flatMap(\.attributes).map(\.1)
        return CustomCode(
            transformers: attributes.flatMap(\.transformers), matchers: entities.compactMap(\.matcher),
            merges: attributes.compactMap(\.merge), limit: codeLimit)
    }

    /// How long a call of its code may take; see `CustomCode`.
    public var codeLimit = Duration.seconds(1)

    /// The names of the plugins of its bridges.
    package var plugins: Set<String> { Set(bridges.map(\.bridge.plugin)) }

    /// The definition as the text of a configuration file (JSON, which is YAML), and the path that relative paths are
    /// resolved against.
    var text: (text: String, path: String) {
        let isURI = DatabaseURI.isURI(database)
        let path = URL(fileURLWithPath: isURI ? "database" : database)
        let config = ConfigValue.object([
            ("version", .int(1)), ("database", .string(isURI ? database : path.path)),
            (
                "bridges",
                .object(
                    bridges.map { name, bridge in
                        (name, .object([("plugin", .string(bridge.plugin)), ("options", bridge.options)]))
                    })
            ),
            (
                "entities",
                .object(
                    entities.map { entity in
                        let bridge = bridges.first { $0.name == entity.bridge }?.bridge
                        return (entity.name, entity.value(plugin: bridge?.plugin))
                    })
            ),
        ])
        let folder = path.deletingLastPathComponent()
        let name = isURI ? "a database" : path.lastPathComponent
        return (config.json, folder.appendingPathComponent("(the definition of \(name))").path)
    }

    /// Returns the text without the address of the database, if that has a password.
    func hidingPassword(in text: String) -> String {
        guard DatabaseURI.isURI(database), DatabaseURI.hasLiteralPassword(database) else { return text }
        return text.replacing(database.jsonQuoted, with: "\"***\"")
    }
}

/// An entity that is defined in code.
public struct EntityDefinition: Sendable {
    let name: String
    let bridge: String?
    let key: [String]
    let attributes: [(String, AttributeDefinition)]
    let relationships: [(String, RelationshipDefinition)]
    let section: ConfigValue
    private(set) var settings: [(String, ConfigValue)]
    private(set) var matcher: RecordMatcher?

    /// Creates an entity, which is checked when it is loaded.
    ///
    /// - Parameters:
    ///   - name: The name of the entity and its table.
    ///   - bridge: The name of the bridge that provides its objects; nil for a sub-entity without its own listing.
    ///   - key: The attributes that identify an object; none where the settings have `unique` or `extends`.
    ///   - attributes: The attributes, by name.
    ///   - relationships: The relationships, by name.
    ///   - section: The plugin's settings for the entity.
    ///   - settings: Further keys of an entity, as in docs/configuration.md: `["deletes": "soft"]`.
    public init(
        _ name: String, bridge: String?, key: String..., attributes: KeyValuePairs<String, AttributeDefinition>,
        relationships: KeyValuePairs<String, RelationshipDefinition> = [:], section: ConfigValue = [:],
        settings: KeyValuePairs<String, ConfigValue> = [:]
    ) {
        self.name = name
        self.bridge = bridge
        self.key = key
        self.attributes = attributes.map { ($0.key, $0.value) }
        self.relationships = relationships.map { ($0.key, $0.value) }
        self.section = section
        self.settings = settings.map { ($0.key, $0.value) }
    }

    /// Returns the sub-entity whose records code recognises, in place of `when`.
    public func recognized(by matcher: RecordMatcher) -> EntityDefinition {
        var copy = self
        copy.settings.append(("when", ["code": .string(matcher.name)]))
        copy.matcher = matcher
        return copy
    }

    func value(plugin: String?) -> ConfigValue {
        var members: [(key: String, value: ConfigValue)] = []
        if let bridge { members.append(("bridge", .string(bridge))) }
        if !key.isEmpty { members.append(("key", .array(key.map { .string($0) }))) }
        members.append(("attributes", .object(attributes.map { ($0, $1.value) })))
        if !relationships.isEmpty {
            members.append(("relationships", .object(relationships.map { ($0, $1.value) })))
        }
        members += settings.map { (key: $0.0, value: $0.1) }
        if let plugin, section.members?.isEmpty == false { members.append((plugin, section)) }
        return .object(members)
    }
}

/// An attribute that is defined in code: its type, and where its value comes from.
public struct AttributeDefinition: Sendable {
    private let type: AttributeType
    private var settings: [(key: String, value: ConfigValue)] = []
    private(set) var transformers: [ValueTransformer] = []
    private(set) var merge: ValueMerge?

    /// Creates an attribute that reads the record's member of the same name.
    public init(_ type: AttributeType) { self.type = type }

    /// Unicode text.
    public static let text = AttributeDefinition(.text)
    /// A 64-bit integer.
    public static let integer = AttributeDefinition(.integer)
    /// A double-precision number.
    public static let real = AttributeDefinition(.real)
    /// True or false.
    public static let boolean = AttributeDefinition(.boolean)
    /// A number kept as its exact decimal text.
    public static let decimal = AttributeDefinition(.decimal)
    /// A timestamp, in microseconds.
    public static let timestamp = AttributeDefinition(.timestamp)
    /// A calendar date.
    public static let date = AttributeDefinition(.date)
    /// Bytes.
    public static let data = AttributeDefinition(.data)
    /// Any JSON value.
    public static let json = AttributeDefinition(.json)
    /// A URL.
    public static let url = AttributeDefinition(.url)
    /// A UUID.
    public static let uuid = AttributeDefinition(.uuid)

    /// Returns the attribute reading a path of the record: `address.city`.
    public func from(_ path: String) -> AttributeDefinition { with("from", .string(path)) }

    /// Returns the attribute with a further key, as in docs/configuration.md: `with("transform", ["trim"])`.
    public func with(_ key: String, _ value: ConfigValue) -> AttributeDefinition {
        var copy = self
        copy.settings.append((key, value))
        return copy
    }

    /// Returns the attribute with code as the last step of its transformation.
    public func transformed(by transformer: ValueTransformer) -> AttributeDefinition {
        var copy = self
        let step: ConfigValue = ["code": .string(transformer.name)]
        if let index = copy.settings.firstIndex(where: { $0.key == "transform" }) {
            let earlier = copy.settings[index].value
            let steps = if case .array(let steps) = earlier { steps } else { [earlier] }
            copy.settings[index].value = .array(steps + [step])
        } else {
            copy.settings.append(("transform", step))
        }
        copy.transformers.append(transformer)
        return copy
    }

    /// Returns the attribute whose value code merges where it was changed here and on the remote.
    public func merged(by merge: ValueMerge) -> AttributeDefinition {
        var copy = with("merge", ["code": .string(merge.name)])
        copy.merge = merge
        return copy
    }

    var value: ConfigValue { .object([("type", .string(type.rawValue))] + settings) }
}

/// A relationship that is defined in code.
public struct RelationshipDefinition: Sendable {
    private var settings: [(key: String, value: ConfigValue)]

    /// Returns a relationship to at most one object, read from the record's member of the relationship's name, or from
    /// a path.
    public static func one(_ entity: String, from path: String? = nil, inverse: String? = nil) -> Self {
        Self(end: "to", entity, path, inverse)
    }

    /// Returns a relationship to any number of objects.
    public static func many(_ entity: String, from path: String? = nil, inverse: String? = nil) -> Self {
        Self(end: "many", entity, path, inverse)
    }

    private init(end: String, _ entity: String, _ path: String?, _ inverse: String?) {
        settings = [(end, .string(entity))]
        if let path { settings.append(("from", .string(path))) }
        if let inverse { settings.append(("inverse", .string(inverse))) }
    }

    /// Returns the relationship with a further key, as in docs/configuration.md: `with("merge", "append")`.
    public func with(_ key: String, _ value: ConfigValue) -> RelationshipDefinition {
        var copy = self
        copy.settings.append((key, value))
        return copy
    }

    var value: ConfigValue { .object(settings) }
}

extension ConfigurationErrors {
    /// Returns the errors with the quoted lines of a generated text, which the user has no other way to see.
    func quoting(_ text: String) -> ConfigurationErrors {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return ConfigurationErrors(
            diagnostics: diagnostics.map { diagnostic in
                let line = diagnostic.location.line - 1
                guard lines.indices.contains(line) else { return diagnostic }
                var diagnostic = diagnostic
                diagnostic.message += " (in: \(lines[line].drop { $0 == " " }))"
                return diagnostic
            })
    }
}
