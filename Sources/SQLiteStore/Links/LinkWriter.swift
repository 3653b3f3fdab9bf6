internal import StoreContract
internal import Mapping
internal import Model
internal import RecordBatch
internal import TextFormats

/// The reader and writer of one to-many relationship's links, which writes only differences.
final class LinkWriter {
    private let relationship: EntityLayout.ToMany
    private let owner: EntityLayout
    private let target: EntityLayout
    private let backing: any LinkBacking
    private let changes: ChangeLog
    private let orphans: OrphanTable
    private let edits: EditMerge
    private let ownerEdits: EditCounts
    private let targetEdits: EditCounts
    private let width: Int
    private let window: LinkWindow?
    private let abandoned: AbandonedStubs
    private let joins: ListJoins
    /// The number that identifies the relationship in the hashes of lists.
    private let fingerprint: UInt64

    init(
        _ relationship: EntityLayout.ToMany, of owner: EntityLayout, _ model: CompiledModel,
        on connection: OpaquePointer?, changes: ChangeLog, orphans: OrphanTable, edits: EditMerge,
        abandoned: AbandonedStubs, joins: ListJoins
    ) throws {
        self.abandoned = abandoned
        self.joins = joins
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
        ownerEdits = edits.counts(of: owner.index)
        targetEdits = edits.counts(of: target.index)
        width = target.key.count
        window = try relationship.window.map { try LinkWindow($0, of: target, on: connection) }
        backing =
            switch relationship.storage {
            case .inverse(let toOne):
                try InverseBacking(target, target.toOne[toOne], on: connection)
            case .links(let table):
                try TableBacking(table, owner: owner, target: target, isReversed: false, in: model, on: connection)
            case .reversedLinks(let table):
                try TableBacking(table, owner: owner, target: target, isReversed: true, in: model, on: connection)
            }
    }

    /// Merges an object's list into the stored one; returns whether anything changed.
    func merge(owner: [StoredValue], targets: UnsafeBufferPointer<Cell>) throws -> Bool {
        // For other lists, a part says nothing about the rest.
        let walk = relationship.merge == .replace && window == nil ? joins.current : nil
        let hash = walk == nil ? 0 : ListJoins.hash(fingerprint, owner)
        let place = walk?.note(hash) ?? 0
        if let walk, walk.hasWaiting, var list = try joins.waiting(hash, walk) {
            let known = Set(list.listed)
            list.listed += keys(targets).filter { !known.contains($0) }
            joins.keep(list, walk)
            return false
        }
        // Most lists are unchanged, which is detected in place without copying a key.
        let hasEdits = targetEdits.isAny || ownerEdits.isAny
        if try !hasEdits && backing.holds(targets, of: owner) { return false }
        let new = keys(targets)
        let stored = try backing.targets(of: owner)
        if let walk {
            let listed = Set(new)
            let missing = stored.keys.filter { !listed.contains($0) }
            guard missing.isEmpty else {
                joins.keep(
                    ListJoins.Waiting(
                        entity: self.owner.index, relationship: relationship.name, owner: owner, place: place,
                        listed: new, missing: missing, hash: hash), walk)
                return false
            }
        }
        return try merge(new, over: stored, of: owner)
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
        let stored = try backing.targets(of: list.owner)
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
        var seen = Set(new)
        let old = stored.keys
        if targetEdits.isAny || ownerEdits.isAny {
            guard let merged = try edits.merge(relationship, of: self.owner, owner, new, over: old) else {
                for key in new { abandoned.noteOffered(target.index, key) }
                return false
            }
            let kept = Set(merged)
            for key in new where !kept.contains(key) { abandoned.noteOffered(target.index, key) }
            new = merged
            seen = Set(new)
        }
        var wanted: [[StoredValue]]
        switch relationship.merge {
        case .replace: wanted = try window?.merge(new, into: old) ?? new
        case .append:
            let known = Set(old)
            wanted = old + new.filter { !known.contains($0) }
        case .insertAtBeginning: wanted = new + old.filter { !seen.contains($0) }
        }
        if !relationship.isOrdered {
            // Existing targets keep their positions.
            let kept = Set(wanted)
            let known = Set(old)
            wanted = old.filter(kept.contains) + wanted.filter { !known.contains($0) }
        }
        if targetEdits.isAny { wanted = try keepEdited(wanted, old) }
        guard let delta = try backing.write(wanted, over: stored, of: owner) else { return false }
        try record(delta, owner)
        if relationship.orphans == .delete, let walk = changes.source?.walk {
            let kept = Set(wanted)
            for key in old where !kept.contains(key) { try orphans.add(walk: walk, target, key) }
        }
        return true
    }

