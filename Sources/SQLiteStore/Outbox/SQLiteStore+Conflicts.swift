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

    /// Decides conflicts of an object, recorded as a run of the kind `resolve`; what has none left is sent again.
    ///
    /// With the local side the edit is sent as it is; of an object that the remote deleted it becomes a create. With the
    /// remote side the edit is given up, and the row becomes what the remote has.
    ///
    /// - Parameter column: Only of this column or relationship; nil for all.
    /// - Throws: ``StoreError`` of the code `request` when there is no such conflict, or the object's edit is being sent.
    public func resolve(entity: String, key: [StoredValue], column: String? = nil, take: Side) throws {
        _ = try changeRows("resolve", "deciding a conflict") { editor in
            try editor.resolve(entity, key, column: column, take: take)
        }
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

    /// Forgets entries and rolls their local changes back, recorded as a run of the kind `drop`.
    ///
    /// Columns become what the remote has, as far as imports have brought that since the edit; a new object goes, and a
    /// deleted one comes back.
    ///
    /// - Throws: ``StoreError`` of the code `request` for an entry that is not there or is being sent, and when later
    ///   edits build upon one and are not dropped with it. Then nothing is changed.
    public func dropOutbox(_ ids: [Int64]) throws {
        _ = try changeRows("drop", "dropping edits") { editor in try editor.drop(ids) }
    }

    static func noEntry(_ id: Int64) -> StoreError {
        StoreError(.request, "there is no edit \(id) that waits", remedy: "`bmo outbox` lists those that do")
    }
}
