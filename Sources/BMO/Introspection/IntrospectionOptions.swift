internal import BridgeHost
internal import Model

/// The options of an inspected bridge, given as texts on the command line.
enum IntrospectionOptions {
    /// Converts options to numbers and booleans where the schema does not accept text.
    static func typed(
        _ options: [(key: String, value: ConfigValue)], by schema: String
    ) -> [(key: String, value: ConfigValue)] {
        let properties = (try? ConfigValue(json: schema))?["properties"]
        return options.map { name, value in
            guard case .string(let text) = value, let type = properties?[name]?["type"]?.string else {
                return (name, value)
            }
            switch type {
            case "integer": return (name, Int64(text).map { .int($0) } ?? value)
            case "number": return (name, Double(text) == nil ? value : (try? ConfigValue(json: text)) ?? value)
            case "boolean": return (name, ["true": .bool(true), "false": .bool(false)][text] ?? value)
            default: return (name, value)
            }
        }
    }

    /// Validates the options against the bridge's schema, so that the bridge need not.
    ///
    /// - Throws: ``IntrospectionError``.
    static func check(_ options: [(key: String, value: ConfigValue)], of plugin: PluginListing) throws {
        let schema = PluginSchema(
            name: plugin.name, optionsSchema: plugin.optionsSchema, entitySchema: plugin.entitySchema)
        let bridge = ConfigValue.object([("plugin", .string(plugin.name)), ("options", .object(options))])
        let whole = ConfigValue.object([
            ("version", .int(1)), ("bridges", .object([(plugin.name, bridge)])), ("entities", .object([])),
        ])
        do {
            _ = try ConfigurationFile.load(text: whole.json, path: "", plugins: [schema])
        } catch {
            // The configuration has no entities yet: report only the bridge's faults.
            let faults = error.diagnostics.filter { $0.message.contains("bridge \"\(plugin.name)\"") }
            guard !faults.isEmpty else { return }
            throw IntrospectionError(
                message: faults.map(\.message).joined(separator: "; "),
                remedy: faults.compactMap(\.remedy).first.map { "\($0); `bmo plugins info \(plugin.name)` shows all" }
                    ?? "`bmo plugins info \(plugin.name)` shows them, and --option NAME=VALUE sets one")
        }
    }
}
