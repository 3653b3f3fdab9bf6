extension Model {
    /// Returns whether the parents of a scan are in the entity's own table, so that the scan itself may add some.
    package func goesByItself(_ scan: ParentScan, of entity: Entity) -> Bool {
        guard let name = scan.relationship else { return true }
        let all = relationships(of: entity) + entity.sources.flatMap(\.relationships)
        guard let target = all.first(where: { $0.name == name }).flatMap({ self.entity(named: $0.target) }) else {
            return false
        }
        return root(of: target).name == root(of: entity).name
    }

    /// Returns whether the parents of an entity's own listing are objects that it lists itself, such as folders in a
    /// folder.
    package func isTree(_ entity: Entity) -> Bool {
        entity.parent.map { $0.relationship != nil && goesByItself($0, of: entity) } ?? false
    }

    /// Returns whether a source lists objects without needing existing ones; in a tree, the top-level objects.
    package func bringsTop(_ source: EntitySource, of entity: Entity) -> Bool {
        source.parent.map { !goesByItself($0, of: entity) } ?? true
    }

    /// Returns whether an entity is a tree without any listing of its top-level objects.
    package func lacksTop(_ entity: Entity) -> Bool {
        guard isTree(entity), !entity.sources.contains(where: { bringsTop($0, of: entity) }) else { return false }
        return !family(of: entity).contains { other in
            other.name != entity.name && other.isScanned
                && (!isTree(other) || other.sources.contains { bringsTop($0, of: other) })
        }
    }
}

/// Warns of entities that are scanned per object of their own, without a listing of the top-level objects.
struct TreeWarnings {
    let diagnostics: [Diagnostic]

    init(_ configuration: Configuration) {
        let model = configuration.model
        diagnostics = model.entities.filter(model.lacksTop).map { entity in
            Diagnostic(
                location: entity.location, severity: .warning,
                message: "entity \(quoted(entity.name)) is listed by its own objects "
                    + "(\"parent: \(entity.parent?.relationship ?? "")\"), but no source of it lists the first ones: "
                    + "unless another entity's records contain some, a sync finds none",
                remedy: "add a source without \"parent\" that lists the top")
        }
    }
}
