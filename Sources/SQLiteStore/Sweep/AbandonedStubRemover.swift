internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping

/// The removal of stubs that are no longer referenced, in the transaction that removed the last reference.
///
/// A stub that is unreferenced and has no values or lists of its own is deleted.
final class AbandonedStubRemover {
    private let model: CompiledModel
    private let abandoned: AbandonedStubs
    private let rowEditors: RowEditors
    private let linkWriters: LinkWriters
    private let connection: OpaquePointer?
    private var checks: [Int: ReferenceCheck] = [:]

    init(
        _ model: CompiledModel, _ abandoned: AbandonedStubs, _ rowEditors: RowEditors, _ linkWriters: LinkWriters,
        on connection: OpaquePointer?
    ) {
        self.model = model
        self.abandoned = abandoned
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
        self.connection = connection
    }

    /// Removes the noted objects that are abandoned stubs; returns the roots whose rows were deleted.
    ///
    /// Call it right before the commit.
    func settle() throws -> Set<Int> {
        var roots: Set<Int> = []
        for (root, key) in abandoned.take() where try remove(root, key) { roots.insert(root) }
        abandoned.forget()
        return roots
    }

    private func remove(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        guard try isAbandoned(root, key) else { return false }
        let editor = try rowEditors(root)
        guard let row = try editor.row(key) else {
            return try rowEditors.stubs.remove(model.entities[root].name, .key(key))
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
        guard abandoned.mayHave(root), try rowEditors.stubs.contains(layout.name, .key(key)) else { return false }
        if let row = try rowEditors(root).row(key) {
            let own = Set(layout.key + [layout.discriminator].compactMap { $0 })
            guard row.indices.allSatisfy({ own.contains($0) || row[$0] == .null }) else { return false }
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            guard try linkWriters(root, index).keys(of: key).isEmpty else { return false }
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
                    try writers.abandonedRemover.isAbandoned(layout.index, $0)
                }
                return (keys, end)
            }
        }
    }
}
