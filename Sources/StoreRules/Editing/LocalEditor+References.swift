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

    // MARK: - References to one

    /// Validates the references of an edit.
    ///
    /// - Parameters:
    ///   - columns: The columns that are set, by name.
    ///   - row: The row before the edit; nil if there was none.
    /// - Throws: ``StoreError`` if a reference has only part of a key, or no target.
    func checkReferences(_ layout: EntityLayout, _ columns: [String: StoredValue], row: [StoredValue]?) throws {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            guard fields.contains(where: { columns[layout.fields[$0].name] != nil }) else { continue }
            let key = fields.map { columns[layout.fields[$0].name] ?? row?[$0] ?? .null }
            guard key.contains(where: { $0 != .null }) else { continue }
            guard !key.contains(.null) else {
                let names = fields.map { layout.fields[$0].name }.joined(separator: ", ")
                throw StoreError(
                    .request, "\(layout.name).\(toOne.name) is set to a part of a key",
                    remedy: "set all of \(names), or all of them to null")
            }
            // An object may refer to itself before it exists.
            let root = model.entities[toOne.target].root
            if root == layout.root, key == layout.key.map({ columns[layout.fields[$0].name] ?? row?[$0] ?? .null }) {
                continue
            }
            try checkTarget(toOne.target, key, of: "\(layout.name).\(toOne.name)")
        }
    }

    private func checkTarget(_ target: Int, _ key: [StoredValue], of what: String) throws {
        let root = model.entities[target].root
        guard try tables.row(root, key) == nil else { return }
        let name = key.map(\.description).joined(separator: ", ")
        throw StoreError(
            .request, "\(what) is to refer to \(model.entities[target].name) \(name), which does not exist",
            remedy: "create that first, or sync it")
    }

    // MARK: - Relationships to many

    /// Sets lists of links; links stored in other objects become edits of these.
    func setLinks(_ lists: [String: [[StoredValue]]], of object: EditedObject) throws -> SetLinks {
        var result = SetLinks()
        for (name, given) in lists.sorted(by: { $0.key < $1.key }) {
            let layout = object.layout
            guard let index = layout.toMany.firstIndex(where: { $0.name == name }) else {
                throw StoreError(
                    .request, "\(layout.name) has no relationship to many \"\(name)\"",
                    remedy: suggestion(for: name, among: layout.toMany.map(\.name))
                        ?? "there are: \(layout.toMany.map(\.name).joined(separator: ", "))")
            }
            let toMany = layout.toMany[index]
            var seen: Set<[StoredValue]> = []
            let wanted = try given.filter { seen.insert($0).inserted }.map { key in
                try checkLink(key, toMany, layout)
            }
            let writer = writer.links(object.root, index)
            let old = try writer.keys(of: object.key)
            guard toMany.isOrdered ? old != wanted : Set(old) != Set(wanted) else { continue }
            switch toMany.storage {
            case .links:
                try writer.set(wanted, of: object.key)
                result.own.append(OutboxEntry.LinkEdit(relationship: name, old: old, new: wanted))
            case .inverse(let toOne):
                let relationship = model.entities[model.entities[toMany.target].root].toOne[toOne]
                try setInverse(relationship, old, wanted, object, toMany.target, &result)
            case .reversedLinks(let table):
                try setReversed(table, old, wanted, object, toMany.target, &result)
            }
        }
        return result
    }

    private func checkLink(
        _ key: [StoredValue], _ toMany: EntityLayout.ToMany, _ layout: EntityLayout
    ) throws -> [StoredValue] {
        let target = model.entities[toMany.target]
        guard key.count == target.key.count else {
            throw StoreError(
                .request, "\(layout.name).\(toMany.name) is given a key of \(key.count) parts",
                remedy: "keys of \(target.name) have \(target.key.count)")
        }
        let values = Dictionary(
            zip(target.key, key).map { (target.fields[$0].name, $1) }, uniquingKeysWith: { $1 })
        let checked = try EditedValues(values, of: target, in: model)
        let fitting = target.key.map { checked.value($0) ?? .null }
        try checkTarget(toMany.target, fitting, of: "\(layout.name).\(toMany.name)")
        return fitting
    }

    /// Sets links stored in a to-one relationship of the targets, by editing the targets.
    private func setInverse(
        _ toOne: EntityLayout.ToOne, _ old: [[StoredValue]], _ new: [[StoredValue]], _ object: EditedObject,
        _ target: Int, _ result: inout SetLinks
    ) throws {
        let layout = model.entities[model.entities[target].root]
        let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
        for (keys, value) in [(old.filter { !new.contains($0) }, nil), (new.filter { !old.contains($0) }, object.key)] {
            for key in keys {
                let values = zip(fields, value ?? object.key.map { _ in .null }).map { (layout.fields[$0].name, $1) }
                let receipt = try make(
                    LocalEdit(
                        .update, entity: model.entities[target].name, key: key,
                        values: Dictionary(values, uniquingKeysWith: { $1 })))
                result.otherEntry = result.otherEntry ?? receipt.entry
            }
        }
    }

    /// Sets links stored in lists of the targets, by editing the targets.
    private func setReversed(
        _ table: String, _ old: [[StoredValue]], _ new: [[StoredValue]], _ object: EditedObject, _ target: Int,
        _ result: inout SetLinks
    ) throws {
        let source = model.entities[model.entities[target].root]
        guard let index = source.toMany.firstIndex(where: { $0.storage == .links(table: table) }) else { return }
        let writer = writer.links(source.index, index)
        for key in old + new where old.contains(key) != new.contains(key) {
            let list = try writer.keys(of: key)
            let changed = new.contains(key) ? list + [object.key] : list.filter { $0 != object.key }
            let receipt = try make(
                LocalEdit(
                    .update, entity: model.entities[target].name, key: key, links: [source.toMany[index].name: changed])
            )
            result.otherEntry = result.otherEntry ?? receipt.entry
        }
    }

    // MARK: - Dependencies

    /// Resolves the creates that an entry must wait for: those of the objects that it refers to.
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
