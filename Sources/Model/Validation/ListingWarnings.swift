/// Warns of entities that would be fetched from their API's root: the file is valid, but may not match the author's
/// intent.
struct ListingWarnings {
    private(set) var diagnostics: [Diagnostic] = []

    init(_ configuration: Configuration) {
        for entity in configuration.model.entities where entity.isScanned {
            warn(of: "entity \(quoted(entity.name))", entity.section, entity.bridge, entity.location, configuration)
            for source in entity.sources {
                warn(
                    of: "source \(quoted(source.name)) of entity \(quoted(entity.name))", source.section, source.bridge,
                    source.location, configuration)
            }
        }
    }

    /// Warns of a section without a listing's path, for a REST API, whose listings are at paths.
    private mutating func warn(
        of what: String, _ section: ConfigValue, _ bridge: String, _ location: SourceLocation,
        _ configuration: Configuration
    ) {
        guard let bridge = configuration.bridge(named: bridge), bridge.plugin == "rest",
            !Self.places.contains(where: { section[$0] != nil })
        else { return }
        let name = bridge.plugin
        diagnostics.append(
            Diagnostic(
                location: location, severity: .warning,
                message: "\(what) has no \"path\" in its section \(quoted(name)): it is fetched from the url of bridge "
                    + "\(quoted(bridge.name)) itself",
                remedy: "add \"\(name): {path: /...}\" (\"path: /\" if the url is right), or \"listing: none\" if its "
                    + "objects are only nested in others"))
    }

    /// The members of a section that specify the request.
    private static let places = ["path", "graphql", "query", "body", "records", "preset", "format", "method"]
}
