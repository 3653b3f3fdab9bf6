package import Mapping
package import Model
package import StoreContract

/// The earlier names of a table, its columns and its relationships, from `renamed_from`.
package struct RenameMap {
    /// The table's old name.
    package let table: String?
    /// The old names of columns, by new name.
    package private(set) var columns: [String: String] = [:]
    /// The old names of relationships, by new name.
    package private(set) var relationships: [String: String] = [:]
    /// The new names of the table's entities, by old name.
    package private(set) var kinds: [String: String] = [:]

    /// Creates the map of the entities in a table; it is empty for a link table.
    package init(ofTable name: String, in model: CompiledModel) {
        guard let root = model.model.entity(named: name) else {
            table = nil
            return
        }
        table = root.renamedFrom
        let family = model.model.family(of: root)
        for entity in family {
            // Rows of another entity that has the old name now are not renamed.
            if let old = entity.renamedFrom, family.count > 1, model.model.entity(named: old) == nil {
                kinds[old] = entity.name
            }
            // A sub-entity may declare the attribute again, without its old name.
            for attribute in entity.attributes where columns[attribute.name] == nil {
                columns[attribute.name] = attribute.renamedFrom
            }
        }
        for relationship in family.flatMap(\.relationships) {
            let old = relationship.renamedFrom ?? relationship.name
            if let renamed = relationship.renamedFrom { relationships[relationship.name] = renamed }
            guard relationship.kind == .toOne, let target = model.model.entity(named: relationship.target) else {
                continue
            }
            let key = model.model.key(of: target)
            let names = relationship.columnNames(targetKey: key.map(\.name))
            let oldNames = Relationship(name: old, kind: .toOne, target: "")
                .columnNames(targetKey: key.map { $0.renamedFrom ?? $0.name })
            for (name, oldName) in zip(names, oldNames) where name != oldName { columns[name] = oldName }
        }
    }

    /// Returns the error about a rename of a sub-entity to a name whose former entity is renamed as well, so that the rows of
    /// both would become the same; nil if no other entity had the new name.
    package static func refusal(of old: String, to new: String, in model: Model) -> StoreError? {
        guard let next = model.entities.first(where: { $0.renamedFrom == new && $0.name != old }) else { return nil }
        return StoreError(
            .schema,
            "\(old) cannot become \(new) while \(new) becomes \(next.name): bmo does one of these renames at a time",
            remedy:
                "rename \(new) to \(next.name) first, with \(old) as it was, and run `bmo sync`; then rename \(old) to "
                + new)
    }

    /// Returns the old name of a link table whose owner or relationship was renamed.
    package static func linkTable(_ name: String, in model: Model) -> String? {
        guard let (entity, relationship) = list(ofLinkTable: name, in: model) else { return nil }
        let old = "\(entity.renamedFrom ?? entity.name)_\(relationship.renamedFrom ?? relationship.name)"
        return old == name ? nil : old
    }

    /// Returns the relationship whose links a table has, and the entity that declares it; nil for another table.
    package static func list(ofLinkTable name: String, in model: Model) -> (owner: Entity, list: Relationship)? {
        for entity in model.entities {
            let list = entity.relationships.first { ($0.table ?? "\(entity.name)_\($0.name)") == name }
            if let list { return (entity, list) }
        }
        return nil
    }

    /// Returns the name of a dropped column or list in the history: `NAME (dropped)`, or with a number if that is taken.
    package static func retired(_ name: String, isTaken: (_ name: String) throws -> Bool) rethrows -> String {
        var retired = "\(name) (dropped)"
        var number = 1
        while try isTaken(retired) {
            number += 1
            retired = "\(name) (dropped \(number))"
        }
        return retired
    }

    /// Returns the lists whose links a dropped table may have had, each with the table of its owner's rows.
    ///
    /// The names of tables have underscores, so that one may be that of several lists. None is a list of the model.
    package static func droppedLists(ofTable name: String, in model: Model) -> [(table: String, list: String)] {
        var lists: [(table: String, list: String)] = []
        for entity in model.entities {
            let root = model.root(of: entity)
            for owner in [entity.name, entity.renamedFrom].compactMap(\.self) where name.hasPrefix("\(owner)_") {
                let list = String(name.dropFirst(owner.count + 1))
                let isPresent = model.family(of: root).contains { $0.relationship(named: list)?.kind == .toMany }
                if !isPresent, !lists.contains(where: { $0 == (root.name, list) }) { lists.append((root.name, list)) }
            }
        }
        return lists
    }
}

extension StoreError {
    /// The error for a rename that is still to be done, although the file has something else of the old name.
    ///
    /// Without the rename, the values and the waiting edits of one would become the other's.
    package static func takenName(_ old: String, of new: String) -> StoreError {
        StoreError(
            .schema,
            "\(new) is still called \(old) in the database, and the configuration has another \(old) now",
            remedy: "run `bmo sync` once with the rename alone, before the file has another \(old); or, if \(new) is "
                + "new, remove its renamed_from")
    }
}
