/// Warns of secrets that would not be found now: the file is valid, but its bridges will not open.
struct SecretWarnings {
    private(set) var diagnostics: [Diagnostic] = []

    init(_ configuration: Configuration, environment: [String: String]) {
        for bridge in configuration.bridges {
            for reference in Self.references(in: bridge.options) {
                guard case .env(let name) = reference, environment[name, default: ""].isEmpty else { continue }
                let state = environment[name] == nil ? "not set" : "empty"
                diagnostics.append(
                    Diagnostic(
                        location: bridge.location, severity: .warning,
                        message: "the environment variable \(name) of bridge \(quoted(bridge.name)) is \(state)",
                        remedy: "set it before the bridge is used"))
            }
        }
    }

    private static func references(in value: ConfigValue) -> [SecretReference] {
        switch value {
        case .secret(let reference): [reference]
        case .array(let elements): elements.flatMap { references(in: $0) }
        case .object(let members): members.flatMap { references(in: $0.value) }
        default: []
        }
    }
}
