/// The attributes that syncs learned from the records of entities with `attributes: auto`, in a YAML file beside the
/// configuration with a mapping of attributes per entity.
///
/// The file is separate from the database, because opening the database requires the model. It can be read, edited and
/// kept under version control.
package enum LearnedAttributes {
    /// The word that a configuration uses in place of a mapping of attributes.
    package static let word = "auto"

    /// Returns the path of the file: `bmo.auto.yml` for `bmo.yml`, and in the process's folder for a pipe or a device.
    package static func path(beside file: String) -> String {
        if FilePath.isStream(file) { return FilePath.base(of: file) + "/bmo.auto.yml" }
        let ending = [".yml", ".yaml"].first { file.hasSuffix($0) } ?? ""
        return file.dropLast(ending.count) + ".auto.yml"
    }

    /// Returns the file's mappings by entity, or the reasons why it cannot be read.
    static func read(beside file: String) -> (entities: [String: YAMLNode], faults: [Diagnostic]) {
        let learned = ConfigurationFile(path: path(beside: file))
        if learned.isMissing { return ([:], []) }
        guard learned.faults.isEmpty else { return ([:], learned.faults) }
        guard let root = learned.root, !root.isNull else { return ([:], []) }
        guard case .mapping(let pairs) = root.content else {
            let fault = Diagnostic(
                location: SourceLocation(file: learned.path, line: 1, column: 1),
                message: "the file is not a mapping of entities", remedy: "remove it: the next sync writes it again")
            return ([:], [fault])
        }
        let entities = pairs.compactMap { pair in pair.key.keyName.map { ($0, pair.value) } }
        return (Dictionary(entities, uniquingKeysWith: { first, _ in first }), [])
    }
}
