internal import GRDB
internal import StoreContract
internal import Mapping

/// The removal of stubs that are no longer referenced, in the transaction that removed the last reference.
///
/// Code that removes a reference notes its ends here, and each is checked once before the transaction is committed. A
/// stub that is unreferenced and has no values or lists of its own is deleted.
final class AbandonedStubs {
    private struct Candidate: Hashable {
        let root: Int
        let key: [StoredValue]
    }

    private let model: CompiledModel
    private unowned let writers: Writers
    private let connection: OpaquePointer?
    /// The number of stubs of each entity's root; most have none, and then nothing is noted.
    private let counts: [ObjectCount]
    private var candidates: Set<Candidate> = []
    private var checks: [Int: ReferenceCheck] = [:]

    init(_ model: CompiledModel, _ writers: Writers, on connection: OpaquePointer?) {
        self.model = model
        self.writers = writers
        self.connection = connection
        counts = model.entities.map { writers.stubs.count(of: model.entities[$0.root].name) }
    }

    /// Returns whether an entity has stubs, so that references to its objects are noted.
    func mayHave(_ entity: Int) -> Bool { counts[entity].value > 0 }

    /// Notes that a reference to or from an object was removed.
    func note(_ entity: Int, _ key: [StoredValue]) throws {
        guard mayHave(entity), !key.isEmpty, !key.contains(.null) else { return }
        let root = model.entities[entity].root
        guard try writers.stubs.contains(model.entities[root].name, .key(key)) else { return }
        candidates.insert(Candidate(root: root, key: key))
    }

    /// Notes a reference to an object that was not stored, or only briefly: a stub created for it is abandoned.
    func noteOffered(_ entity: Int, _ key: [StoredValue]) {
        guard !key.isEmpty, !key.contains(.null) else { return }
        candidates.insert(Candidate(root: model.entities[entity].root, key: key))
    }

    /// Drops candidates that are not stubs if there are very many; call it after a batch.
    func prune() throws {
        guard candidates.count > Self.most else { return }
        candidates = try candidates.filter {
            try mayHave($0.root) && writers.stubs.contains(model.entities[$0.root].name, .key($0.key))
        }
    }

    /// The number of candidates kept without a check.
    private static let most = 10_000

    /// Discards the notes of a page that was rolled back.
    func forget() { candidates = [] }

    /// Removes the noted objects that are abandoned stubs; returns the roots whose rows were deleted.
    ///
    /// Call it right before the commit.
    func settle() throws -> Set<Int> {
        var roots: Set<Int> = []
        // A fixed order makes the history reproducible.
        let order = candidates.sorted {
            ($0.root, JSONText.key($0.key).string) < ($1.root, JSONText.key($1.key).string)
        }
        candidates = []
        for candidate in order where try remove(candidate.root, candidate.key) { roots.insert(candidate.root) }
        candidates = []
        return roots
    }

    private func remove(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        guard try isAbandoned(root, key) else { return false }
        let editor = try writers.remover.editor(root)
        guard let row = try editor.row(key) else {
            return try writers.stubs.remove(model.entities[root].name, .key(key))
        }
        do {
            try editor.delete(key, row)
        } catch let error as StoreError where error.code == .constraint {
            // A table not created by bmo refers to it.
            return false
        }
        return true
    }

    /// Returns whether an object is an unreferenced stub without values or lists of its own.
    func isAbandoned(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let layout = model.entities[root]
        guard mayHave(root), try writers.stubs.contains(layout.name, .key(key)) else { return false }
        if let row = try writers.remover.editor(root).row(key) {
            let own = Set(layout.key + [layout.discriminator].compactMap { $0 })
            guard row.indices.allSatisfy({ own.contains($0) || row[$0] == .null }) else { return false }
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            guard try writers.links(root, index).keys(of: key).isEmpty else { return false }
        }
        let check = try checks[root] ?? ReferenceCheck(to: layout, in: model, on: connection)
        checks[root] = check
        return try !check.isReferred(key)
    }
}

extension SQLiteStore {
    /// Removes all unreferenced stubs, which other programs or earlier versions of bmo have left.
    ///
    /// Takes the write lock only if there are any. Call it between pages.
    ///
    /// - Returns: The number of stubs removed.
    /// - Throws: ``StoreError``.
    @discardableResult
    public func removeAbandonedStubs() throws -> Int {
        var count = 0
        for layout in model.entities where layout.index == layout.root && !layout.key.isEmpty {
            var last = ""
            while let (keys, next) = try abandonedStubs(of: layout, after: last) {
                last = next
                guard !keys.isEmpty else { continue }
                let page = try beginOwnPage()
                do {
                    try page.access {
                        page.touch(layout.index)
                        for key in keys { try writers.abandoned.note(layout.index, key) }
                    }
                    try page.commit()
                } catch {
                    page.rollback()
                    throw error
                }
                count += keys.count
            }
        }
        return count
    }

    /// Returns the abandoned stubs among the next thousand stubs, and the position to continue from; nil at the end.
    private func abandonedStubs(
        of layout: EntityLayout, after last: String
    ) throws -> (keys: [[StoredValue]], last: String)? {
        try SQLiteStore.translating("looking for abandoned stubs") {
            try writer.writeWithoutTransaction { db in
                let writers = try writers
                guard writers.abandoned.mayHave(layout.index) else { return nil }
                let select = try RawStatement(
                    "SELECT key FROM bmo_stubs WHERE entity = ? AND key > ? ORDER BY key LIMIT 1000",
                    on: db.sqliteConnection)
                select.bind(layout.name, at: 1)
                select.bind(last, at: 2)
                var texts: [String] = []
                while try select.step() { texts.append(select.text(0) ?? "") }
                select.reset()
                guard let end = texts.last else { return nil }
                let keys = try texts.compactMap(layout.key(from:)).filter {
                    try writers.abandoned.isAbandoned(layout.index, $0)
                }
                return (keys, end)
            }
        }
    }
}
