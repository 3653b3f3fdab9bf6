internal import Importer
internal import Mapping
internal import Model

/// The statements of one relationship to many: reads what is stored, and writes what is different.
final class LinkWriter {
    private let relationship: EntityLayout.ToMany
    private let backing: any LinkBacking
    private let width: Int

    init(
        _ relationship: EntityLayout.ToMany, of owner: EntityLayout, _ model: CompiledModel,
        on connection: OpaquePointer?
    )
        throws
    {
        self.relationship = relationship
        let target = model.entities[relationship.target]
        width = target.key.count
        backing =
            switch relationship.storage {
            case .inverse(let toOne):
                try InverseBacking(target, target.toOne[toOne], on: connection)
            case .links(let table):
                try TableBacking(table, owner: owner, target: target, isReversed: false, on: connection)
            case .reversedLinks(let table):
                try TableBacking(table, owner: owner, target: target, isReversed: true, on: connection)
            }
    }

    func merge(owner: [Cell], targets: UnsafeBufferPointer<Cell>) throws -> Bool {
        var new: [[StoredValue]] = []
        var seen: Set<[StoredValue]> = []
        for first in stride(from: 0, to: targets.count, by: width) {
            let key = targets[first..<first + width].compactMap(\.value)
            if seen.insert(key).inserted { new.append(key) }
        }
        let stored = try backing.targets(of: owner)
        let old = stored.keys
        let wanted: [[StoredValue]]
        switch relationship.merge {
        case .replace: wanted = new
        case .append:
            let known = Set(old)
            wanted = old + new.filter { !known.contains($0) }
        case .insertAtBeginning: wanted = new + old.filter { !seen.contains($0) }
        }
        return try backing.write(wanted, over: stored, of: owner)
    }
}

/// The targets that a relationship has.
private struct StoredLinks {
    var keys: [[StoredValue]]
    /// Whether the positions are 0, 1, 2 ...: a link that was removed from the other end leaves a gap.
    var isDense: Bool
}

/// Where the links of a relationship lie.
private protocol LinkBacking {
    func targets(of owner: [Cell]) throws -> StoredLinks
    /// Returns whether anything was written.
    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [Cell]) throws -> Bool
}

/// Links in a table of their own: (source, position, target), seen from either end.
private struct TableBacking: LinkBacking {
    private let isReversed: Bool
    private let ownerWidth: Int
    private let targetWidth: Int
    private let select: RawStatement
    private let replace: RawStatement
    private let deletion: RawStatement
    private let nextPosition: RawStatement

    init(_ table: String, owner: EntityLayout, target: EntityLayout, isReversed: Bool, on connection: OpaquePointer?)
        throws
    {
        self.isReversed = isReversed
        ownerWidth = owner.key.count
        targetWidth = target.key.count
        let quoted = SchemaBuilder.quoted
        let name = quoted(table)
        let ownerColumns = SchemaBuilder.linkColumns(isReversed ? "target" : "source", owner).map(quoted)
        let targetColumns = SchemaBuilder.linkColumns(isReversed ? "source" : "target", target).map(quoted)
        let isOwner = ownerColumns.map { "\($0) = ?" }.joined(separator: " AND ")
        let columns = ownerColumns + ["position"] + targetColumns
        select = try RawStatement(
            "SELECT position, \(targetColumns.joined(separator: ", ")) FROM \(name) WHERE \(isOwner) "
                + "ORDER BY position", on: connection)
        replace = try RawStatement(
            "INSERT OR REPLACE INTO \(name) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))", on: connection)
        if isReversed {
            // Positions belong to the source: an end that is only the target adds and removes single links.
            let isTarget = targetColumns.map { "\($0) = ?" }.joined(separator: " AND ")
            deletion = try RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND \(isTarget)", on: connection)
            nextPosition = try RawStatement(
                "SELECT coalesce(max(position) + 1, 0) FROM \(name) WHERE \(isTarget)", on: connection)
        } else {
            deletion = try RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND position >= ?", on: connection)
            nextPosition = select
        }
    }

