internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model
internal import TextFormats

/// The merge of imported lists into one to-many relationship, with respect to local edits and to lists in parts.
final class LinkMerger {
    private let relationship: EntityLayout.ToMany
    private let owner: EntityLayout
    private let target: EntityLayout
    private let writer: LinkWriter
    private let changes: ChangeLog
    private let orphans: OrphanTable
    private let edits: EditMerge
    private let ownerEdits: EditCounts
    private let targetEdits: EditCounts
    private let width: Int
    private let update: ListUpdate
    private let abandoned: AbandonedStubs
    private let joins: ListJoins
    /// The number that identifies the relationship in the hashes of lists.
    private let fingerprint: UInt64

    init(
        _ relationship: EntityLayout.ToMany, of owner: EntityLayout, _ model: CompiledModel, into writer: LinkWriter,
        on connection: OpaquePointer?, changes: ChangeLog, orphans: OrphanTable, edits: EditMerge,
        counts: EditCounts.Tables,
        abandoned: AbandonedStubs, joins: ListJoins
    ) throws {
        self.abandoned = abandoned
        self.joins = joins
        self.writer = writer
        var fingerprint = Fingerprint()
        fingerprint.add(owner.name)
        fingerprint.separate()
        fingerprint.add(relationship.name)
        self.fingerprint = fingerprint.value
        self.relationship = relationship
        self.edits = edits
        self.owner = owner
        self.changes = changes
        self.orphans = orphans
        let target = model.entities[model.entities[relationship.target].root]
        self.target = target
        ownerEdits = counts(of: owner.index)
        targetEdits = counts(of: target.index)
        width = target.key.count
        let window = relationship.window.map { LinkWindow($0, of: target, on: connection) }
        update = ListUpdate(relationship) { try window?.value(of: $0) ?? .null }
    }

    /// Merges an object's list into the stored one; returns whether anything changed.
    func merge(owner: [StoredValue], targets: UnsafeBufferPointer<Cell>) throws -> Bool {
        // For other lists, a part says nothing about the rest.
        let scan = relationship.merge == .replace && relationship.window == nil ? joins.current : nil
        let hash = scan == nil ? 0 : ListJoins.hash(fingerprint, owner)
        let place = scan?.note(hash) ?? 0
        if let scan, scan.hasWaiting, var list = try joins.waiting(hash, scan) {
            let known = Set(list.listed)
            list.listed += keys(targets).filter { !known.contains($0) }
            joins.keep(list, scan)
            return false
        }
        // Most lists are unchanged, which is detected in place without copying a key.
        let hasEdits = targetEdits.isAny || ownerEdits.isAny
        if try !hasEdits && writer.holds(targets, of: owner) { return false }
        let new = keys(targets)
        let stored = try writer.stored(of: owner)
        if let scan {
            let listed = Set(new)
            let missing = stored.keys.filter { !listed.contains($0) }
            guard missing.isEmpty else {
                joins.keep(
                    ListJoins.Waiting(
                        entity: self.owner.index, relationship: relationship.name, owner: owner, place: place,
                        listed: new, missing: missing, hash: hash), scan)
                return false
            }
        }
        return try merge(new, over: stored, of: owner)
    }

    /// Leaves the stored list as it is; the objects of another one may have become stubs for it.
    func leave(_ targets: UnsafeBufferPointer<Cell>) {
        for key in keys(targets) { abandoned.noteOffered(target.index, key) }
    }

    /// Returns the distinct keys of a list.
    private func keys(_ targets: UnsafeBufferPointer<Cell>) -> [[StoredValue]] {
        var keys: [[StoredValue]] = []
        var seen: Set<[StoredValue]> = []
        for first in stride(from: 0, to: targets.count, by: width) {
            let key = targets[first..<first + width].compactMap(\.value)
            if seen.insert(key).inserted { keys.append(key) }
        }
        return keys
    }

    /// Writes a list that has waited for the end of its scan; returns whether that changed anything.
    ///
    /// - Parameter isFurtherPart: Whether the scan listed an earlier part, so that nothing is missing.
    func settle(_ list: ListJoins.Waiting, isFurtherPart: Bool) throws -> Bool {
        let stored = try writer.stored(of: list.owner)
        let listed = Set(list.listed)
        if isFurtherPart {
            let known = Set(stored.keys)
            return try merge(stored.keys + list.listed.filter { !known.contains($0) }, over: stored, of: list.owner)
        }
        let gone = Set(list.missing)
        // Keeps what was added from the relationship's other end since.
        let others = stored.keys.filter { !listed.contains($0) && !gone.contains($0) }
        return try merge(list.listed + others, over: stored, of: list.owner)
    }

    private func merge(_ listed: [[StoredValue]], over stored: StoredLinks, of owner: [StoredValue]) throws -> Bool {
        var new = listed
        let old = stored.keys
        if targetEdits.isAny || ownerEdits.isAny {
            guard let merged = try edits.merge(relationship, of: self.owner, owner, new, over: old) else {
                for key in new { abandoned.noteOffered(target.index, key) }
                return false
            }
            let kept = Set(merged)
            for key in new where !kept.contains(key) { abandoned.noteOffered(target.index, key) }
            new = merged
        }
        var wanted = try update.merged(new, into: old)
        if targetEdits.isAny { wanted = try edits.keepEdited(wanted, over: old, relationship, target) }
        guard try writer.write(wanted, over: stored, of: owner) else { return false }
        if relationship.orphans == .delete, let scan = changes.source?.scan {
            let kept = Set(wanted)
            for key in old where !kept.contains(key) { try orphans.add(scan: scan, target, key) }
        }
        return true
    }
}
