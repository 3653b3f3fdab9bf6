internal import GRDB
internal import Importer
public import Mapping

extension SQLiteStore {
    /// The columns that were changed here and on the remote, in the order in which they were found.
    ///
    /// - Throws: ``StoreError``.
    public func conflicts(entity: String? = nil, key: [StoredValue]? = nil) throws -> [EditConflict] {
        try read("reading the conflicts") { db in
            try ConflictTable(model, on: db.sqliteConnection).all(key: key, entity: entity)
        }
    }

    /// Whose value to take.
    public enum Side: String, Sendable, CaseIterable {
        case local, remote
    }

    /// Decides conflicts of an object: of a column, or all.
    public func resolve(entity: String, key: [StoredValue], column: String? = nil, take: Side) throws {
        throw StoreError(.internal, "not written yet")
    }

    /// Makes refused entries, those in conflict with the remote, and those that wait for a later try, due now.
    ///
    /// One of which nobody knows what became of it is read back first, as before, unless somebody has looked.
    ///
    /// - Parameter sendingUnknown: Sends those again too, with the same idempotency key.
    /// - Throws: ``StoreError`` of the code `request` for an entry that is not there, is being sent, or has conflicts
    ///   that are not decided. Then nothing is changed.
    public func retryOutbox(_ ids: [Int64], sendingUnknown: Bool = false) throws {
        try changeOutbox("trying edits again", isDurable: true) { outbox in
            for id in ids {
                guard var entry = try outbox.entry(id) else { throw Self.noEntry(id) }
                entry.notBefore = nil
                switch entry.state {
                case .unknown where sendingUnknown: entry.state = .pending
                case .pending, .unknown: break
                case .sending:
                    throw StoreError(
                        .request, "edit \(id) is being sent", remedy: "wait for `bmo push` to end, or run it")
                case .refused, .conflict:
                    if let root = outbox.root(of: entry),
                        let conflict = try writers.conflicts.all(root: root, key: entry.key).first
                    {
                        throw StoreError(
                            .request,
                            "edit \(id) has a conflict of \(conflict.column ?? "the whole object") that is not decided",
                            remedy: "`bmo resolve \(entry.entity) KEY --take local` or `--take remote`")
                    }
                    entry.state = .pending
                    // It was not done: what is sent now is another request.
                    entry.idempotencyKey = LocalEditor.newKey()
                }
                try outbox.update(entry)
            }
        }
    }

    /// Forgets entries and rolls their local changes back.
    public func dropOutbox(_ ids: [Int64]) throws { throw StoreError(.internal, "not written yet") }

    static func noEntry(_ id: Int64) -> StoreError {
        StoreError(.request, "there is no edit \(id) that waits", remedy: "`bmo outbox` lists those that do")
    }
}
