package import Mapping

/// The creates that an entry must wait for: those of the objects that it refers to.
///
/// A part of a create that would make it wait for itself is taken out of the entry and becomes a later update.
package struct EntryDependencies {
    /// The part of a create that must wait for another object, which waits for this one.
    package struct Deferred: Equatable {
        package var changes: [OutboxEntry.FieldEdit] = []
        package var links: [OutboxEntry.LinkEdit] = []
        package var dependsOn: [Int64] = []
    }

    /// The entry with its dependencies, without the deferred part.
    package private(set) var entry: OutboxEntry
    /// The deferred part; nil if there is none.
    package private(set) var deferred: Deferred?

    /// Resolves the dependencies of an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry; its ID is 0 before it is stored.
    ///   - layout: The layout of the object's actual entity.
    ///   - row: The object's row, one value per field of the layout; empty if there is none.
    ///   - model: The model.
    ///   - create: Returns the ID of the pending create of an object, by its root entity and key.
    ///   - dependsOn: Returns the IDs of the entries for which an entry waits.
    package init(
        of entry: OutboxEntry, _ layout: EntityLayout, row: [StoredValue], in model: CompiledModel,
        create: (_ root: Int, _ key: [StoredValue]) throws -> Int64?, dependsOn: (Int64) throws -> [Int64]
    ) rethrows {
        var entry = entry
        let isCreate = entry.operation == .create
        let id = entry.id
        func wait(_ root: Int, _ key: [StoredValue]) throws -> (isCycle: Bool, id: Int64?) {
            if root == layout.root, key == entry.key { return (isCreate, nil) }
            guard let other = try create(root, key) else { return (false, nil) }
            return (try isCreate && id != 0 && Self.waits(other, for: id, dependsOn), other)
        }
        var waitsFor: Set<Int64> = []
        var later = Deferred()
        for toOne in layout.toOne where !row.isEmpty {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            let names = fields.map { layout.fields[$0].name }
            guard entry.changes.contains(where: { names.contains($0.name) }) else { continue }
            let key = fields.map { row[$0] }
            guard !key.contains(.null) else { continue }
            let (isCycle, id) = try wait(model.entities[toOne.target].root, key)
            guard isCycle else {
                if let id { waitsFor.insert(id) }
                continue
            }
            later.changes += entry.changes.filter { names.contains($0.name) }.map {
                OutboxEntry.FieldEdit(name: $0.name, old: .null, new: $0.new)
            }
            entry.changes.removeAll { names.contains($0.name) }
            if let id { later.dependsOn.append(id) }
        }
        for link in entry.links {
            guard let toMany = layout.toMany.first(where: { $0.name == link.relationship }) else { continue }
            let waits = try link.new.map { try wait(model.entities[toMany.target].root, $0) }
            guard waits.contains(where: \.isCycle) else {
                waitsFor.formUnion(waits.compactMap(\.id))
                continue
            }
            later.links.append(OutboxEntry.LinkEdit(relationship: link.relationship, old: [], new: link.new))
            later.dependsOn += waits.compactMap(\.id)
            entry.links.removeAll { $0.relationship == link.relationship }
        }
        entry.dependsOn = waitsFor.sorted()
        self.entry = entry
        deferred = later.changes.isEmpty && later.links.isEmpty ? nil : later
    }

    /// Returns whether an entry waits for another, directly or indirectly.
    private static func waits(
        _ id: Int64, for other: Int64, _ dependsOn: (Int64) throws -> [Int64]
    ) rethrows -> Bool {
        var open = [id]
        var seen: Set<Int64> = []
        while let next = open.popLast() {
            if next == other { return true }
            guard seen.insert(next).inserted else { continue }
            open += try dependsOn(next)
        }
        return false
    }
}
