/// An open database: the rows and the bookkeeping of one compiled model.
///
/// All calls block, and may come from any thread; a store serialises its writes. A page (``PageStore``) stays open over
/// several calls: in the meantime the thread that began it is the only one that may write through this store, while
/// reads see the committed state. Make local edits (``EditStore``) through another open store of the same database.
///
/// ```swift
/// let store = try provider.open("world.sqlite", model: model, for: .writing)
/// try store.beginRun(kind: "sync")
/// let page = try store.beginPage()
/// try page.access { ... }
/// try page.commit()
/// try store.endRun(outcome: "finished", summary: nil, always: false)
/// try store.close()
/// ```
///
/// Errors are ``StoreError``; a store opened for reading throws it from every call that writes.
public protocol Store: PageStore, ScanStore, ParentStore, HistoryStore, OutboxStore, EditStore, QueryStore,
    BookkeepingStore, CollectionStore, ChangeFeed
{
    /// Whether this store holds the database's lock; see ``keep(_:)``.
    var hasLock: Bool { get }

    /// Keeps the database's lock, and releases it when the store is closed.
    func keep(_ lock: any StoreLock)

    /// Closes the database; open pages are rolled back, and sequences of changes end.
    ///
    /// Safe to call twice. Other calls throw afterwards.
    ///
    /// - Throws: ``StoreError`` if the last writes cannot be completed.
    func close() throws
}
