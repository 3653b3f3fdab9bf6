import Importer
import StoreContract
import Mapping
import Model
import Synchronization

/// A store without a database: what the importer asks of a store, done in the plainest way.
final class MemoryStore: PageStore {
    typealias Key = [StoredValue]

    struct Contents {
        /// Per entity.
        var rows: [[Key: [StoredValue]]]
        var stubs: [Set<Key>]
        /// Per table: the targets of each source, in order.
        var links: [String: [Key: [Key]]] = [:]
        var quarantine: [QuarantinedRecord] = []
        var progress: [WalkScope: WalkProgress] = [:]
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

    func commit() {
        removeAbandonedStubs()
        store.replace(contents)
    }

    /// Stubs that nothing refers to, and that have no value and no list.
    private func removeAbandonedStubs() {
        for (root, stubs) in contents.stubs.enumerated() {
            let layout = store.model.entities[root]
            let own = layout.key + [layout.discriminator].compactMap { $0 }
            for key in stubs {
                let row = contents.rows[root][key] ?? []
                guard row.indices.allSatisfy({ own.contains($0) || row[$0] == .null }) else { continue }
                let hasList = layout.toMany.contains { toMany in
                    guard case .links(let table) = toMany.storage else { return false }
                    return contents.links[table]?[key]?.isEmpty == false
                }
                guard !hasList, !isReferred(root, key) else { continue }
                contents.rows[root][key] = nil
                contents.stubs[root].remove(key)
            }
        }
    }

    func rollback() { contents = store.contents }

    func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        for (index, row) in rows.enumerated() {
            try outcome(index, .success(merge(entity: row.entity, cells: row.cells, as: row.role)))
        }
    }

    private func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) -> MergeOutcome {
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
        var new = zip(cells, old).map { cell, value in
            cell.isFallback && value != .null ? value : cell.value ?? value
        }
        if let field = layout.discriminator, case .text(let before) = old[field], case .text(let after) = new[field],
            !layout.becomes(after, from: before, isReference: role == .reference)
        {
            new[field] = old[field]
        }
        contents.rows[entity][key] = new
        if role != .reference, contents.stubs[entity].remove(key) != nil { return .inserted }
        return new == old ? .unchanged : .updated
    }

    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) {
        for (index, reference) in references.enumerated() where ensure(entity: reference.entity, key: reference.key) {
            created(index)
        }
    }

    private func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) -> Bool {
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

    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) {
        for (index, list) in lists.enumerated() where merge(list) { changed(index) }
    }

    private func merge(_ list: PageLinks) -> Bool {
        let layout = store.model.entities[list.entity]
        let relationship = layout.toMany[list.relationship]
        let owner = layout.key.map { list.owner[$0].value ?? .null }
        let targets = list.targets
        let width = store.model.entities[relationship.target].key.count
        var new: [MemoryStore.Key] = []
        for first in stride(from: 0, to: targets.count, by: width) {
            let key = targets[first..<first + width].map { $0.value ?? .null }
            if !new.contains(key) { new.append(key) }
        }
        func merged(_ old: [MemoryStore.Key]) -> [MemoryStore.Key] {
            let merged =
                switch relationship.merge {
                case .replace: relationship.window.map { windowed(new, old, by: $0, relationship.target) } ?? new
                case .append: old + new.filter { !old.contains($0) }
                case .insertAtBeginning: new + old.filter { !new.contains($0) }
                }
            guard !relationship.isOrdered else { return merged }
            return old.filter(merged.contains) + merged.filter { !old.contains($0) }
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

    /// The reply's objects, and those of before outside of their span of an attribute, which is an integer here.
    private func windowed(
        _ new: [MemoryStore.Key], _ old: [MemoryStore.Key], by attribute: String, _ target: Int
    ) -> [MemoryStore.Key] {
        let layout = store.model.entities[target]
        let field = layout.fields.firstIndex { $0.name == attribute } ?? 0
        func value(_ key: MemoryStore.Key) -> Int64? {
            if case .integer(let value) = contents.rows[layout.root][key]?[field] { value } else { nil }
        }
        let span = new.compactMap(value)
        let kept = old.filter { key in
            guard !new.contains(key) else { return false }
            guard let value = value(key), let least = span.min(), let most = span.max() else { return true }
            return value < least || value > most
        }
        let all = new + kept
        return all.filter { value($0) != nil }.sorted { (value($0) ?? 0) < (value($1) ?? 0) }
            + all.filter { value($0) == nil }
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

    func saveProgress(_ scope: WalkScope, progress: WalkProgress?) { contents.progress[scope] = progress }

    // MARK: deletes

    func follow(_ walk: WalkTarget) {}

    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) {
        for (index, object) in objects.enumerated() {
            let counts = delete(entity: object.entity, key: object.values)
            if !counts.isEmpty { deleted(index, counts) }
        }
    }

    private func delete(entity: Int, key: [StoredValue]) -> [Int: Int] {
        let root = store.model.entities[entity].root
        guard store.model.model.entities[root].deletes.mode == .hard, var row = contents.rows[root][key] else {
            return [:]
        }
        let layout = store.model.entities[root]
        for case .links(let table) in layout.toMany.map(\.storage) { contents.links[table]?[key] = nil }
        if isReferred(root, key) {
            guard contents.stubs[root].insert(key).inserted else { return [:] }
            let kept = layout.key + [layout.discriminator].compactMap { $0 }
            for field in row.indices where !kept.contains(field) { row[field] = .null }
            contents.rows[root][key] = row
        } else {
            contents.rows[root][key] = nil
            contents.stubs[root].remove(key)
        }
        return [root: 1]
    }

    private func isReferred(_ target: Int, _ key: MemoryStore.Key) -> Bool {
        for layout in store.model.entities where layout.index == layout.root {
            for toOne in layout.toOne where store.model.entities[toOne.target].root == target {
                let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
                let refers = contents.rows[layout.index].contains { source, row in
                    (layout.index != target || source != key) && Array(row[fields]) == key
                }
                if refers { return true }
            }
            for toMany in layout.toMany where store.model.entities[toMany.target].root == target {
                guard case .links(let table) = toMany.storage else { continue }
                if contents.links[table]?.values.contains(where: { $0.contains(key) }) == true { return true }
            }
        }
        return false
    }

    func spare(_ rows: [SparedRows]) {}
    func spare(entity: Int, key: [StoredValue]) {}
    func spareUnknown() {}
    func finish(_ end: WalkEnd) -> SweepResult { SweepResult() }
    func finishParents(of entity: Int, _ rule: SweepRule) -> SweepResult { SweepResult() }
}
