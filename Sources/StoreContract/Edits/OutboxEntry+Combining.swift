package import Mapping

extension OutboxEntry {
    /// Returns the entry with the user info of a later edit, if that has one.
    package func with(userInfo: String?) -> OutboxEntry {
        var entry = self
        entry.userInfo = userInfo ?? entry.userInfo
        return entry
    }

    /// Returns whether the entry sets a column or a list.
    package func sets(_ name: String) -> Bool {
        changes.contains { $0.name == name } || links.contains { $0.relationship == name }
    }

    /// Returns the entry with a later edit merged into it: the first base value and the last new value count.
    ///
    /// - Parameter undecided: The columns and lists with a conflict: their edit stays even if it sets the base value,
    ///   which is not the remote's any more.
    package func adding(
        _ later: [FieldEdit], _ laterLinks: [LinkEdit], keeping undecided: Set<String> = []
    ) -> OutboxEntry {
        var entry = self
        for change in later {
            if let index = entry.changes.firstIndex(where: { $0.name == change.name }) {
                entry.changes[index].new = change.new
                // A column with its base value need not be sent.
                if operation == .update, entry.changes[index].old == change.new, !undecided.contains(change.name) {
                    entry.changes.remove(at: index)
                }
            } else {
                entry.changes.append(
                    FieldEdit(name: change.name, old: operation == .create ? nil : change.old, new: change.new))
            }
        }
        for link in laterLinks {
            if let index = entry.links.firstIndex(where: { $0.relationship == link.relationship }) {
                entry.links[index].new = link.new
                if operation == .update, entry.links[index].old == link.new, !undecided.contains(link.relationship) {
                    entry.links.remove(at: index)
                }
            } else {
                entry.links.append(
                    LinkEdit(
                        relationship: link.relationship, old: operation == .create ? [] : link.old, new: link.new))
            }
        }
        return entry
    }

    /// Returns the delete that replaces this edit, which was never sent.
    ///
    /// The remote still has the base values of the edit, and not its new ones.
    ///
    /// - Parameters:
    ///   - changes: The columns of the row, with their present values as base values.
    ///   - links: The lists of the row, with their present keys as base values.
    ///   - remote: The values of the remote in columns with conflicts.
    /// - Throws: ``StoreError`` of the code `internal` if the edit is being sent.
    package func becomingDelete(
        _ changes: [FieldEdit], _ links: [LinkEdit], remote: [String: StoredValue]
    ) throws -> OutboxEntry {
        var entry = try changed(by: .replaced)
        entry.operation = .delete
        entry.changes = changes.map { change in
            let old = self.changes.first { $0.name == change.name }?.old
            return FieldEdit(name: change.name, old: remote[change.name] ?? old ?? change.old, new: change.new)
        }
        entry.links = links.map { link in
            let edited = self.links.first { $0.relationship == link.relationship }
            return LinkEdit(relationship: link.relationship, old: edited?.old ?? link.old, new: link.new)
        }
        return entry
    }

    /// Returns the update that replaces this delete when the object is created again.
    ///
    /// - Parameters:
    ///   - layout: The layout of the object's actual entity.
    ///   - row: The values of the new row, one per field of the layout.
    ///   - remote: The values that the remote changed while the object was deleted locally.
    ///   - leavesOut: Returns whether a column or list is never sent, so that the remote keeps what it has there.
    ///   - list: Returns the object's new list of a relationship, by its index in the layout.
    /// - Throws: ``StoreError`` of the code `internal` if the delete is being sent.
    package func becomingUpdate(
        of layout: EntityLayout, _ row: [StoredValue], remote: [String: StoredValue],
        leavingOut leavesOut: (String) -> Bool, list: (Int) throws -> [[StoredValue]]
    ) throws -> OutboxEntry {
        var entry = try changed(by: .replaced)
        entry.entity = layout.name
        entry.operation = .update
        let deletion = layout.deletion.map { layout.fields[$0].name }
        entry.changes = zip(layout.fields, row).compactMap { field, value in
            let old = remote[field.name] ?? changes.first { $0.name == field.name }?.old ?? .null
            guard old != value, field.name != deletion, !leavesOut(field.name) else { return nil }
            return FieldEdit(name: field.name, old: old, new: value)
        }
        entry.links = try links.compactMap { link in
            guard let index = layout.toMany.firstIndex(where: { $0.name == link.relationship }),
                !leavesOut(link.relationship)
            else { return nil }
            let now = try list(index)
            return now == link.old ? nil : LinkEdit(relationship: link.relationship, old: link.old, new: now)
        }
        return entry
    }

