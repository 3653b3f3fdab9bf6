internal import BMO
internal import Model

/// The findings of `bmo doctor` about the configuration.
enum ConfigurationCheck {
    static func findings(_ workspace: Workspace, path: String) -> [Finding] {
        let configuration = workspace.configuration
        let bridges = Terminal.count(configuration.bridges.count, "bridge", "bridges")
        let entities = Terminal.count(configuration.model.entities.count, "entity", "entities")
        return [.ok("configuration", "\(path) is valid: \(bridges), \(entities)")]
            + configuration.warnings.map(finding)
    }

    static func finding(_ diagnostic: Diagnostic) -> Finding {
        let message = "\(diagnostic.location): \(diagnostic.message)"
        let remedy = diagnostic.remedy ?? "change this line; `bmo check` then says whether it is valid"
        return switch diagnostic.severity {
        case .error: .error("configuration", message, remedy: remedy)
        case .warning: .warning("configuration", message, remedy: remedy)
        }
    }
}
