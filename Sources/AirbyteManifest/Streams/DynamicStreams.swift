internal import Model

/// Makes the streams of a `DynamicDeclarativeStream` whose components are known before a sync.
enum DynamicStreams {
    /// - Throws: ``Untranslatable`` if only the API knows which streams exist.
    static func streams(of dynamic: ConfigValue, _ scope: Scope) throws -> [ConfigValue] {
        guard let template = dynamic["stream_template"], let resolver = dynamic["components_resolver"] else {
            return []
        }
        let scope = scope.with(resolver)
        var values: [ConfigValue] = []
        let variable: String
        switch resolver.type {
        case "ConfigComponentsResolver":
            variable = "components_values"
            for config in resolver["stream_config"]?.array ?? [resolver["stream_config"] ?? .null] {
                let pointer = (config["configs_pointer"]?.array ?? []).compactMap {
                    (try? Template($0.printed, scope))?.known?.printed
                }
                guard let list = scope.inputs.known.at(pointer)?.array else {
                    throw Untranslatable(
                        "its streams are listed in the input \(pointer.joined(separator: ".")); give it with --set")
                }
                values += list + (config["default_values"]?.array ?? [])
            }
        case "ParametrizedComponentsResolver":
            variable = "stream_parameters"
            values = resolver["stream_parameters"]?["list_of_parameters_for_stream"]?.array ?? []
        default: throw Untranslatable("only the API knows which streams exist")
        }
        return try values.map { value in
            var scope = scope
            scope.variables[variable] = .literal(value)
            var stream = template
            for mapping in resolver["components_mapping"]?.array ?? [] {
                let inner = scope.with(mapping)
                if let condition = mapping["condition"]?.string,
                    try Template(condition, inner).known?.isTruthy == false
                {
                    continue
                }
                let path = try (mapping["field_path"]?.array ?? []).map {
                    try Template($0.printed, inner).known?.printed ?? $0.printed
                }
                guard let given = mapping["value"] else { continue }
                // What is not known stays an expression of the stream.
                let known = given.string == nil ? given : try Template(given.printed, inner).known ?? given
                stream = stream.setting(path[...], known)
            }
            return stream
        }
    }
}
