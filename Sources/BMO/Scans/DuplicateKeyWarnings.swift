internal import Importer
internal import Mapping

/// Warnings for keys that several remote objects share.
struct DuplicateKeyWarnings {
    private let entity: Int
    private let parent: String?
    private let model: CompiledModel
    /// Whether the listing is paged by position: then a concurrent change may have repeated a record, too.
    private let isPositional: Bool

    init(_ plan: ScanPlan, _ model: CompiledModel, isPositional: Bool = false) {
        self.init(plan.index, parent: plan.parent?.relationship, model, isPositional: isPositional)
    }

    init(_ entity: Int, parent name: String?, _ model: CompiledModel, isPositional: Bool = false) {
        self.entity = entity
        parent = name
        self.model = model
        self.isPositional = isPositional
    }

    private var layout: EntityLayout { model.entities[entity] }

    /// Attributes that would read the parent's key: a key has no relationships.
    private var parentKey: [(name: String, type: String, path: String)] {
        let relationship = model.model.relationships(of: model.model.entities[entity]).first { $0.name == parent }
        let key = relationship.flatMap { model.model.entity(named: $0.target) }.map(model.model.key(of:)) ?? []
        return key.map { part in
            let source = relationship?.source.description ?? ""
            // The columns of a relationship to an entity with several key attributes already have such names.
            let own = "\(parent ?? "")_\(part.name)"
            let path = if key.count > 1, case .path(let inner) = part.source { "\(source).\(inner)" } else { source }
            return (layout.fields.contains { $0.name == own } ? "of_\(own)" : own, part.type.rawValue, path)
        }
    }

    /// Returns a line for each kind of repetition that a scan found.
    func warnings(of sweep: SweepResult) -> [String] {
        [sweep.shared.map(shared), sweep.repeated.map(repeated)].compactMap { $0 }
    }

    private func shared(_ keys: RepeatedKeys) -> String {
        let name = parent ?? "parent"
        let parents = keys.parents.map { "\(name) \(Self.text($0))" }.joined(separator: ", ")
        let parentKey = parentKey
        let key = (parentKey.map(\.name) + layout.key.map { layout.fields[$0].name }).joined(separator: ", ")
        let words = "key \(Self.text(keys.key)) occurs under two parents (\(parents))\(more(keys))"
        // A scan by the entity's own objects has no relationship for an attribute to read.
        guard !parentKey.isEmpty else {
            return "\(words): if these are several objects, add the attribute that distinguishes them to `key`"
        }
        let attributes = parentKey.map { "`\($0.name): {type: \($0.type), from: \($0.path)}`" }.joined(separator: ", ")
        return "\(words): use `key: [\(key)]` with the attribute \(attributes)"
    }

    private func repeated(_ keys: RepeatedKeys) -> String {
        let words = "key \(Self.text(keys.key)) occurs twice in one listing, with different values\(more(keys))"
        guard !isPositional else {
            return
                "\(words), as happens if an object changes while the pages are fetched: the last one is kept; if it happens "
                + "with each sync, these are several objects: then add the attribute that distinguishes them to `key`"
        }
        return
            "\(words): the last one is kept; if these are several objects, add the attribute that distinguishes them "
            + "to `key`"
    }

    private func more(_ keys: RepeatedKeys) -> String {
        switch keys.count {
        case ...1: ""
        case 2: ", and so did another key"
        default: ", and so did \(keys.count - 1) more keys"
        }
    }

    private static func text(_ key: [StoredValue]) -> String { key.map(\.description).joined(separator: " ") }
}
