internal import StoreContract
internal import Mapping
internal import Model
internal import StoreRules

/// The objects that relationships with `orphans: delete` no longer contain, at the end of the scan that removed them.
extension RowRemover {
    /// Notes the objects in the lists of an object that is being deleted, unless a listing of their own has them.
    ///
    /// - Parameter isSoft: Whether the object's row stays, and its links with it.
    func noteOwned(by root: Int, _ key: [StoredValue], isSoft: Bool) throws {
        guard let scan = changes.source?.scan else { return }
        for (index, toMany) in model.entities[root].toMany.enumerated() where toMany.orphans == .delete {
            guard !model.isSweptByListing(toMany.target) else { continue }
            let links = linkWriters(root, index)
            let target = model.entities[model.entities[toMany.target].root]
            for owned in try links.keys(of: key) { try orphans.add(scan: scan, target, owned) }
            if isSoft, case .links = toMany.storage { _ = try links.set([], of: key) }
        }
    }

    /// Deletes the orphans of a scan, and then those that this makes; returns the number of deleted objects, by entity.
    func settleOrphans(ofScan scan: String) throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        while true {
            let found = try orphans.take(scan: scan)
            guard !found.isEmpty else { return counts }
            counts.merge(try removeUnreferenced(found), uniquingKeysWith: +)
        }
    }

    /// Deletes those of the objects that nothing refers to; returns the number of deleted objects, by entity.
    private func removeUnreferenced(_ objects: [(entity: Int, key: [StoredValue])]) throws -> [Int: Int] {
        try emptyPendingDeletions()
        var rows: [Int: [Int64]] = [:]
        for object in objects {
            let root = model.entities[object.entity].root
            guard let row = try rowEditors.row(of: root, object.key), try !isInList(root, object.key),
                try !(model.isSweptByOneListing(root) && hasBeenListed(model.entities[root], object.key)),
                try !isReferred(root, object.key)
            else { continue }
            rows[root, default: []].append(row)
        }
        var counts: [Int: Int] = [:]
        for (root, rows) in rows {
            counts.merge(try remove(rows, of: root, evenIfIgnored: true), uniquingKeysWith: +)
        }
        return counts
    }

    /// Returns whether a row or link refers to an orphan, other than those that become orphans with it.
    private func isReferred(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let lists = model.entities[root].toMany.enumerated().filter { _, toMany in
            if case .inverse = toMany.storage { toMany.orphans == .delete } else { false }
        }
        for (index, toMany) in lists {
            let target = model.entities[toMany.target].root
            for owned in try linkWriters(root, index).keys(of: key) {
                if let row = try rowEditors.row(of: target, owned) { try doom(target, row) }
            }
        }
        let isReferred = try check(root).isReferred(key)
        // The next orphan's referrers are others.
        if !lists.isEmpty { try emptyPendingDeletions() }
        return isReferred
    }

    /// Returns whether an orphan itself refers to an object that still exists, and so is in its list.
    private func isInList(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let layout = model.entities[root]
        for owner in model.entities where owner.index == owner.root {
            for toMany in owner.toMany where toMany.orphans == .delete && model.entities[toMany.target].root == root {
                switch toMany.storage {
                case .links: continue
                case .inverse(let index):
                    let toOne = layout.toOne[index]
                    guard let row = try rowEditors(root).row(key) else { continue }
                    let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
                    if try exists(owner, Array(row[fields])) { return true }
                case .reversedLinks(let table):
                    guard let index = layout.toMany.firstIndex(where: { $0.storage == .links(table: table) }) else {
                        continue
                    }
                    if try linkWriters(root, index).keys(of: key).contains(where: { try exists(owner, $0) }) {
                        return true
                    }
                }
            }
        }
        return false
    }

    /// Returns whether an object's own listing has ever included it.
    func hasBeenListed(_ layout: EntityLayout, _ key: [StoredValue]) throws -> Bool {
        let text = JSONText.key(key)
        return try !rowEditors.stubs.contains(layout.name, text) && !provenance.isUnlisted(layout, text)
    }

    /// Returns whether there is an object with this key that is neither a stub nor deleted.
    private func exists(_ layout: EntityLayout, _ key: [StoredValue]) throws -> Bool {
        guard !key.contains(.null), let row = try rowEditors(layout.index).row(key) else { return false }
        if let deletion = layout.deletion, row[deletion] != .null { return false }
        return try !rowEditors.stubs.contains(layout.name, .key(key))
    }
}
