internal import StoreContract
internal import GRDB
internal import Mapping
internal import StoreRules
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The memories of a database's listings, for as long as the database has no rows but those that their scans left.
///
/// - In this process, each commit says which tables it wrote: what it did not write as the listing itself is forgotten.
/// - A commit of another process shows in `PRAGMA data_version`, which each page reads in its transaction.
/// - Between two processes, a file keeps them for exactly one content of the database; see ``BatchMemoryFile``.
///
/// Used only inside the writer's accesses.
final class BatchMemories {
    private let model: CompiledModel
    private let path: String
    /// The path without symbolic links, beside which SQLite has the write-ahead log; the database exists when it is first used.
    private lazy var resolved = FileLock.resolve(path)
    /// The file that keeps the listings; nil if there is nowhere to keep it.
    private lazy var file = resolved.flatMap { BatchMemoryFile(of: $0, model: model) }
    /// The database that was opened, which another file may replace meanwhile.
    var identity: FileIdentity?
    private var memories: ListingMemories
    /// The version of the database at which the listings are valid, as this connection sees it.
    private var version: Int64?
    /// The content of the database for which the file was read or written.
    private var kept: String?
    private var isRead = false
    /// Whether the database has triggers, and the version of its schema that was searched for them.
    private var triggers: (isAny: Bool, schema: Int64)?

    init(of path: String, model: CompiledModel) {
        self.model = model
        self.path = path
        memories = ListingMemories(model)
    }

    /// Reads what the last process has kept, once.
    func read(_ db: Database) throws {
        guard !isRead else { return }
        isRead = true
        // The version comes first: a commit after it shows, whether the stamp has it or not.
        try noteVersion(db)
        guard let file, let stamp else { return }
        if let last = file.read(), last.stamp == stamp { memories.take(last.listings) }
        kept = stamp
    }

    /// Begins the scan of a listing; returns its memory.
    ///
    /// - Returns: Nil if the database has triggers, which may write any row with those of a page.
    func begin(_ scan: ScanTarget, mapping: String, _ db: Database) throws -> ListingMemory? {
        try noteVersion(db)
        if try hasTriggers(db) {
            memories.forgetAll()
            return nil
        }
        return memories.begin(scan, mapping: mapping)
    }

    /// Searches the schema, which has a row of each table, only after a change of it.
    ///
    /// A temporary trigger could only come from this connection, which makes none.
    private func hasTriggers(_ db: Database) throws -> Bool {
        let schema = try Int64.fetchOne(db, sql: "PRAGMA schema_version")
        if let triggers, triggers.schema == schema { return triggers.isAny }
        let isAny = try Bool.fetchOne(db, sql: TriggerCheck.sql) == true
        triggers = schema.map { (isAny, $0) }
        return isAny
    }

    /// Returns the memory of a listing that is being scanned.
    func memory(of scope: ScanScope) -> ListingMemory? { memories.memory(of: scope) }

    /// Ends the scan of a listing.
    func end(_ scope: ScanScope) { memories.end(scope) }

    /// Notes a version of the database: if another process has written, everything is forgotten.
    func noteVersion(_ new: Int64) {
        if let version, new != version {
            memories.forgetAll()
            // The known schema may be one that a rollback took back, and another process may have reached its version.
            triggers = nil
        }
        version = new
    }

    private func noteVersion(_ db: Database) throws {
        guard let new = try Int64.fetchOne(db, sql: "PRAGMA data_version") else { return }
        noteVersion(new)
    }

    /// Notes the entities whose rows a transaction of this process has written.
    ///
    /// - Parameter own: The listing that has accounted for its own batches.
    func committed(_ entities: some Sequence<Int>, by own: ListingMemory?) {
        memories.committed(entities, by: own)
    }

    // MARK: The file

    /// The stamp of the database; nil if a write-ahead log has more content than the file, another file is in the place of the
    /// one that was opened, or the stamp is not exact.
    private var stamp: String? {
        guard let resolved, FileStamp(resolved + "-wal").map({ $0.size == 0 }) ?? true,
            let stamp = FileStamp(resolved), stamp.identity == identity, !stamp.hasWholeSeconds
        else { return nil }
        return stamp.text
    }

    /// Keeps the listings for the next process, after the last transaction of this one.
    ///
    /// Nothing is kept while other processes have the database open and read it, or its file system notes no exact times.
    func save(_ db: Database) throws {
        guard let file, isRead else { return }
        // After a sync that has found nothing new, all is as it was.
        if let kept, kept == stamp, !memories.areChanged { return }
        guard let filled = memories.worthKeeping, try !hasTriggers(db) else { return }
        // Not to wait for readers.
        try db.execute(sql: "PRAGMA busy_timeout = 0")
        guard let result = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)"), result[0] == 0 else { return }
        try db.beginTransaction(.immediate)
        defer { try? db.rollback() }
        let before = version
        try noteVersion(db)
        guard before == version else { return }
        // Later changes must have a later time. No other process can write meanwhile.
        while let age = resolved.flatMap({ FileStamp($0)?.age }), age >= .zero, age < FileStamp.tick { usleep(2_000) }
        guard let stamp else { return }
        file.write(filled, for: stamp)
        kept = stamp
        memories.noteSaved()
    }
}
