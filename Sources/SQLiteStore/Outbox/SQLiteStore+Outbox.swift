internal import GRDB
internal import GRDBSQLite
internal import Importer
public import Mapping

extension SQLiteStore {
    // MARK: - Reading

    /// The edits that wait, in the order in which they were made.
    ///
    /// - Throws: ``StoreError``.
    public func outbox(entity: String? = nil, state: OutboxEntry.State? = nil) throws -> [OutboxEntry] {
        try readOutbox { outbox in
            try outbox.entries(
                "WHERE (?1 IS NULL OR entity = ?1) AND (?2 IS NULL OR state = ?2) ORDER BY id",
                [entity.map { .text($0) } ?? .null, state.map { .text($0.rawValue) } ?? .null])
        }
    }

    /// One edit that waits; nil where there is none of that number.
    ///
    /// - Throws: ``StoreError``.
    public func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try readOutbox { try $0.entry(id) } }

    /// The first entry that may be sent at `instant`: pending, due, the first of its object, and all objects that it
    /// refers to are on the remote.
    ///
    /// - Parameters:
    ///   - instant: As ISO 8601, in the form of ``Clock/now()``.
    ///   - entities: Only entries of these; nil for all.
    ///   - excluding: Not these.
    ///   - entries: Only these; nil for all.
    /// - Throws: ``StoreError``.
    package func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>? = nil
    ) throws -> OutboxEntry? {
        try readOutbox { outbox in
            try outbox.next(at: instant) { entry in
                entities?.contains(entry.entity) != false && !excluding.contains(entry.id)
                    && entries?.contains(entry.id) != false
            }
        }
    }

    /// The entries that one waits for: earlier ones of its object, and the creates of what it refers to.
    ///
    /// - Throws: ``StoreError``.
    package func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] {
        try readOutbox { outbox in
            guard let root = outbox.root(of: entry) else { return [] }
            let earlier = try outbox.entries(root, entry.key).filter { $0.id < entry.id }
            return try earlier + entry.dependsOn.compactMap { try outbox.entry($0) }
        }
    }

    /// The edits of one object that wait, in the order in which they were made.
    ///
    /// - Throws: ``StoreError``.
    public func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        try readOutbox { outbox in
            guard let index = model.index(of: entity) else { return [] }
            return try outbox.entries(model.entities[index].root, key)
        }
    }

    /// The columns of an object that have edits which the remote has not confirmed, and its relationships to many.
    ///
    /// - Throws: ``StoreError``.
    public func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        try readOutbox { outbox in
            guard let index = model.index(of: entity) else { return [] }
            let entries = try outbox.entries(model.entities[index].root, key)
            let names = Set(entries.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
            let layout = model.entities[index]
            return (layout.fields.map(\.name) + layout.toMany.map(\.name)).filter(names.contains)
        }
    }

    /// Whether an edit that is not in the outbox any more was taken back here, or given up by an import, before the remote had
    /// it, as far as the history tells.
    ///
    /// - Throws: ``StoreError``.
    package func wasDropped(_ id: Int64) throws -> Bool {
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

    /// Notes durably that an entry is about to be sent: after a power failure it is known that it may have been.
    ///
    /// - Returns: The entry as it is to be sent, which later edits leave alone; nil when it is not to be sent any more:
    ///   somebody dropped it, or found a conflict.
    /// - Throws: ``StoreError``.
    @discardableResult
    package func markSending(_ id: Int64) throws -> OutboxEntry? {
        try changeOutbox("noting that an edit is sent", isDurable: true) { outbox in
            guard var entry = try outbox.entry(id), entry.state == .pending || entry.state == .unknown else {
                return nil
            }
            entry.state = .sending
            entry.attempts += 1
            // Of an earlier try: what is unknown from now on is given its time anew.
            entry.notBefore = nil
            try outbox.update(entry)
            return entry
        }
    }

    /// What became of an entry that was not acknowledged.
    package enum Settlement: Sendable {
        /// It was not done, and may be sent again at this instant (ISO 8601), or at once.
        case retry(at: String?, OutboxFailure)
        /// It was not done, and will not be.
        case refused(OutboxFailure)
        /// Nobody knows whether it was done; from this instant on, what the remote does not have will not come any more.
        case unknown(at: String?, OutboxFailure)
        /// It was not done: the remote's object is another.
        case conflict(OutboxFailure)
    }

    /// Notes what became of an entry that was not acknowledged; does nothing where it is gone.
    ///
    /// - Throws: ``StoreError``.
    package func settle(_ id: Int64, _ settlement: Settlement) throws {
        try changeOutbox("noting what became of an edit", isDurable: true) { outbox in
            guard var entry = try outbox.entry(id) else { return }
            entry.notBefore = nil
            switch settlement {
            case .retry(let instant, let failure):
                // What an import found meanwhile has to be decided first.
                let isConflict = try outbox.root(of: entry).map {
                    try !writers.conflicts.all(root: $0, key: entry.key).isEmpty
                }
                (entry.state, entry.failure) = (isConflict == true ? .conflict : .pending, failure)
                entry.notBefore = instant
            case .refused(let failure):
                (entry.state, entry.failure) = (.refused, failure)
                entry.mayHaveArrived = false
            case .unknown(let instant, let failure):
                (entry.state, entry.failure) = (.unknown, failure)
                entry.notBefore = instant
                entry.mayHaveArrived = true
            case .conflict(let failure):
                (entry.state, entry.failure) = (.conflict, failure)
                entry.mayHaveArrived = false
            }
            try outbox.update(entry)
        }
    }

    /// Entries that a dead process was sending become `unknown`; call it under the push lock.
    ///
    /// - Returns: Those entries.
    /// - Throws: ``StoreError``.
    package func recoverSending() throws -> [OutboxEntry] {
        guard try !outbox(state: .sending).isEmpty else { return [] }
        return try changeOutbox("looking for edits that were being sent", isDurable: true) { outbox in
            try outbox.entries("WHERE state = 'sending' ORDER BY id", []).map { entry in
                var entry = entry
                entry.state = .unknown
                entry.mayHaveArrived = true
                entry.failure = OutboxFailure(
                    code: "unknown", message: "the process that sent it ended before the answer came")
                try outbox.update(entry)
                return entry
            }
        }
    }

    // MARK: - Transactions

    /// Changes the outbox, and no rows, in a transaction of its own.
    func changeOutbox<Result>(
        _ action: String, isDurable: Bool = false, _ body: (OutboxTable) throws -> Result
    ) throws -> Result {
        try editing(action, isDurable: isDurable) { db in
            try inTransaction(db) {
                try writers.refresh()
                return try body(writers.outbox)
            }
        }
    }

    /// Gives the writer to a local edit, which waits for another process's page; no page may be open here.
    ///
    /// - Parameter isDurable: What is committed is on the disk afterwards.
    func editing<Result>(
        _ action: String, isDurable: Bool = false, _ body: (Database) throws -> Result
    ) throws -> Result {
        try SQLiteStore.translating(action) {
            try writer.writeWithoutTransaction { db in
                // One that was given up before is no page.
                try finishRollback(db)
                guard !db.isInsideTransaction || isRehearsal else {
                    throw StoreError(
                        .busy, "\(path): a page of an import is open on this connection",
                        remedy: "make edits through another SQLiteStore of the same file")
                }
                sqlite3_busy_timeout(db.sqliteConnection, 30_000)
                defer { sqlite3_busy_timeout(db.sqliteConnection, 5_000) }
                // SQLite takes this outside of transactions only.
                if isDurable, !isRehearsal { try db.execute(sql: "PRAGMA synchronous = FULL") }
                defer { if isDurable, !isRehearsal { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
                do {
                    return try body(db)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    let holder = FileLock.holder(of: path).map { ", probably \($0)" } ?? ""
                    throw StoreError(
                        .busy, "\(path): another process has been writing for 30 seconds\(holder)",
                        remedy: "try again when it has ended")
                }
            }
        }
    }
}
