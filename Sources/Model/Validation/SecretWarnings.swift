/// Warns of secrets whose variable is not set or empty: the file is valid, but its bridges will not open.
struct SecretWarnings {
    private(set) var diagnostics: [Diagnostic] = []

    init(_ configuration: Configuration, environment: [String: String]) {
        for bridge in configuration.bridges {
            for reference in bridge.secrets {
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

    static func references(in value: ConfigValue) -> [SecretReference] {
        switch value {
        case .secret(let reference): [reference]
        case .array(let elements): elements.flatMap { references(in: $0) }
        case .object(let members): members.flatMap { references(in: $0.value) }
        default: []
        }
    }
}

extension Configuration {
    /// The environment variables that hold secrets of the bridges.
    package var secretVariables: Set<String> {
        Set(
            bridges.flatMap(\.secrets).compactMap { reference in
                if case .env(let name) = reference { name } else { nil }
            })
    }

    /// The files that hold secrets of the bridges, as absolute paths.
    package var secretFiles: Set<String> {
        Set(
            bridges.flatMap(\.secrets).compactMap { reference in
                if case .file(let path) = reference { FilePath.absolute(path, relativeTo: directory) } else { nil }
            })
    }
}

extension BridgeConfiguration {
    /// The secrets of the options and of the hook.
    fileprivate var secrets: [SecretReference] {
        SecretWarnings.references(in: options) + [hook?.secret].compactMap(\.self)
    }
}

extension ConfigValue {
    /// The environment variables that the value refers to.
    package var secretVariables: Set<String> {
        Set(
            SecretWarnings.references(in: self).compactMap { reference in
                if case .env(let name) = reference { name } else { nil }
            })
    }
}
