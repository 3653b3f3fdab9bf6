internal import StoreContract
internal import StoreRules
internal import Mapping

/// Links in a link table with source, position and target, seen from either end.
struct TableBacking: LinkBacking {
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
    ) {
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
        select = RawStatement(
            "SELECT position, \(targetColumns.joined(separator: ", ")) FROM \(name) WHERE \(isOwner) "
                + "ORDER BY position", on: connection)
        replace = RawStatement(
            "INSERT OR REPLACE INTO \(name) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))", on: connection)
        if isReversed {
            // The source defines positions, so the target's end adds and removes single links only.
            let isTarget = targetColumns.map { "\($0) = ?" }.joined(separator: " AND ")
            deletion = RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND \(isTarget)", on: connection)
            nextPosition = RawStatement(
                "SELECT coalesce(max(position) + 1, 0) FROM \(name) WHERE \(isTarget)", on: connection)
            placeTaken = RawStatement(
                "SELECT 1 FROM \(name) WHERE \(isTarget) AND position = ?", on: connection)
        } else {
            deletion = RawStatement("DELETE FROM \(name) WHERE \(isOwner) AND position >= ?", on: connection)
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