    /// Returns a list in which objects with pending edits at their end of the links stay as they were.
    private func keepEdited(_ wanted: [[StoredValue]], _ old: [[StoredValue]]) throws -> [[StoredValue]] {
        let fits: (OutboxEntry) -> Bool
        switch relationship.storage {
        case .links: return wanted
        case .inverse(let index):
            let toOne = target.toOne[index]
            let names = (0..<toOne.fieldCount).map { target.fields[toOne.firstField + $0].name }
            fits = { entry in entry.changes.contains { names.contains($0.name) } }
        case .reversedLinks(let table):
            let names = target.toMany.filter { $0.storage == .links(table: table) }.map(\.name)
            fits = { entry in entry.links.contains { names.contains($0.relationship) } }
        }
        let known = Set(old)
        let brought = Set(wanted)
        return try wanted.filter { try known.contains($0) || !edits.isPending(target.index, $0, fits) }
            + old.filter { try !brought.contains($0) && edits.isPending(target.index, $0, fits) }
    }

    /// Returns the keys of the objects in an object's list.
    func keys(of owner: [StoredValue]) throws -> [[StoredValue]] { try backing.targets(of: owner).keys }

    /// Replaces the list of an object.
    func set(_ wanted: [[StoredValue]], of owner: [StoredValue]) throws {
        let stored = try backing.targets(of: owner)
        if let delta = try backing.write(wanted, over: stored, of: owner) { try record(delta, owner) }
    }

    /// Reverts a change of an object's ordered list.
    ///
    /// Returns whether the list was still as the change left it.
    func takeBack(_ old: LinkSpan, _ new: LinkSpan, of owner: [StoredValue]) throws -> Bool {
        guard let start = new.start else {
            guard let table = backing as? TableBacking else { return false }
            guard try table.swap(removing: new, adding: old, of: owner) else { return false }
            try record(.links(old: new, new: old), owner)
            return true
        }
        let stored = try backing.targets(of: owner)
        let end = start + new.keys.count
        guard end <= stored.keys.count, Array(stored.keys[start..<end]) == new.keys else { return false }
        let wanted = Array(stored.keys[..<start]) + old.keys + stored.keys[end...]
        if let delta = try backing.write(wanted, over: stored, of: owner) { try record(delta, owner) }
        return true
    }

    /// Removes all links whose source is the object.
    func removeAll(of owner: [StoredValue]) throws {
        let stored = try backing.targets(of: owner)
        guard !stored.keys.isEmpty, let delta = try backing.write([], over: stored, of: owner) else { return }
        try record(delta, owner)
    }

    /// Notes both ends of removed links, as either may have become an abandoned stub.
    private func noteEnds(_ delta: LinkDelta, _ owner: [StoredValue]) throws {
        guard abandoned.mayHave(target.index) || abandoned.mayHave(self.owner.index) else { return }
        switch delta {
        case .links(let old, let new):
            let kept = Set(new.keys)
            for key in old.keys where !kept.contains(key) { try abandoned.note(target.index, key) }
        case .detached(let keys, _):
            for key in keys { try abandoned.note(target.index, key) }
        }
        try abandoned.note(self.owner.index, owner)
    }

    private func record(_ delta: LinkDelta, _ key: [StoredValue]) throws {
        try noteEnds(delta, key)
        switch delta {
        case .links(let old, let new):
            // The rows of a first load and their links are undone together, so these need no record.
            let source = if case .reversedLinks = relationship.storage { target } else { owner }
            guard changes.records(source.index) else { return }
            try changes.record(
                owner, key: .key(key), .relinked, old: old.json(relationship.name), new: new.json(relationship.name))
        case .detached(let keys, let toOne):
            guard changes.records(target.index) else { return }
            let names = (0..<toOne.fieldCount).map { target.fields[toOne.firstField + $0].name }
            let old = JSONText.object(zip(names, key).map { (name: $0, value: $1) })
            let new = JSONText.object(names.map { (name: $0, value: StoredValue.null) })
            for key in keys { try changes.record(target, key: .key(key), .updated, old: old, new: new) }
        }
    }
}

/// The stored targets of a relationship.
private struct StoredLinks {
    var keys: [[StoredValue]]
    var positions: [Int64] = []
    /// Whether the positions are 0, 1, 2 ...; a link removed from the other end leaves a gap.
    var isDense: Bool
}

