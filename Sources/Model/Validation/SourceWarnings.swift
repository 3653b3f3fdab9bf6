/// Warns of further sources that may add rows of their own: the file is valid, but may not match the author's intent.
struct SourceWarnings {
    let diagnostics: [Diagnostic]

    init(_ configuration: Configuration) {
        let model = configuration.model
        diagnostics = model.entities.flatMap { entity in
            guard model.root(of: entity).deletes.mode != .ignore else { return [Diagnostic]() }
            // A scan per object of the entity returns existing objects only.
            return entity.sources.filter { $0.parent == nil || $0.parent?.relationship != nil }.map { source in
                Diagnostic(
                    location: source.location, severity: .warning,
                    message: "rows that only source \(quoted(source.name)) of entity \(quoted(entity.name)) provides "
                        + "are never deleted: its listing does not show what was deleted",
                    remedy: "make it a separate entity if it lists objects that the entity's own listing does not "
                        + "have, or say \"deletes: ignore\"")
            }
        }
    }
}
