/// Warns of scans that append a record again: the file is valid, but may not match the author's intent.
struct AppendWarnings {
    let diagnostics: [Diagnostic]

    init(_ configuration: Configuration) {
        diagnostics = configuration.model.entities.compactMap { entity in
            guard entity.uniquing == .none, case .field(let name, _, _)? = entity.incremental else { return nil }
            return Diagnostic(
                location: entity.location, severity: .warning,
                message: "entity \(quoted(entity.name)) has no key, and each sync asks from its newest "
                    + "\(quoted(name)) on: if the API takes that as \"from and including\", the last record is appended "
                    + "by each sync",
                remedy: "give it a \"key:\", or make sure that the API lists only what is newer")
        }
    }
}
