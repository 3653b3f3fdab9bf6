import Importer
import Mapping
import Model
import Synchronization

/// A store without a database: what the importer asks of a store, done in the plainest way.
final class MemoryStore: Store {
    typealias Key = [StoredValue]

    struct Contents {
        /// Per entity.
        var rows: [[Key: [StoredValue]]]
        var stubs: [Set<Key>]
        /// Per table: the targets of each source, in order.
        var links: [String: [Key: [Key]]] = [:]
        var quarantine: [QuarantinedRecord] = []
        var progress: [Int: WalkProgress] = [:]
    }

    let model: CompiledModel
    private let state: Mutex<Contents>

    init(_ model: CompiledModel) {
        self.model = model
        let count = model.entities.count
        state = Mutex(
            Contents(rows: Array(repeating: [:], count: count), stubs: Array(repeating: [], count: count)))
    }

    var contents: Contents { state.withLock { $0 } }

    func beginPage() -> any PageTransaction { MemoryTransaction(self, contents) }

    fileprivate func replace(_ contents: Contents) { state.withLock { $0 = contents } }
}

/// Works on a copy, which takes the original's place or is thrown away.
private final class MemoryTransaction: PageTransaction {
    private let store: MemoryStore
    private var contents: MemoryStore.Contents

    init(_ store: MemoryStore, _ contents: MemoryStore.Contents) {
        self.store = store
        self.contents = contents
    }

    func access(_ body: () throws -> Void) throws { try body() }

    func commit() { store.replace(contents) }

    func rollback() { contents = store.contents }

    func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) -> MergeOutcome {
        let layout = store.model.entities[entity]
        let entity = layout.root
        var key = layout.key.map { cells[$0].value ?? .null }
        // Without a key every record is a row of its own.
        if key.isEmpty { key = [.integer(Int64(contents.rows[entity].count))] }
        guard let old = contents.rows[entity][key] else {
            contents.rows[entity][key] = cells.map { $0.value ?? .null }
            if role == .reference { contents.stubs[entity].insert(key) }
            return .inserted
        }
        var new = zip(cells, old).map { cell, value in cell.value ?? value }
        if let field = layout.discriminator, case .text(let before) = old[field], case .text(let after) = new[field],
            !layout.becomes(after, from: before, isReference: role == .reference)
        {
            new[field] = old[field]
        }
        contents.rows[entity][key] = new
        if role != .reference, contents.stubs[entity].remove(key) != nil { return .inserted }
        return new == old ? .unchanged : .updated
    }

    func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) -> Bool {
        let layout = store.model.entities[entity]
        let entity = layout.root
        let values = key.map { $0.value ?? .null }
        guard contents.rows[entity][values] == nil else { return false }
        var row = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (field, value) in zip(layout.key, values) { row[field] = value }
        if let field = layout.discriminator { row[field] = .text(layout.name) }
        contents.rows[entity][values] = row
        contents.stubs[entity].insert(values)
        return true
    }

    func mergeLinks(entity: Int, relationship: Int, owner: [Cell], targets: UnsafeBufferPointer<Cell>) -> Bool {
        let relationship = store.model.entities[entity].toMany[relationship]
        let owner = owner.map { $0.value ?? .null }
        let width = store.model.entities[relationship.target].key.count
        var new: [MemoryStore.Key] = []
        for first in stride(from: 0, to: targets.count, by: width) {
            let key = targets[first..<first + width].map { $0.value ?? .null }
            if !new.contains(key) { new.append(key) }
        }
        func merged(_ old: [MemoryStore.Key]) -> [MemoryStore.Key] {
            switch relationship.merge {
            case .replace: new
            case .append: old + new.filter { !old.contains($0) }
            case .insertAtBeginning: new + old.filter { !new.contains($0) }
            }
        }
        switch relationship.storage {
        case .links(let table):
            let old = contents.links[table]?[owner] ?? []
            contents.links[table, default: [:]][owner] = merged(old)
            return merged(old) != old
        case .reversedLinks(let table):
            return mergeSources(of: owner, in: table, merged)
        case .inverse(let toOne):
            return detachChildren(of: owner, relationship, toOne: toOne, except: merged)
        }
    }

    /// The owner is the target: it is added to the lists of its sources, or taken out.
    private func mergeSources(
        of owner: MemoryStore.Key, in table: String, _ merged: ([MemoryStore.Key]) -> [MemoryStore.Key]
    ) -> Bool {
        let lists = contents.links[table] ?? [:]
        let old = lists.filter { $0.value.contains(owner) }.map(\.key)
        let wanted = merged(old)
        for source in old where !wanted.contains(source) {
            contents.links[table, default: [:]][source, default: []].removeAll { $0 == owner }
        }
        for source in wanted where !old.contains(source) {
            contents.links[table, default: [:]][source, default: []].append(owner)
        }
        return Set(old) != Set(wanted)
    }

    /// The children refer to the owner: those that are not wanted any more refer to nothing.
    private func detachChildren(
        of owner: MemoryStore.Key, _ relationship: EntityLayout.ToMany, toOne: Int,
        except merged: ([MemoryStore.Key]) -> [MemoryStore.Key]
    ) -> Bool {
        let reference = store.model.entities[relationship.target].toOne[toOne]
        let fields = reference.firstField..<reference.firstField + reference.fieldCount
        let root = store.model.entities[relationship.target].root
        let children = contents.rows[root].filter { Array($0.value[fields]) == owner }.map(\.key)
        let detached = Set(children).subtracting(merged(children))
        for child in detached {
            for field in fields { contents.rows[root][child]?[field] = .null }
        }
        return !detached.isEmpty
    }

    func quarantine(_ record: QuarantinedRecord) {
        let known = contents.quarantine.firstIndex {
            $0.entity == record.entity && $0.reason.utf8.elementsEqual(record.reason.utf8)
                && $0.representation.utf8.elementsEqual(record.representation.utf8)
        }
        if let known { contents.quarantine[known] = record } else { contents.quarantine.append(record) }
    }

    func saveProgress(entity: Int, progress: WalkProgress?) { contents.progress[entity] = progress }
}
