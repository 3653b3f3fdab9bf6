package import Mapping
package import Model
internal import StoreContract

/// The deletion of rows and their dependents, as the entities' configurations specify.
///
/// A deleted row takes its links with it, and the objects whose parent it is (`parent:`). A row that a remaining row
/// still refers to becomes a stub: it loses its values, but the reference stays valid. Rows that refer only to each
/// other are deleted together. With `deletes: soft`, a row is kept and marked with the time of its deletion. What a
/// deleted row has in a relationship with `orphans: delete` becomes an orphan of the scan.
extension TableWriter {
    /// Returns how an entity's objects are deleted.
    package func deletionMode(of entity: Int) -> DeletePolicy.Mode {
        model.model.entities[model.entities[entity].root].deletes.mode
    }

    /// Deletes the object with this key, if it exists; returns the number of deleted objects, by entity.
    package func remove(entity: Int, key: RowKey) throws -> [Int: Int] {
        let root = model.entities[entity].root
        guard !key.isEmpty else { return [:] }
        guard try tables.row(root, key) != nil else {
            // The object was deleted locally, and there is nothing left to push.
            _ = try keepsRow?(root, key)
            return [:]
        }
        return try remove([key], of: root)
    }

    /// Deletes rows of an entity's table; returns the number of deleted objects, by entity.
    ///
    /// - Parameter evenIfIgnored: Whether to delete even with `deletes: ignore`.
    package func remove(_ keys: [RowKey], of entity: Int, evenIfIgnored: Bool = false) throws -> [Int: Int] {
        let root = model.entities[entity].root
        guard !model.entities[root].key.isEmpty else { return [:] }
        var counts: [Int: Int] = [:]
        var pending: [RowReference] = []
        var isDoomed: Set<RowReference> = []
        var waiting = keys.map { RowReference(root: root, key: $0) }
        var place = 0
        while place < waiting.count {
            let next = waiting[place]
            place += 1
            guard try tables.row(next.root, next.key) != nil else { continue }
            if try keepsRow?(next.root, next.key) == true { continue }
            var mode = deletionMode(of: next.root)
            if mode == .ignore, evenIfIgnored { mode = .hard }
            switch mode {
            case .ignore: continue
            case .soft:
                guard try markAsGone(next) else { continue }
                counts[next.root, default: 0] += 1
            case .hard:
                guard isDoomed.insert(next).inserted else { continue }
                pending.append(next)
            }
            try forgetScans(byParent: next)
            try noteOwned(by: next, isSoft: mode == .soft)
            waiting += try children(of: next)
        }
        try removeLinks(of: pending)
        for row in pending where try delete(row, among: isDoomed) { counts[row.root, default: 0] += 1 }
        return counts
    }

    /// Deletes one object that was deleted locally, but not its children, which the remote deletes itself.
    ///
    /// - Returns: Whether it existed.
    @discardableResult
    package func removeAlone(_ root: Int, _ key: RowKey, isFinal: Bool) throws -> Bool {
        guard try tables.row(root, key) != nil else { return false }
        let row = RowReference(root: root, key: key)
        if !isFinal, deletionMode(of: root) == .soft { return try markAsGone(row) }
        try removeLinks(of: [row])
        return try delete(row, among: [row])
    }

    private func removeLinks(of rows: [RowReference]) throws {
        for row in rows {
            let indices =
                try listsOfDeleted[row.root]
                ?? model.linksOfDeletedObjects(of: row.root) { try members(ofListing: $0, source: $1) }
            listsOfDeleted[row.root] = indices
            for index in indices { try setList(row.root, index, of: row.key, to: []) }
        }
    }

    /// Returns the members that the records of an entity's listing have had.
    ///
    /// - Parameter source: The further source; empty for the entity's own bridge.
    package func members(ofListing entity: Int, source: String = "") throws -> Set<ListedMember> {
        let listing = MemberListing(entity: model.entities[entity].name, source: source, request: "")
        return Set(
            try tables.members(of: listing).filter { !$0.isGone }.compactMap { member in
                model.index(of: member.entity).map { ListedMember(entity: $0, path: member.path) }
            })
    }

    private func delete(_ reference: RowReference, among pending: Set<RowReference>) throws -> Bool {
        guard let row = try tables.row(reference.root, reference.key) else { return false }
        guard try isReferred(reference.root, reference.key, except: pending) else {
            try delete(reference.root, reference.key, row)
            return true
        }
        let layout = model.entities[reference.root]
        guard try !tables.isStub(reference.root, reference.key) else { return false }
        let kept = Set(layout.key + [layout.discriminator].compactMap { $0 })
        let cleared = layout.fields.indices.filter { !kept.contains($0) }
            .map { (name: layout.fields[$0].name, value: StoredValue.null) }
        try update(reference.root, reference.key, from: row, to: cleared, as: .stubbed)
        return true
    }

    private func markAsGone(_ reference: RowReference) throws -> Bool {
        let layout = model.entities[reference.root]
        guard let field = layout.deletion, let row = try tables.row(reference.root, reference.key), row[field] == .null,
            try !tables.isStub(reference.root, reference.key)
        else { return false }
        try update(
            reference.root, reference.key, from: row,
            to: [(name: layout.fields[field].name, value: .timestamp(Clock.now()))],
            as: .deleted)
        return true
    }

    /// Returns the objects whose parent an object is.
    private func children(of parent: RowReference) throws -> [RowReference] {
        var children: [RowReference] = []
        for (index, entity) in model.model.entities.enumerated() {
            let layout = model.entities[index]
            guard let name = entity.parent?.relationship,
                let toOne = layout.toOne.firstIndex(where: { $0.name == name }),
                model.entities[layout.toOne[toOne].target].root == parent.root
            else { continue }
            children += try tables.referrers(layout.root, toOne, to: parent.key).map {
                RowReference(root: layout.root, key: $0)
            }
        }
        return children
    }

    /// Forgets the scans for an object's children, so that they start from the beginning if the object returns.
    private func forgetScans(byParent parent: RowReference) throws {
        let text = JSONText.key(parent.key).string
        for (index, entity) in model.model.entities.enumerated() {
            let layout = model.entities[index]
            let isScannedBy = ([entity.parent].compactMap { $0 } + entity.sources.compactMap(\.parent)).contains {
                let toOne = $0.relationship.flatMap { name in layout.toOne.first { $0.name == name } }
                return model.entities[toOne?.target ?? index].root == parent.root
            }
            if isScannedBy { try tables.forgetScans(of: entity.name, parent: text) }
        }
    }
}
