internal import Mapping
internal import Model
internal import StoreContract

extension CompiledModel {
    /// Returns whether an entity has a listing of its own that says which of its objects are gone.
    package func isSweptByListing(_ entity: Int) -> Bool {
        let definition = model.entities[entities[entity].root]
        return definition.isScanned && definition.deletes.mode != .ignore
    }

    /// Returns whether this listing is a single one, which covers also objects without a parent.
    package func isSweptByOneListing(_ entity: Int) -> Bool {
        isSweptByListing(entity) && model.entities[entities[entity].root].parent == nil
    }
}

/// The objects that relationships with `orphans: delete` no longer contain, at the end of the scan that removed them.
extension TableWriter {
    /// Notes the objects in the lists of an object that is being deleted, unless a listing of their own has them.
    ///
    /// - Parameter isSoft: Whether the object's row stays, and its links with it.
    func noteOwned(by owner: RowReference, isSoft: Bool) throws {
        guard let scan = source?.scan else { return }
        for (index, toMany) in model.entities[owner.root].toMany.enumerated() where toMany.orphans == .delete {
            guard !model.isSweptByListing(toMany.target) else { continue }
            let links = links(owner.root, index)
            for key in try links.keys(of: owner.key) {
                try tables.addOrphan(RowReference(root: links.target.index, key: key), scan: scan)
            }
            if isSoft, case .links = toMany.storage { try links.set([], of: owner.key) }
        }
    }

    /// Deletes the orphans of a scan, and then those that this makes; returns the number of deleted objects, by entity.
    package func settleOrphans(ofScan scan: String) throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        while true {
            let found = try tables.takeOrphans(scan: scan)
            guard !found.isEmpty else { return counts }
            var keys: [Int: [RowKey]] = [:]
            for orphan in found where try isAlone(orphan) { keys[orphan.root, default: []].append(orphan.key) }
            for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
                counts.merge(try remove(keys, of: root, evenIfIgnored: true), uniquingKeysWith: +)
            }
        }
    }

    /// Returns whether an orphan exists and nothing refers to it, except what becomes an orphan with it.
    private func isAlone(_ orphan: RowReference) throws -> Bool {
        guard let row = try tables.row(orphan.root, orphan.key), try !isInList(orphan, row) else { return false }
        if model.isSweptByOneListing(orphan.root), try tables.hasBeenListed(orphan.root, orphan.key) { return false }
        var owned: Set<RowReference> = []
        for (index, toMany) in model.entities[orphan.root].toMany.enumerated() where toMany.orphans == .delete {
            guard case .inverse = toMany.storage else { continue }
            let links = links(orphan.root, index)
            for key in try links.keys(of: orphan.key) { owned.insert(RowReference(root: links.target.index, key: key)) }
        }
        return try !isReferred(orphan.root, orphan.key, except: owned)
    }

    /// Returns whether an orphan itself refers to an object that still exists, and so is in its list.
    private func isInList(_ orphan: RowReference, _ row: [StoredValue]) throws -> Bool {
        for owner in model.entities where owner.index == owner.root {
            for toMany in owner.toMany where toMany.orphans == .delete {
                guard model.entities[toMany.target].root == orphan.root else { continue }
                switch toMany.storage {
                case .links: continue
                case .inverse(let index):
                    let toOne = model.entities[orphan.root].toOne[index]
                    let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
                    if try exists(owner, Array(row[fields])) { return true }
                case .reversedLinks(let table):
                    if try tables.links(table, of: orphan.key).contains(where: { try exists(owner, $0.key) }) {
                        return true
                    }
                }
            }
        }
        return false
    }

    /// Returns whether there is an object with this key that is neither a stub nor deleted.
    private func exists(_ layout: EntityLayout, _ key: RowKey) throws -> Bool {
        guard !key.contains(.null), let row = try tables.row(layout.index, key) else { return false }
        if let deletion = layout.deletion, row[deletion] != .null { return false }
        return try !tables.isStub(layout.index, key)
    }
}