/// The storage of a relationship's links.
private protocol LinkBacking {
    func targets(of owner: [StoredValue]) throws -> StoredLinks
    /// Returns whether exactly these are stored in this order; may return false if only the order differs.
    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool
    /// Returns the difference; nil if nothing was written.
    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]) throws -> LinkDelta?
}

/// Links in a link table with source, position and target, seen from either end.
private struct TableBacking: LinkBacking {
    private let isReversed: Bool
    private let ownerWidth: Int
    private let targetWidth: Int
    private let select: RawStatement
    private let replace: RawStatement
    private let deletion: RawStatement
    private let nextPosition: RawStatement
    private let placeTaken: RawStatement

    init(
        _ table: String, owner: EntityLayout, target: EntityLayout, isReversed: Bool, in model: CompiledModel,
        on connection: OpaquePointer?
    )
        throws
    {
        self.isReversed = isReversed
        ownerWidth = owner.key.count
        targetWidth = target.key.count
        let quoted = SchemaBuilder.quoted
        let name = quoted(table)
        let ownerColumns = SchemaBuilder.linkColumns(
            isReversed ? .target : .source, owner, of: table, in: model
        ).map(quoted)
        let targetColumns = SchemaBuilder.linkColumns(
            isReversed ? .source : .target, target, of: table, in: model
        ).map(quoted)
        let isOwner = ownerColumns.map { "\($0) = ?" }.joined(separator: " AND ")
        let columns = ownerColumns + ["position"] + targetColumns
        select = try RawStatement(
            "SELECT position, \(targetColumns.joined(separator: ", ")) FROM \(name) WHERE \(isOwner) "
                + "ORDER BY position", on: connection)
        replace = try RawStatement(
            "INSERT OR REPLACE INTO \(name) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))", on: connection)
        if isReversed {
            // The source defines positions, so the target's end adds and removes single links only.
            let isTarget = targetColumns.map { "\($0) = ?" }.joined(separator: " AND ")
            deletion = try RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND \(isTarget)", on: connection)
            nextPosition = try RawStatement(
                "SELECT coalesce(max(position) + 1, 0) FROM \(name) WHERE \(isTarget)", on: connection)
            placeTaken = try RawStatement(
                "SELECT 1 FROM \(name) WHERE \(isTarget) AND position = ?", on: connection)
        } else {
            deletion = try RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND position >= ?", on: connection)
            nextPosition = select
            placeTaken = select
        }
    }

    func targets(of owner: [StoredValue]) throws -> StoredLinks {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        let rows = try select.rows(width: targetWidth + 1)
        let positions = rows.map { row -> Int64 in if case .integer(let position) = row[0] { position } else { 0 } }
        let isDense = positions.enumerated().allSatisfy { $1 == Int64($0) }
        return StoredLinks(keys: rows.map { Array($0.dropFirst()) }, positions: positions, isDense: isDense)
    }

    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        return try select.holds(targets, width: targetWidth, firstColumn: 1)
    }

    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]) throws -> LinkDelta? {
        isReversed ? try writeReversed(wanted, over: old, of: owner) : try writeInOrder(wanted, over: old, of: owner)
    }

    private func writeInOrder(
        _ wanted: [[StoredValue]], over stored: StoredLinks, of owner: [StoredValue]
    ) throws -> LinkDelta? {
        guard wanted != stored.keys else { return nil }
        let old = stored.isDense ? stored.keys : []
        if !stored.isDense { try removeAll(of: owner, from: 0) }
        for (position, key) in wanted.enumerated() where position >= old.count || old[position] != key {
            try insert(owner, position: Int64(position), key)
        }
        if wanted.count < old.count { try removeAll(of: owner, from: wanted.count) }
        return LinkSpan.difference(stored.keys, wanted)
    }

    private func removeAll(of owner: [StoredValue], from position: Int) throws {
        for (index, value) in owner.enumerated() { deletion.bind(value, at: Int32(index + 1)) }
        deletion.bind(Int64(position), at: Int32(ownerWidth + 1))
        try deletion.run()
    }

    private func writeReversed(
        _ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]
    ) throws -> LinkDelta? {
        let before = Set(old.keys)
        let after = Set(wanted)
        guard before != after else { return nil }
        var removed = LinkSpan(start: nil, keys: [])
        var added = LinkSpan(start: nil, keys: [])
        for (key, position) in zip(old.keys, old.positions) where !after.contains(key) {
            removed.keys.append(key)
            removed.positions.append(position)
            try remove(owner, key)
        }
        for key in wanted where !before.contains(key) {
            let position = try end(of: key)
            try insert(owner, position: position, key)
            added.keys.append(key)
            added.positions.append(position)
        }
        return .links(old: removed, new: added)
    }

    /// Removes links, seen from the target, and restores others at their old positions.
    ///
    /// Links whose position is taken are appended at the end. Returns whether the links existed.
    func swap(removing removed: LinkSpan, adding added: LinkSpan, of owner: [StoredValue]) throws -> Bool {
        guard isReversed else { return false }
        let present = Set(try targets(of: owner).keys)
        guard removed.keys.allSatisfy(present.contains), !added.keys.contains(where: present.contains) else {
            return false
        }
        for key in removed.keys { try remove(owner, key) }
        for (key, position) in zip(added.keys, added.positions) {
            for (index, value) in (key + [.integer(position)]).enumerated() {
                placeTaken.bind(value, at: Int32(index + 1))
            }
            let isTaken = try placeTaken.step()
            placeTaken.reset()
            try insert(owner, position: isTaken ? try end(of: key) : position, key)
        }
        return true
    }

    private func remove(_ owner: [StoredValue], _ key: [StoredValue]) throws {
        for (index, value) in (owner + key).enumerated() { deletion.bind(value, at: Int32(index + 1)) }
        try deletion.run()
    }

    private func end(of key: [StoredValue]) throws -> Int64 {
        for (index, value) in key.enumerated() { nextPosition.bind(value, at: Int32(index + 1)) }
        _ = try nextPosition.step()
        defer { nextPosition.reset() }
        return nextPosition.int64(0)
    }

    private func insert(_ owner: [StoredValue], position: Int64, _ key: [StoredValue]) throws {
        for (index, value) in owner.enumerated() { replace.bind(value, at: Int32(index + 1)) }
        replace.bind(position, at: Int32(ownerWidth + 1))
        for (index, value) in key.enumerated() { replace.bind(value, at: Int32(ownerWidth + index + 2)) }
        try replace.run()
    }
}

