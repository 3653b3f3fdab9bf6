/// Warns of secrets whose variable is not set or empty: the file is valid, but its bridges will not open.
struct SecretWarnings {
    private(set) var diagnostics: [Diagnostic] = []
    private let environment: [String: String]

    init(_ configuration: Configuration, environment: [String: String]) {
        self.environment = environment
        for bridge in configuration.bridges {
            for case .env(let name) in bridge.secrets {
                warn(of: name, "bridge \(quoted(bridge.name))", bridge.location)
            }
        }
        // A section of a bridge is in the section of each of its entities.
        var warned: Set<String> = []
        for entity in configuration.model.entities {
            for case .env(let name) in entity.secrets where warned.insert(name).inserted {
                warn(of: name, "entity \(quoted(entity.name))", entity.location)
            }
        }
    }

    private mutating func warn(of name: String, _ what: String, _ place: SourceLocation) {
        guard environment[name, default: ""].isEmpty else { return }
        let state = environment[name] == nil ? "not set" : "empty"
        diagnostics.append(
            Diagnostic(
                location: place, severity: .warning,
                message: "the environment variable \(name) of \(what) is \(state)",
                remedy: "set it before the bridge is used"))
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
    /// The environment variables that hold secrets of the bridges and of the entities' sections.
    package var secretVariables: Set<String> {
        Set(
            secrets.compactMap { reference in
                if case .env(let name) = reference { name } else { nil }
            })
    }

    /// The files that hold secrets of the bridges and of the entities' sections, as absolute paths.
    package var secretFiles: Set<String> {
        Set(
            secrets.compactMap { reference in
                if case .file(let path) = reference { FilePath.absolute(path, relativeTo: directory) } else { nil }
            })
    }

    private var secrets: [SecretReference] { bridges.flatMap(\.secrets) + model.entities.flatMap(\.secrets) }
}

extension Entity {
    /// The secrets of the sections, also those of further sources.
    fileprivate var secrets: [SecretReference] {
        ([section, readOne].compactMap(\.self) + sources.map(\.section))
            .flatMap { SecretWarnings.references(in: $0) }
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