    func targets(of owner: [Cell]) throws -> StoredLinks {
        for (index, cell) in owner.enumerated() { select.bind(cell, at: Int32(index + 1)) }
        let rows = try select.rows(width: targetWidth + 1)
        let isDense = rows.enumerated().allSatisfy { $1[0] == .integer(Int64($0)) }
        return StoredLinks(keys: rows.map { Array($0.dropFirst()) }, isDense: isDense)
    }

    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [Cell]) throws -> Bool {
        isReversed
            ? try writeReversed(wanted, over: old.keys, of: owner) : try writeInOrder(wanted, over: old, of: owner)
    }

    private func writeInOrder(_ wanted: [[StoredValue]], over stored: StoredLinks, of owner: [Cell]) throws -> Bool {
        guard wanted != stored.keys else { return false }
        let old = stored.isDense ? stored.keys : []
        if !stored.isDense { try removeAll(of: owner, from: 0) }
        for (position, key) in wanted.enumerated() where position >= old.count || old[position] != key {
            try insert(owner, position: Int64(position), key)
        }
        if wanted.count < old.count { try removeAll(of: owner, from: wanted.count) }
        return true
    }

    private func removeAll(of owner: [Cell], from position: Int) throws {
        for (index, cell) in owner.enumerated() { deletion.bind(cell, at: Int32(index + 1)) }
        deletion.bind(Int64(position), at: Int32(ownerWidth + 1))
        try deletion.run()
    }

    private func writeReversed(_ wanted: [[StoredValue]], over old: [[StoredValue]], of owner: [Cell]) throws -> Bool {
        let before = Set(old)
        let after = Set(wanted)
        guard before != after else { return false }
        for key in old where !after.contains(key) {
            for (index, cell) in owner.enumerated() { deletion.bind(cell, at: Int32(index + 1)) }
            for (index, value) in key.enumerated() { deletion.bind(value, at: Int32(ownerWidth + index + 1)) }
            try deletion.run()
        }
        for key in wanted where !before.contains(key) {
            for (index, value) in key.enumerated() { nextPosition.bind(value, at: Int32(index + 1)) }
            _ = try nextPosition.step()
            let position = nextPosition.int64(0)
            nextPosition.reset()
            try insert(owner, position: position, key)
        }
        return true
    }

    private func insert(_ owner: [Cell], position: Int64, _ key: [StoredValue]) throws {
        for (index, cell) in owner.enumerated() { replace.bind(cell, at: Int32(index + 1)) }
        replace.bind(position, at: Int32(ownerWidth + 1))
        for (index, value) in key.enumerated() { replace.bind(value, at: Int32(ownerWidth + index + 2)) }
        try replace.run()
    }
}

/// Links in the target's relationship to one: rows that are no longer wanted are detached, never deleted.
///
/// The rows that are wanted refer to the owner already: a page merges its rows before its links.
private struct InverseBacking: LinkBacking {
    private let keyWidth: Int
    private let ownerWidth: Int
    private let select: RawStatement
    private let detach: RawStatement

    init(_ target: EntityLayout, _ toOne: EntityLayout.ToOne, on connection: OpaquePointer?) throws {
        keyWidth = target.key.count
        ownerWidth = toOne.fieldCount
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

    func targets(of owner: [Cell]) throws -> StoredLinks {
        for (index, cell) in owner.enumerated() { select.bind(cell, at: Int32(index + 1)) }
        return StoredLinks(keys: try select.rows(width: keyWidth), isDense: true)
    }

    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [Cell]) throws -> Bool {
        let kept = Set(wanted)
        var changed = false
        for key in old.keys where !kept.contains(key) {
            for (index, value) in key.enumerated() { detach.bind(value, at: Int32(index + 1)) }
            try detach.run()
            changed = true
        }
        return changed
    }
}

extension RawStatement {
    /// The rest of the rows, and a reset.
    fileprivate func rows(width: Int) throws -> [[StoredValue]] {
        defer { reset() }
        var rows: [[StoredValue]] = []
        while try step() { rows.append((0..<width).map { value(Int32($0)) }) }
        return rows
    }
}