/// Links stored in the target's to-one relationship: rows that are no longer wanted are detached, never deleted.
///
/// The wanted rows already refer to the owner, as a page merges its rows before its links.
private struct InverseBacking: LinkBacking {
    private let keyWidth: Int
    private let toOne: EntityLayout.ToOne
    private let select: RawStatement
    private let detach: RawStatement

    init(_ target: EntityLayout, _ toOne: EntityLayout.ToOne, on connection: OpaquePointer?) throws {
        keyWidth = target.key.count
        self.toOne = toOne
        let quoted = SchemaBuilder.quoted
        let references = (0..<toOne.fieldCount).map { quoted(target.fields[toOne.firstField + $0].name) }
        let keys = target.key.map { quoted(target.fields[$0].name) }
        let isOwner = references.map { "\($0) = ?" }.joined(separator: " AND ")
        select = try RawStatement(
            "SELECT \(keys.joined(separator: ", ")) FROM \(quoted(target.name)) WHERE \(isOwner)", on: connection)
        detach = try RawStatement(
            "UPDATE \(quoted(target.name)) SET \(references.map { "\($0) = NULL" }.joined(separator: ", ")) "
                + "WHERE \(keys.map { "\($0) = ?" }.joined(separator: " AND "))", on: connection)
    }

    func targets(of owner: [StoredValue]) throws -> StoredLinks {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        return StoredLinks(keys: try select.rows(width: keyWidth), isDense: true)
    }

    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        return try select.holds(targets, width: keyWidth, firstColumn: 0)
    }

    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]) throws -> LinkDelta? {
        let kept = Set(wanted)
        var detached: [[StoredValue]] = []
        for key in old.keys where !kept.contains(key) {
            for (index, value) in key.enumerated() { detach.bind(value, at: Int32(index + 1)) }
            try detach.run()
            detached.append(key)
        }
        return detached.isEmpty ? nil : .detached(detached, toOne)
    }
}

extension RawStatement {
    /// Returns whether the rows are exactly these keys, in order; resets the statement.
    fileprivate func holds(_ keys: UnsafeBufferPointer<Cell>, width: Int, firstColumn: Int32) throws -> Bool {
        defer { reset() }
        for first in stride(from: 0, to: keys.count, by: width) {
            guard try step() else { return false }
            for offset in 0..<width where !matches(keys[first + offset], column: firstColumn + Int32(offset)) {
                return false
            }
        }
        return try !step()
    }

    /// Returns the remaining rows and resets the statement.
    fileprivate func rows(width: Int) throws -> [[StoredValue]] {
        defer { reset() }
        var rows: [[StoredValue]] = []
        while try step() { rows.append((0..<width).map { value(Int32($0)) }) }
        return rows
    }
}
