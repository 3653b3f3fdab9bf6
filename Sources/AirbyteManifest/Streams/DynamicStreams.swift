internal import Model

/// Makes the streams of a `DynamicDeclarativeStream` whose components are known before a sync.
///
/// The rules are those of the CDK's ConfigComponentsResolver and ParametrizedComponentsResolver.
enum DynamicStreams {
    private static let maxStreams = 1000

    /// - Throws: ``Untranslatable`` if only the API knows which streams exist.
    static func streams(of dynamic: ConfigValue, _ scope: Scope) throws -> [ConfigValue] {
        guard let template = dynamic["stream_template"], let resolver = dynamic["components_resolver"] else {
            return []
        }
        let scope = scope.with(resolver)
        let values: [ConfigValue]
        switch resolver.type {
        case "ConfigComponentsResolver":
            let configs = resolver["stream_config"]?.array ?? [resolver["stream_config"] ?? .null]
            values = try combined(try configs.map { try self.values(of: $0, scope) })
        case "ParametrizedComponentsResolver":
            values = resolver["stream_parameters"]?["list_of_parameters_for_stream"]?.array ?? []
        default: throw Untranslatable("only the API knows which streams exist")
        }
        guard values.count <= maxStreams else { throw tooMany }
        return try values.map { value in
            var scope = scope
            scope.variables["components_values"] = .literal(value)
            return try (resolver["components_mapping"]?.array ?? []).reduce(template) { stream, mapping in
                try mapped(stream, mapping, scope.with(mapping))
            }
        }
    }

    private static var tooMany: Untranslatable { Untranslatable("it makes more than \(maxStreams) streams") }

    private static func values(of config: ConfigValue, _ scope: Scope) throws -> [ConfigValue] {
        let pointer = (config["configs_pointer"]?.array ?? []).compactMap {
            (try? Template($0.printed, scope))?.known?.printed
        }
        let defaults = config["default_values"]?.array ?? []
        guard let found = scope.inputs.known.at(pointer) else {
            guard defaults.isEmpty else { return defaults }
            throw Untranslatable(
                "its streams are listed in the input \(pointer.joined(separator: ".")); give it with --set")
        }
        return (found.array ?? [found]) + defaults
    }

    /// All combinations of one value from each list; each is one object with the members of its values.
    private static func combined(_ lists: [[ConfigValue]]) throws -> [ConfigValue] {
        try lists.reduce([.object([])]) { done, list in
            guard list.count <= maxStreams, done.count * list.count <= maxStreams else { throw tooMany }
            return try done.flatMap { first in
                try list.map { second in
                    guard let members = second.members else {
                        throw Untranslatable("the values that list its streams are not objects")
                    }
                    return members.reduce(first) { $0.setting($1.key, $1.value) }
                }
            }
        }
    }

    /// Puts the value of a mapping into a stream.
    private static func mapped(_ stream: ConfigValue, _ mapping: ConfigValue, _ scope: Scope) throws -> ConfigValue {
        if let condition = mapping["condition"]?.string, !condition.isEmpty {
            guard let known = try Template(condition, scope).known else {
                throw Untranslatable("the condition \(condition) of a mapping is known only during a sync")
            }
            if !known.isTruthy || known == "False" { return stream }
        }
        let path = try (mapping["field_path"]?.array ?? []).map { part in
            guard let name = try Template(part.printed, scope).known?.printed,
                !name.contains(where: { "*?[".contains($0) })
            else { throw Untranslatable("the path \(part.printed) of a mapping is a pattern") }
            return name
        }
        guard let given = mapping["value"] else { return stream }
        // A value that is not known stays an expression in the stream.
        let known = given.string == nil ? given : try Template(given.printed, scope).known ?? given
        let isNew = stream.at(path) == nil
        if isNew, mapping["create_or_update"]?.isTruthy != true || !known.isTruthy { return stream }
        return stream.setting(path[...], known)
    }
}
