internal import GRDB
internal import GRDBSQLite
public import StoreContract
internal import StoreRules
public import Mapping

extension SQLiteStore {
    // MARK: - Reading

    /// Returns the edits in the outbox, in order of creation.
    ///
    /// - Throws: `StoreError`.
    public func outbox(entity: String? = nil, state: OutboxEntry.State? = nil) throws -> [OutboxEntry] {
        try readOutbox { outbox in
            try outbox.entries(
                "WHERE (?1 IS NULL OR entity = ?1) AND (?2 IS NULL OR state = ?2) ORDER BY id",
                [entity.map { .text($0) } ?? .null, state.map { .text($0.rawValue) } ?? .null])
        }
    }

    /// Returns one edit in the outbox; nil if there is none with this ID.
    ///
    /// - Throws: `StoreError`.
    public func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try readOutbox { try $0.entry(id) } }

    /// Returns the first entry that may be sent at `instant`.
    ///
    /// It is pending, due and the first entry of its object, and all objects that it refers to are on the remote.
    ///
    /// - Parameters:
    ///   - instant: The time as ISO 8601, in the form of `Clock.now()`.
    ///   - entities: The entities to consider; nil for all.
    ///   - excluding: The IDs of entries to skip.
    ///   - entries: The IDs of entries to consider; nil for all.
    /// - Throws: `StoreError`.
    public func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>? = nil
    ) throws -> OutboxEntry? {
        try readOutbox { outbox in
            try outbox.next(at: instant, of: entities) { id, entity in
                entities?.contains(entity) != false && !excluding.contains(id) && entries?.contains(id) != false
            }
        }
    }

    /// Returns the entries that an entry waits for: earlier ones of its object, and the creates of the objects that it
    /// refers to.
    ///
    /// - Throws: `StoreError`.
    public func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] {
        try readOutbox { outbox in try outbox.blockers(of: entry, in: model) }
    }

    /// Returns the edits of one object in the outbox, in order of creation.
    ///
    /// - Throws: `StoreError`.
    public func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        try readOutbox { outbox in
            guard let index = model.index(of: entity) else { return [] }
            return try outbox.entries(model.entities[index].root, key)
        }
    }

    /// Returns the columns and to-many relationships of an object that have unconfirmed edits.
    ///
    /// - Throws: `StoreError`.
    public func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        try readOutbox { outbox in
            guard let index = model.index(of: entity) else { return [] }
            let entries = try outbox.entries(model.entities[index].root, key)
            return model.entities[index].pendingFields(entries)
        }
    }

    /// Returns whether an edit that left the outbox was undone, or given up by an import, before it was pushed.
    ///
    /// The answer depends on the history that is kept.
    ///
    /// - Throws: `StoreError`.
    public func wasDropped(_ id: Int64) throws -> Bool {
        try read("looking what became of an edit") { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM bmo_runs AS r, json_each(r.summary, '$.dropped') AS d
                    WHERE r.kind IN ('edit', 'drop', 'resolve', 'undo') AND d.value = ?)
                    OR EXISTS (SELECT 1 FROM bmo_runs AS r, json_each(r.summary, '$.given_up') AS d
                    WHERE r.summary LIKE '%"given_up":[%' AND d.value = ?)
                    """, arguments: [id, id]) == true
        }
    }

    private func readOutbox<Result>(_ body: (OutboxTable) throws -> Result) throws -> Result {
        try read("reading the outbox") { db in
            try body(try OutboxTable(model, on: db.sqliteConnection, hasMemory: false))
        }
    }

    // MARK: - Sending

    /// Records durably that an entry is about to be sent, so that this is known after a power failure.
    ///
    /// - Returns: The entry to send, which later edits do not change; nil if it should not be sent any more, because it
    ///   was dropped or a conflict was found.
    /// - Throws: `StoreError`.
    @discardableResult
    public func markSending(_ id: Int64) throws -> OutboxEntry? {
        try changeOutbox("noting that an edit is sent") { try $0.markSending(id) }
    }

    /// Records the outcome of an entry that was not acknowledged; does nothing if the entry is gone.
    ///
    /// - Throws: `StoreError`.
    public func settle(_ id: Int64, _ outcome: EditOutcome) throws {
        try changeOutbox("noting what became of an edit") { try $0.settle(id, outcome) }
    }

    /// Marks entries that a dead process was sending as `unknown`; call it under the push lock.
    ///
    /// - Returns: Those entries.
    /// - Throws: `StoreError`.
    public func recoverSending() throws -> [OutboxEntry] {
        let sending = try outbox(state: .sending)
        guard !sending.isEmpty else { return [] }
        return try changeOutbox("looking for edits that were being sent") { try $0.recoverSending(sending) }
    }

    // MARK: - Transactions

    /// Changes the outbox, but no rows, in its own transaction, which is on disk when this returns.
    func changeOutbox<Result>(_ action: String, _ body: (EditTables) throws -> Result) throws -> Result {
        try editing(action, isDurable: true) { db in
            try inTransaction(db) {
                try writers.refresh()
                return try body(writers.editTables)
            }
        }
    }

    /// Runs a local edit on the writer, after waiting for another process's page; this process must not have an open
    /// page.
    ///
    /// - Parameter isDurable: Whether the commit is on disk when this returns.
    func editing<Result>(
        _ action: String, isDurable: Bool = false, _ body: (Database) throws -> Result
    ) throws -> Result {
        try SQLiteStore.translating(action) {
            try writer.writeWithoutTransaction { db in
                // An abandoned page does not count as open.
                try finishRollback(db)
                guard !db.isInsideTransaction || isRehearsal else {
                    throw StoreError(
                        .busy, "\(path): a page of an import is open on this connection",
                        remedy: "make edits through another SQLiteStore of the same file")
                }
                // SQLite accepts this only outside a transaction.
                if isDurable, !isRehearsal { try db.execute(sql: "PRAGMA synchronous = FULL") }
                defer { if isDurable, !isRehearsal { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
                do {
                    return try body(db)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    let holder = FileLock.holder(of: path).map { ", probably \($0)" } ?? ""
                    throw StoreError(
                        .busy,
                        "\(path): another process has been writing for \(Int(ConnectionSettings.lockTimeout)) seconds"
                            + holder,
                        remedy: "try again when it has ended")
                }
            }
        }
    }
}
