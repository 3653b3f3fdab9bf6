/// A local database that an import can write to.
///
/// Only one page is written at a time, from one thread at a time; calls block. This is all that the importer needs of a
/// store, and its tests run against every conforming type. Errors are ``StoreError``.
///
/// ```swift
/// let page = try store.beginPage()
/// try page.access { try page.merge(rows) { _, _ in } }
/// try page.commit()
/// ```
public protocol PageStore: AnyObject, Sendable {
    /// Begins the transaction of a page.
    ///
    /// End it with `commit` or `rollback` before you begin another.
    ///
    /// - Throws: ``StoreError``: `busy` if a page is open in this store, or another process is writing for too long.
    func beginPage() throws -> any PageTransaction
}

/// The transaction that writes one page.
///
/// A page has one or more batches of at most some thousand records. The calls that write rows take the whole batch, so
/// that a store behind a network can look up all its keys in one round trip, compare in memory and write what differs
/// with one statement per entity; an embedded store works through the batch row by row.
///
/// The order of calls:
/// 1. `follow(_:)`, if the page belongs to a scan;
/// 2. per batch `setSource(_:)`, quarantined records and noted members, `merge(_:outcome:)`,
///    `ensure(_:created:)` for the references of the rows that were written, `mergeLinks(_:changed:)`, and
///    `delete(_:deleted:)` for the objects that the remote reports as deleted;
/// 3. `finish(_:)` in the last page of a scan, and `saveProgress(_:progress:)`;
/// 4. ``commit()`` or ``rollback()``.
///
/// A transaction may also have the pages of several scans by parent that have one page only: ``announce(_:_:)`` names them
/// all, and steps 1 to 3 follow for one scan after the other. The scans have begun before the transaction
/// (`ScanStore.beginScan`). It leaves what as many transactions would have left. After a rollback, the same scans may be
/// followed again, so the store must forget what it has noted of them, in memory too.
///
/// All calls except `commit` and `rollback` are made inside ``access(_:)``, from one thread at a time, and block. A call
/// sees the effects of the calls before it. After an error the page can only be rolled back; the one exception is a row
/// that a rule of the database rejects, which `merge` reports as that row's outcome.
///
/// ```swift
/// let page = try store.beginPage()
/// do {
///     try page.access {
///         try page.follow(scan)
///         try page.merge(rows) { index, result in
///             if case .failure(let error) = result { try page.quarantine(record(of: rows[index], error)) }
///         }
///         try page.ensure(references) { counts[references[$0].entity].stubs += 1 }
///         try page.mergeLinks(lists) { counts[lists[$0].entity].relinked += 1 }
///         try page.saveProgress(scan.scope, progress: position)
///     }
///     try page.commit()
/// } catch {
///     page.rollback()
///     throw error
/// }
/// ```
public protocol PageTransaction: RowTransaction, ScanTransaction {
    /// Runs `body`, which may make the other calls except `commit` and `rollback`.
    ///
    /// One access can serve many calls.
    func access(_ body: () throws -> Void) throws

    /// Announces the scans whose pages the transaction will have, the objects of their records, and the parents.
    ///
    /// A store behind a network reads what the later calls need of all of them at once; by default nothing happens. The
    /// calls have the same effects without it.
    func announce(_ scans: [AnnouncedScan], _ objects: [ObjectKey]) throws

    /// Commits the page's writes.
    func commit() throws

    /// Rolls the page's writes back.
    ///
    /// Safe after a failure, and safe to call twice.
    func rollback()
}

extension PageTransaction {
    /// Does nothing.
    public func announce(_ scans: [AnnouncedScan], _ objects: [ObjectKey]) {}
}
