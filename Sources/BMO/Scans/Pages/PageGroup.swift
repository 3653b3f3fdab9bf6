internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// The pages of parents that wait for a transaction, which they share.
///
/// A walk by parent has a page of a few rows for each parent, and most of what a small transaction takes is its beginning
/// and its end: behind a network, several round trips. While one transaction is imported, the pages that arrive wait here,
/// and the next one has them all; a page that waits alone is imported at once. If a transaction of several pages fails,
/// each page is imported in one of its own, so that a fault concerns its own parent only; if it may have been committed, all
/// of them fail.
final class PageGroup: Sendable {
    /// How a scan takes part in a group.
    struct Member: Sendable {
        let group: PageGroup
        /// Called when all that the scan receives waits for its import.
        let received: @Sendable () -> Void
    }

    /// A page that waits: the only one of its scan, which has no earlier position.
    struct Page: Sendable {
        let writer: PageWriter
        let batch: PreparedBatch
        let listener: PageWriter.Listener
        let onFailure: @Sendable () -> Void
        let result: Promise<Result<Void, any Error>>

        /// Imports the page in a transaction of its own.
        fileprivate func importAlone() {
            result.fulfil(Result { try writer.importBatch(batch, listener, onFailure) })
        }
    }

    /// The most records of a transaction with several pages.
    private static let mostRecords = 10_000
    /// The most pages of a transaction.
    private static let mostPages = 256

    /// The most bytes of records that wait while more are received.
    private static let mostBytes = 4 << 20

    private struct Waiting {
        var pages: [Page] = []
        var bytes = 0
        /// The number of transactions that failed with all their pages.
        var failures = 0
    }

    private let waiting = Mutex(Waiting())

    /// Whether more may be received while the pages wait.
    var hasRoom: Bool { waiting.withLock { $0.bytes < Self.mostBytes } }

    /// Adds a page; returns whether the caller has to call ``importAll()``, as no other one is about to.
    func add(_ page: Page) -> Bool {
        waiting.withLock { waiting in
            waiting.pages.append(page)
            waiting.bytes += page.byteCount
            return waiting.pages.count == 1
        }
    }

    /// Imports the pages that wait; call it on the import thread, while no page is open.
    func importAll() {
        var pages = waiting.withLock { waiting in
            defer { (waiting.pages, waiting.bytes) = ([], 0) }
            return waiting.pages[...]
        }
        while !pages.isEmpty {
            var records = 0
            let part = pages.prefix(Self.mostPages).prefix { page in
                records += page.batch.received
                return records <= Self.mostRecords
            }
            if part.count > 1 { importTogether(Array(part)) } else { pages.first?.importAlone() }
            pages = pages.dropFirst(max(1, part.count))
        }
    }

    /// The failure of a transaction with all its pages.
    struct TransactionFailure: Error {
        let reason: any Error
        /// A number that no other transaction of the group has.
        let number: Int
    }

    private func importTogether(_ pages: [Page]) {
        let before = pages.map(\.writer.state)
        do {
            try TransientRetry.usual.run {
                do {
                    try write(pages)
                } catch {
                    for (page, state) in zip(pages, before) { page.writer.takeBackShared(to: state) }
                    throw error
                }
            }
        } catch let error as StoreError where error.mayHaveCommitted {
            fail(pages[...], error)
            return
        } catch {
            importApart(pages)
            return
        }
        for page in pages {
            page.listener.begins(page.batch.page)
            page.listener.committed(page.writer.state, page.batch.page)
            page.result.fulfil(.success(()))
        }
    }

    /// Imports each page in a transaction of its own, until one fails because no transaction is possible.
    private func importApart(_ pages: [Page]) {
        for (index, page) in pages.enumerated() {
            page.importAlone()
            if let error = page.writer.failure as? StoreError, error.concernsAllPages {
                return fail(pages[(index + 1)...], error)
            }
        }
    }

    /// Ends the scans of pages with an error.
    private func fail(_ pages: ArraySlice<Page>, _ reason: any Error) {
        let number = waiting.withLock { waiting in
            waiting.failures += 1
            return waiting.failures
        }
        for page in pages {
            page.listener.begins(page.batch.page)
            page.onFailure()
            page.result.fulfil(.failure(TransactionFailure(reason: reason, number: number)))
        }
    }

    private func write(_ pages: [Page]) throws {
        guard let store = pages.first?.writer.store else { return }
        for page in pages { try page.writer.beginScan() }
        let transaction = try store.beginPage()
        do {
            try transaction.access {
                try transaction.announce(pages.map(\.announced), pages.flatMap(\.objects))
            }
            for page in pages { try page.writer.addShared(page.batch, to: transaction) }
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }
}

extension StoreError {
    /// Whether the next page would fail for the same reason.
    fileprivate var concernsAllPages: Bool {
        switch code {
        case .busy, .io, .superseded: true
        case .open, .schema, .request, .constraint, .internal: isTransient
        }
    }
}

extension PageGroup.Page {
    fileprivate var byteCount: Int {
        if case .mapped(let mapped, _)? = batch.records?.content { mapped.byteCount } else { 0 }
    }

    /// The page's scan, for the store.
    fileprivate var announced: AnnouncedScan {
        let request = writer.request
        let end = request.end(
            isComplete: batch.page.complete, isUnchanged: batch.page.unchanged, token: nil, newest: nil,
            isResumed: false,
            hasParent: true, listing: .only)
        let mayLeaveCursor = request.plan.incremental != nil || writer.parent?.state != nil
        return AnnouncedScan(writer.target, mayLeaveCursor: mayLeaveCursor, sweeps: end.sweep != nil)
    }

    /// The objects of the page's records, and the parent, to which they refer.
    fileprivate var objects: [ObjectKey] {
        var objects: [ObjectKey] = []
        if case .mapped(let mapped, _)? = batch.records?.content { objects = mapped.objects(in: writer.model) }
        guard !objects.isEmpty, let parent = writer.target.parent else { return objects }
        let target = writer.model.entities[writer.target.entity].toOne[parent.relationship].target
        return objects + [ObjectKey(entity: target, values: parent.key)]
    }
}
