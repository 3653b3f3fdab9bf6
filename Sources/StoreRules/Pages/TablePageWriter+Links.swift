internal import Mapping
internal import Model
package import StoreContract

/// The lists of a page.
extension TablePageWriter {
    /// Merges the lists of a batch; see `PageTransaction.mergeLinks`.
    package func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        for (index, list) in lists.enumerated() where try merge(list) {
            batches?.forgetAll()
            changed(index)
            guard due.concerns(list.entity) else { continue }
            let owner = model.entities[list.entity].key.map { list.owner[$0].value ?? .null }
            due.note(list.entity, owner, writtenBy: scan?.scope)
        }
    }

    private func merge(_ list: PageLinks) throws -> Bool {
        let links = writer.links(list.entity, list.relationship)
        let owner = links.owner.key.map { list.owner[$0].value ?? .null }
        let new = keys(list.targets, width: links.target.key.count)
        if list.yieldsToListing, try isListed(links.owner.index, owner) {
            for key in new { writer.noteOffered(links.target.index, key) }
            return false
        }
        let isPart = links.relationship.merge == .replace && links.relationship.window == nil
        // For other lists, a part says nothing about the rest.
        if isPart, let scope = scan?.scope, scans.logs[scope] != nil {
            let name = ScanLog.ListOwner(
                root: links.owner.index, relationship: links.relationship.name, owner: owner)
            // In place: a copy of the log for each list would take time by the square of their number.
            guard let place = scans.logs[scope]?.note(new, of: name) ?? nil else { return false }
            let listed = Set(new)
            let missing = try links.keys(of: owner).filter { !listed.contains($0) }
            guard missing.isEmpty else {
                scans.logs[scope]?.waiting[name] = ScanLog.WaitingList(
                    owner: name, place: place, listed: new, missing: missing)
                return false
            }
        }
        return try merge(new, links, of: owner)
    }

    /// Returns the distinct keys of a list.
    private func keys(_ targets: UnsafeBufferPointer<Cell>, width: Int) -> [RowKey] {
        var keys: [RowKey] = []
        var seen: Set<RowKey> = []
        for first in stride(from: 0, to: targets.count, by: width) {
            let key = targets[first..<first + width].map { $0.value ?? .null }
            if seen.insert(key).inserted { keys.append(key) }
        }
        return keys
    }

    private func merge(_ listed: [RowKey], _ links: LinkEditor, of owner: RowKey) throws -> Bool {
        let stored = try links.stored(of: owner)
        let old = stored.keys
        guard let new = try edits.merge(links.relationship, of: links.owner, owner, listed, over: old) else {
            for key in listed { writer.noteOffered(links.target.index, key) }
            return false
        }
        let remaining = Set(new)
        for key in listed where !remaining.contains(key) { writer.noteOffered(links.target.index, key) }
        let field = links.relationship.window.flatMap { name in
            links.target.fields.firstIndex { $0.name == name }
        }
        let update = ListUpdate(links.relationship) { [tables] key in
            guard let field else { return .null }
            return try tables.row(links.target.index, key)?[field] ?? .null
        }
        let wanted = try edits.keepEdited(update.merged(new, into: old), over: old, links.relationship, links.target)
        guard let delta = try links.write(wanted, over: stored, of: owner) else { return false }
        try links.record(delta, owner)
        if links.relationship.orphans == .delete, let scan = writer.source?.scan {
            let kept = Set(wanted)
            for key in old where !kept.contains(key) {
                try tables.addOrphan(RowReference(root: links.target.index, key: key), scan: scan)
            }
        }
        return true
    }

    /// Writes the lists that waited for the end of the scan; returns how many changed, by entity.
    func settleLists(of scope: ScanScope) throws -> [Int: Int] {
        guard let log = scans.logs[scope] else { return [:] }
        scans.logs[scope]?.waiting = [:]
        var counts: [Int: Int] = [:]
        let first = log.firstPlaces
        for list in log.waiting.values.sorted(by: { $0.place < $1.place }) {
            let layout = model.entities[list.owner.root]
            guard try tables.row(layout.index, list.owner.owner) != nil,
                try !tables.isStub(layout.index, list.owner.owner),
                let index = layout.toMany.firstIndex(where: { $0.name == list.owner.relationship })
            else { continue }
            if case .inverse = layout.toMany[index].storage {
            } else {
                // A target may have been deleted meanwhile.
                for key in list.listed { try writer.ensure(key, of: layout.toMany[index].target) }
            }
            let isFurtherPart = first[list.owner].map { $0 < list.place } ?? false
            if try settle(list, writer.links(layout.index, index), isFurtherPart: isFurtherPart) {
                counts[layout.index, default: 0] += 1
                if due.concerns(layout.index) { due.note(layout.index, list.owner.owner, writtenBy: scope) }
            }
        }
        return counts
    }

    /// Writes a list that has waited.
    ///
    /// - Parameter isFurtherPart: Whether the scan listed an earlier part, so that nothing is missing.
    private func settle(_ list: ScanLog.WaitingList, _ links: LinkEditor, isFurtherPart: Bool) throws -> Bool {
        let stored = try links.keys(of: list.owner.owner)
        if isFurtherPart {
            let known = Set(stored)
            return try merge(stored + list.listed.filter { !known.contains($0) }, links, of: list.owner.owner)
        }
        let listed = Set(list.listed)
        let gone = Set(list.missing)
        // Keeps what was added from the relationship's other end since.
        let others = stored.filter { !listed.contains($0) && !gone.contains($0) }
        return try merge(list.listed + others, links, of: list.owner.owner)
    }
}
