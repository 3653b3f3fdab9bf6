/// The attributes that syncs learned from the records of entities with `attributes: auto`, in a YAML file beside the
/// configuration with a mapping of attributes per entity.
///
/// The file is separate from the database, because opening the database requires the model. It can be read, edited and
/// kept under version control.
package enum LearnedAttributes {
    /// The word that a configuration uses in place of a mapping of attributes.
    package static let word = "auto"

    /// Returns the path of the file: `bmo.auto.yml` for `bmo.yml`.
    package static func path(beside file: String) -> String {
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
                message: "the file is no mapping of entities", remedy: "remove it: the next sync writes it anew")
            return ([:], [fault])
        }
        let entities = pairs.compactMap { pair in pair.key.keyName.map { ($0, pair.value) } }
        return (Dictionary(entities, uniquingKeysWith: { first, _ in first }), [])
    }
}

extension ConfigurationReader {
    /// The state of an entity's automatic attributes.
    enum AutomaticAttributes {
        /// The configuration declares the attributes.
        case none
        /// They are in the file of ``LearnedAttributes``.
        case learned
        /// No sync has seen a record yet.
        case unknown
    }

    /// Replaces `attributes: auto` by the learned attributes.
    mutating func readAutomatic(_ members: inout [Member], of entity: String, _ what: String) -> AutomaticAttributes {
        guard let index = members.firstIndex(where: { $0.name == "attributes" }),
            members[index].value.scalarText == LearnedAttributes.word
        else { return .none }
        for name in ["extends", "when", "listing", "parent"] {
            guard let other = members.first(where: { $0.name == name }) else { continue }
            error(
                at: other.key.mark, "\(what) has \"attributes: auto\" and \(quoted(name))",
                "write its attributes: only the records of a listing of its own can be looked at before a sync")
            return .unknown
        }
        if learned == nil {
            let (entities, faults) = LearnedAttributes.read(beside: file)
            learned = entities
            diagnostics += faults
        }
        guard let known = learned?[entity] else {
            let name = LearnedAttributes.path(beside: file).split(separator: "/").last.map(String.init) ?? ""
            error(
                at: members[index].value.mark,
                "the attributes of \(what) are \"auto\", and no sync has looked at its records yet",
                "run \"bmo sync\", which writes what it finds into \(name), or write them")
            return .unknown
        }
        members[index].value = known
        return .learned
    }

    /// Reassigns the diagnostics from index `first` to the file of learned attributes.
    mutating func moveToLearned(from first: Int) {
        for index in diagnostics.indices.dropFirst(first) where diagnostics[index].location.file == file {
            diagnostics[index].location.file = LearnedAttributes.path(beside: file)
        }
    }
}
