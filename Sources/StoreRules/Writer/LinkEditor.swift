package import Mapping
internal import StoreContract

/// The reader and writer of one to-many relationship's lists, which writes and records only differences.
package struct LinkEditor {
    package let relationship: EntityLayout.ToMany
    let owner: EntityLayout
    let target: EntityLayout
    private let writer: TableWriter

    /// The stored targets of a list.
    struct Stored {
        var keys: [RowKey]
        var positions: [Int64] = []
    }

    init(_ writer: TableWriter, _ entity: Int, _ relationship: Int) {
        self.writer = writer
        owner = writer.tables.layout(of: entity)
        self.relationship = owner.toMany[relationship]
        target = writer.tables.layout(of: self.relationship.target)
    }

    private var tables: any StoreTables { writer.tables }

    /// Returns the keys of the objects in an object's list.
    package func keys(of owner: RowKey) throws -> [RowKey] { try stored(of: owner).keys }

    func stored(of owner: RowKey) throws -> Stored {
        switch relationship.storage {
        case .inverse(let toOne): return Stored(keys: try tables.referrers(target.index, toOne, to: owner))
        case .links(let table):
            let links = try tables.links(table, of: owner)
            return Stored(keys: links.map(\.key), positions: links.map(\.position))
        case .reversedLinks(let table):
            let links = try tables.reversedLinks(table, to: owner)
            return Stored(keys: links.map(\.key), positions: links.map(\.position))
        }
    }

    /// Replaces the list of an object; returns whether that changed anything.
    @discardableResult
    package func set(_ wanted: [RowKey], of owner: RowKey) throws -> Bool {
        guard let delta = try write(wanted, over: try stored(of: owner), of: owner) else { return false }
        try record(delta, owner)
        return true
    }

    /// Reverts a change of an object's list; returns whether the list was still as the change left it.
    package func takeBack(_ old: LinkSpan, _ new: LinkSpan, of owner: RowKey) throws -> Bool {
        guard let start = new.start else {
            guard try swap(removing: new, adding: old, of: owner) else { return false }
            try record(.links(old: new, new: old), owner)
            return true
        }
        let stored = try stored(of: owner)
        let end = start + new.keys.count
        guard end <= stored.keys.count, Array(stored.keys[start..<end]) == new.keys else { return false }
        let wanted = Array(stored.keys[..<start]) + old.keys + stored.keys[end...]
        if let delta = try write(wanted, over: stored, of: owner) { try record(delta, owner) }
        return true
    }

    // MARK: - Writing

    /// Returns the difference; nil if nothing was written.
    func write(_ wanted: [RowKey], over stored: Stored, of owner: RowKey) throws -> LinkDelta? {
        switch relationship.storage {
        case .inverse(let toOne): try detach(target.toOne[toOne], stored.keys, except: Set(wanted))
        case .links(let table): try writeInOrder(table, wanted, over: stored, of: owner)
        case .reversedLinks(let table): try writeReversed(table, wanted, over: stored, of: owner)
        }
    }

    /// Clears the references of rows that are no longer wanted.
    ///
    /// The wanted rows already refer to the owner, as a page merges its rows before its links.
    private func detach(_ toOne: EntityLayout.ToOne, _ old: [RowKey], except kept: Set<RowKey>) throws -> LinkDelta? {
        let detached = old.filter { !kept.contains($0) }
        for key in detached {
            guard var row = try tables.row(target.index, key) else { continue }
            for field in toOne.firstField..<toOne.firstField + toOne.fieldCount { row[field] = .null }
            try tables.write(target.index, key, row)
        }
        return detached.isEmpty ? nil : .detached(detached, toOne)
    }

    private func writeInOrder(
        _ table: String, _ wanted: [RowKey], over stored: Stored, of owner: RowKey
    ) throws -> LinkDelta? {
        guard wanted != stored.keys else { return nil }
        for (position, key) in zip(stored.positions, stored.keys)
        where position >= Int64(wanted.count) || position < 0 || wanted[Int(position)] != key {
            try tables.setLink(table, of: owner, at: position, to: nil)
        }
        for (position, key) in wanted.enumerated() {
            try tables.setLink(table, of: owner, at: Int64(position), to: key)
        }
        return LinkSpan.difference(stored.keys, wanted)
    }

    /// Adds and removes single links from the target's end; the source defines the positions.
    private func writeReversed(
        _ table: String, _ wanted: [RowKey], over stored: Stored, of owner: RowKey
    ) throws -> LinkDelta? {
        let before = Set(stored.keys)
        let after = Set(wanted)
        guard before != after else { return nil }
        var removed = LinkSpan(start: nil, keys: [])
        var added = LinkSpan(start: nil, keys: [])
        for (key, position) in zip(stored.keys, stored.positions) where !after.contains(key) {
            removed.keys.append(key)
            removed.positions.append(position)
            try tables.setLink(table, of: key, at: position, to: nil)
        }
        for key in wanted where !before.contains(key) {
            let position = try end(table, of: key)
            try tables.setLink(table, of: key, at: position, to: owner)
            added.keys.append(key)
            added.positions.append(position)
        }
        return .links(old: removed, new: added)
    }

    private func end(_ table: String, of source: RowKey) throws -> Int64 {
        try tables.links(table, of: source).last.map { $0.position + 1 } ?? 0
    }

    /// Removes links, seen from the target, and restores others at their old positions, or at the end of lists where
    /// those are taken.
    private func swap(removing removed: LinkSpan, adding added: LinkSpan, of owner: RowKey) throws -> Bool {
        guard case .reversedLinks(let table) = relationship.storage else { return false }
        let stored = try stored(of: owner)
        let present = Dictionary(zip(stored.keys, stored.positions), uniquingKeysWith: { first, _ in first })
        guard removed.keys.allSatisfy({ present[$0] != nil }), !added.keys.contains(where: { present[$0] != nil })
        else { return false }
        for key in removed.keys {
            if let position = present[key] { try tables.setLink(table, of: key, at: position, to: nil) }
        }
        for (key, position) in zip(added.keys, added.positions) {
            let isTaken = try tables.links(table, of: key).contains { $0.position == position }
            try tables.setLink(table, of: key, at: isTaken ? try end(table, of: key) : position, to: owner)
        }
        return true
    }

    // MARK: - The record

    func record(_ delta: LinkDelta, _ key: RowKey) throws {
        writer.touched.formUnion([owner.index, target.index])
        try noteEnds(delta, key)
        switch delta {
        case .links(let old, let new):
            // The rows of a first load and their links are undone together, so these need no record.
            let source = if case .reversedLinks = relationship.storage { target } else { owner }
            guard writer.run.records(source.index) else { return }
            let name = relationship.name
            try writer.record(
                owner.index, key: key, .relinked, old: .links(relationship: name, old),
                new: .links(relationship: name, new))
        case .detached(let keys, let toOne):
            guard writer.run.records(target.index) else { return }
            let names = (0..<toOne.fieldCount).map { target.fields[toOne.firstField + $0].name }
            let old = ChangeRecord.Content.columns(zip(names, key).map { (name: $0, value: $1) })
            let new = ChangeRecord.Content.columns(names.map { (name: $0, value: StoredValue.null) })
            for key in keys { try writer.record(target.index, key: key, .updated, old: old, new: new) }
        }
    }

    /// Notes both ends of removed links, as either may have become an abandoned stub.
    private func noteEnds(_ delta: LinkDelta, _ owner: RowKey) throws {
        switch delta {
        case .links(let old, let new):
            let kept = Set(new.keys)
            for key in old.keys where !kept.contains(key) { try writer.note(target.index, key) }
        case .detached(let keys, _):
            for key in keys { try writer.note(target.index, key) }
        }
        try writer.note(self.owner.index, owner)
    }
}