    /// Returns the create that replaces the edits of an object that the remote deleted.
    ///
    /// - Parameters:
    ///   - layout: The layout of the object's actual entity.
    ///   - row: The values of the row, one per field of the layout.
    ///   - newKey: The idempotency key of the new request.
    ///   - isKeyAssigned: Whether the remote assigns keys, so that the object probably gets another one.
    ///   - leavesOut: Returns whether a column or list is never sent.
    ///   - list: Returns the object's list of a relationship, by its index in the layout.
    /// - Throws: ``StoreError`` of the code `internal` if the edit is being sent.
    package func becomingCreate(
        of layout: EntityLayout, _ row: [StoredValue], newKey: String, isKeyAssigned: Bool,
        leavingOut leavesOut: (String) -> Bool, list: (Int) throws -> [[StoredValue]]
    ) throws -> OutboxEntry {
        var entry = try changed(by: .recreated(newKey: newKey))
        entry.operation = .create
        entry.hasTemporaryKey = entry.hasTemporaryKey || isKeyAssigned
        let own = Set([layout.discriminator, layout.extra, layout.deletion].compactMap { $0 })
        entry.changes = layout.fields.indices
            .filter { !own.contains($0) && row[$0] != .null && !leavesOut(layout.fields[$0].name) }
            .map { FieldEdit(name: layout.fields[$0].name, old: nil, new: row[$0]) }
        entry.links = []
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage, !leavesOut(toMany.name) else { continue }
            let keys = try list(index)
            if !keys.isEmpty { entry.links.append(LinkEdit(relationship: toMany.name, old: [], new: keys)) }
        }
        return entry
    }

    /// Returns the entry with a new key in all references to an object.
    ///
    /// - Parameters:
    ///   - columns: The columns of each to-one relationship of the entry's entity that leads to the object's table.
    ///   - relationships: The to-many relationships that do.
    ///   - old: The object's key before.
    ///   - new: The object's key now.
    package func renaming(
        _ columns: [[String]], _ relationships: Set<String>, _ old: [StoredValue], to new: [StoredValue]
    ) -> OutboxEntry {
        var entry = self
        for names in columns {
            let places = names.compactMap { name in entry.changes.firstIndex { $0.name == name } }
            guard places.count == names.count else { continue }
            if places.map({ entry.changes[$0].old ?? .null }) == old {
                for (place, value) in zip(places, new) { entry.changes[place].old = value }
            }
            if places.map({ entry.changes[$0].new ?? .null }) == old {
                for (place, value) in zip(places, new) { entry.changes[place].new = value }
            }
        }
        for index in entry.links.indices where relationships.contains(entry.links[index].relationship) {
            entry.links[index].old = entry.links[index].old.map { $0 == old ? new : $0 }
            entry.links[index].new = entry.links[index].new.map { $0 == old ? new : $0 }
        }
        return entry
    }

    /// Returns entries in the order in which they are dropped: newest first, but references to a new object before its
    /// create.
    package static func inOrderOfDropping(_ entries: [OutboxEntry]) -> [OutboxEntry] {
        var queue = DroppingQueue(entries)
        return entries.indices.map { _ in entries[queue.next()] }
    }
}

/// The places of entries that are still to be dropped.
///
/// An entry is free if none of the others waits for it, and none is a later one of its object.
private struct DroppingQueue {
    private struct Object: Hashable {
        let entity: String
        let key: [StoredValue]
    }

    private let objects: [Object]
    /// The places of the entries that each waits for.
    private let awaited: [[Int]]
    /// The number of entries left that wait for each.
    private var waiting: [Int]
    /// The places of the entries left of each object, newest last.
    private var ofObject: [Object: [Int]]
    private var isLeft: [Bool]
    /// The places of the free entries, in ascending order.
    private var free: [Int] = []
    /// No entry after this place is left.
    private var end: Int

    init(_ entries: [OutboxEntry]) {
        let places = Dictionary(zip(entries.map(\.id), entries.indices), uniquingKeysWith: { $1 })
        objects = entries.map { Object(entity: $0.entity, key: $0.key) }
        awaited = entries.map { entry in
            Set(entry.dependsOn).compactMap { $0 == entry.id ? nil : places[$0] }
        }
        waiting = entries.map { _ in 0 }
        isLeft = entries.map { _ in true }
        end = entries.count - 1
        ofObject = [:]
        for place in entries.indices.sorted(by: { entries[$0].id < entries[$1].id }) {
            ofObject[objects[place], default: []].append(place)
        }
        for places in awaited { for place in places { waiting[place] += 1 } }
        free = entries.indices.filter(isFree)
    }

    private func isFree(_ place: Int) -> Bool {
        isLeft[place] && waiting[place] == 0 && ofObject[objects[place]]?.last == place
    }

    /// Removes the last free entry, or where entries wait for each other the last one of all, and returns its place.
    mutating func next() -> Int {
        while !isLeft[end] { end -= 1 }
        let next = free.popLast() ?? end
        isLeft[next] = false
        let object = objects[next]
        // It is mostly the object's last one.
        if let index = ofObject[object]?.lastIndex(of: next) { ofObject[object]?.remove(at: index) }
        for place in awaited[next] { waiting[place] -= 1 }
        for place in awaited[next] + [ofObject[object]?.last].compactMap(\.self) where isFree(place) { insert(place) }
        return next
    }

    private mutating func insert(_ place: Int) {
        var (low, high) = (0, free.count)
        while low < high {
            let middle = (low + high) / 2
            if free[middle] < place { low = middle + 1 } else { high = middle }
        }
        if low == free.count || free[low] != place { free.insert(place, at: low) }
    }
}
