internal import StoreContract
internal import StoreRules
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
    private let abandoned: AbandonedStubs

    init(
        _ relationship: EntityLayout.ToMany, of owner: EntityLayout, _ model: CompiledModel,
        on connection: OpaquePointer?, changes: ChangeLog, abandoned: AbandonedStubs
    ) {
        self.relationship = relationship
        self.owner = owner
        self.changes = changes
        self.abandoned = abandoned
        let target = model.entities[model.entities[relationship.target].root]
        self.target = target
        backing =
            switch relationship.storage {
            case .inverse(let toOne):
                InverseBacking(target, target.toOne[toOne], on: connection)
            case .links(let table):
                TableBacking(table, owner: owner, target: target, isReversed: false, in: model, on: connection)
            case .reversedLinks(let table):
                TableBacking(table, owner: owner, target: target, isReversed: true, in: model, on: connection)
            }
    }

    /// Returns the stored links of an object.
    func stored(of owner: [StoredValue]) throws -> StoredLinks { try backing.targets(of: owner) }

    /// Returns whether exactly these targets are stored in this order; may return false if only the order differs.
    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool {
        try backing.holds(targets, of: owner)
    }

    /// Writes the list of an object over the stored one; returns whether anything changed.
    func write(_ wanted: [[StoredValue]], over stored: StoredLinks, of owner: [StoredValue]) throws -> Bool {
        guard let delta = try backing.write(wanted, over: stored, of: owner) else { return false }
        try record(delta, owner)
        return true
    }

    /// Returns the keys of the objects in an object's list.
    func keys(of owner: [StoredValue]) throws -> [[StoredValue]] { try backing.targets(of: owner).keys }

    /// Replaces the list of an object; returns whether that changed anything.
    func set(_ wanted: [[StoredValue]], of owner: [StoredValue]) throws -> Bool {
        try write(wanted, over: backing.targets(of: owner), of: owner)
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

    /// Removes the links of an object without a record; use it only where that is taken back.
    func removeUnrecorded(of owner: [StoredValue]) throws {
        _ = try backing.write([], over: backing.targets(of: owner), of: owner)
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
