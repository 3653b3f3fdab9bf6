internal import Mapping
internal import Model
internal import StoreContract

extension LocalEditor {
    /// The result of setting lists of links.
    struct SetLinks {
        /// The relationships stored in the object itself that changed.
        var own: [OutboxEntry.LinkEdit] = []
        /// An entry of another object, which stores the relationship.
        var otherEntry: Int64?
    }

    /// Returns whether there is a row.
    func exists(_ root: Int, _ key: [StoredValue]) throws -> Bool { try objects.row(root, key) != nil }

    // MARK: - Relationships to many

    /// Sets lists of links; links stored in other objects become edits of these.
    func setLinks(of object: EditedObject, by edit: LocalEdit) throws -> SetLinks {
        var result = SetLinks()
        for (name, given) in edit.links.sorted(by: { $0.key < $1.key }) {
            let layout = object.layout
            guard let index = layout.toMany.firstIndex(where: { $0.name == name }) else {
                throw StoreError(
                    .request, "\(layout.name) has no relationship to many \"\(name)\"",
                    remedy: suggestion(for: name, among: layout.toMany.map(\.name)) ?? "it has none")
            }
            let toMany = layout.toMany[index]
            var seen: Set<[StoredValue]> = []
            let wanted = try given.filter { seen.insert($0).inserted }.map { key in
                try layout.checkLink(key, toMany, in: model, exists: exists)
            }
            let old = try objects.list(object.root, index, of: object.key)
            guard toMany.isOrdered ? old != wanted : Set(old) != Set(wanted) else { continue }
            switch toMany.storage {
            case .links:
                try objects.setList(object.root, index, of: object.key, to: wanted)
                result.own.append(OutboxEntry.LinkEdit(relationship: name, old: old, new: wanted))
            case .inverse(let toOne):
                let relationship = model.entities[model.entities[toMany.target].root].toOne[toOne]
                try setInverse(relationship, old, wanted, object, toMany.target, edit.userInfo, &result)
            case .reversedLinks(let table):
                try setReversed(table, old, wanted, object, toMany.target, edit.userInfo, &result)
            }
        }
        return result
    }

    /// Sets links stored in a to-one relationship of the targets, by editing the targets.
    private func setInverse(
        _ toOne: EntityLayout.ToOne, _ old: [[StoredValue]], _ new: [[StoredValue]], _ object: EditedObject,
        _ target: Int, _ userInfo: String?, _ result: inout SetLinks
    ) throws {
        let layout = model.entities[model.entities[target].root]
        let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
        for (keys, value) in [(old.filter { !new.contains($0) }, nil), (new.filter { !old.contains($0) }, object.key)] {
            for key in keys {
                let values = zip(fields, value ?? object.key.map { _ in .null }).map { (layout.fields[$0].name, $1) }
                let receipt = try make(
                    LocalEdit(
                        .update, entity: model.entities[target].name, key: key,
                        values: Dictionary(values, uniquingKeysWith: { $1 }), userInfo: userInfo))
                result.otherEntry = result.otherEntry ?? receipt.entry
            }
        }
    }

    /// Sets links stored in lists of the targets, by editing the targets.
    private func setReversed(
        _ table: String, _ old: [[StoredValue]], _ new: [[StoredValue]], _ object: EditedObject, _ target: Int,
        _ userInfo: String?, _ result: inout SetLinks
    ) throws {
        let source = model.entities[model.entities[target].root]
        guard let index = source.toMany.firstIndex(where: { $0.storage == .links(table: table) }) else { return }
        for key in old + new where old.contains(key) != new.contains(key) {
            let list = try objects.list(source.index, index, of: key)
            let changed = new.contains(key) ? list + [object.key] : list.filter { $0 != object.key }
            let receipt = try make(
                LocalEdit(
                    .update, entity: model.entities[target].name, key: key,
                    links: [source.toMany[index].name: changed], userInfo: userInfo))
            result.otherEntry = result.otherEntry ?? receipt.entry
        }
    }

    // MARK: - Dependencies

    /// Returns an entry with the creates that it must wait for.
    func dependencies(
        of entry: OutboxEntry, _ object: EditedObject, row: [StoredValue]
    ) throws -> EntryDependencies {
        try EntryDependencies(of: entry, object.layout, row: row, in: model) { root, key in
            try outbox.waitingCreate(root, key)
        } dependsOn: { id in
            try outbox.entry(id)?.dependsOn ?? []
        }
    }
}
