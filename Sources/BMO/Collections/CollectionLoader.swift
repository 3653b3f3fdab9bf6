internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// A remote list that loads page by page, in the server's order: first, next and previous page.
///
/// ```swift
/// let loader = try manager.collection(ObjectRequest("Message", including: ["author"]), pageSize: 50)
/// try await loader.loadFirst()
/// while await !loader.isAtEnd { try await loader.loadNext() }
/// show(try await loader.objects)
/// ```
///
/// Each page is one fetch through the entity's bridge, which has to report where the next page begins (`resume`), and
/// is committed separately. The order is kept here and not in the database. A comparison of the request's predicate
/// goes to the bridge where it can filter; objects that do not meet the predicate here are left out. The request's
/// sort, limit and offset are ignored: the order is the server's.
public actor CollectionLoader {
    /// What happens to a load that is requested while another is running.
    public enum Concurrency: Sendable {
        /// The load waits for its turn.
        case queue
        /// The running load is cancelled, unless it has committed.
        case replace
        /// The load is ignored and returns nil.
        case ignore
    }

    /// What happens to local objects that match the request and that the first page lacks.
    ///
    /// A loader that begins at a later place deletes nothing, nor does a first page with quarantined records.
    public enum Missing: Sendable {
        /// They stay.
        case keep
        /// They are deleted locally once the first page is committed, so that the list begins as the server's does.
        ///
        /// Later pages insert their objects again. Give the request a predicate that matches exactly the list.
        case delete
    }

    /// The settings of a loader.
    public struct Options: Sendable {
        /// How many records a page should have; nil leaves it to the bridge.
        public var pageSize: Int?
        /// What happens to a load during another.
        public var concurrency = Concurrency.queue
        /// What happens to objects that the first page lacks.
        public var missing = Missing.keep
        /// How many pages are kept at a time; nil keeps them all.
        ///
        /// Beyond that, the pages at the other end are dropped, and ``loadPrevious()`` or ``loadNext()`` loads them
        /// again.
        public var window: Int?

        /// Creates options.
        public init(
            pageSize: Int? = nil, concurrency: Concurrency = .queue, missing: Missing = .keep, window: Int? = nil
        ) {
            self.pageSize = pageSize
            self.concurrency = concurrency
            self.missing = missing
            self.window = window
        }
    }

    /// A loaded page.
    public struct Page: Sendable {
        /// Its number in the list, from 1.
        public var number: Int
        /// Its objects, in the server's order.
        public var objects: [LocalObject]
        /// Whether it is the last one.
        public var isLast: Bool
        /// The counts of the import and the remote's reply.
        public var result: FetchResult
    }

    /// A position in a list, from which another loader can continue: at the same page, with the earlier ones reachable.
    public struct Place: Sendable, Codable, Equatable {
        /// Where each page begins, up to the one to begin with; nil for the first.
        fileprivate var cursors: [String?]
    }

    private struct LoadedPage {
        let number: Int
        let keys: [[StoredValue]]
    }

    private let manager: RequestManager
    private let request: ObjectRequest
    private let options: Options
    private let plan: ScanPlan
    private let filters: PageFilters
    /// Where each known page begins.
    private var cursors: [String?] = [nil]
    /// The index of the page to begin with.
    private var start = 0
    private var pages: [LoadedPage] = []
    private var lastPage: Int?
    private var running: (number: Int, task: Task<Page, any Error>)?
    private var lastLoad = 0
    private var turns: [CheckedContinuation<Void, Never>] = []

    init(
        _ request: ObjectRequest, manager: RequestManager, options: Options, plan: ScanPlan, filters: PageFilters,
        from place: Place?
    ) {
        self.request = request
        self.manager = manager
        self.options = options
        self.plan = plan
        self.filters = filters
        if let place, !place.cursors.isEmpty {
            cursors = place.cursors
            start = place.cursors.count - 1
        }
    }

    // MARK: state

    /// Whether the last page of the list is loaded; false before the first load.
    public var isAtEnd: Bool { lastPage != nil && pages.last?.number == lastPage }

    /// Whether a page precedes the loaded ones.
    public var hasPrevious: Bool { (pages.first?.number ?? start + 1) > 1 }

    /// The numbers of the loaded pages, from 1.
    public var pageNumbers: [Int] { pages.map(\.number) }

    /// The position in the list: a loader made from it begins with the first page that is loaded here.
    public var place: Place { Place(cursors: Array(cursors.prefix(pages.first?.number ?? start + 1))) }

    /// The objects of the loaded pages, in the server's order, as they are in the database now.
    public var objects: [LocalObject] {
        get async throws {
            try await objects(of: pages.flatMap(\.keys))
        }
    }

    // MARK: loading

    /// Loads the first page, or the page at the place the loader was made from, and drops the others.
    ///
    /// - Returns: The page; nil when another load was running and the options say `ignore`.
    /// - Throws: ``RequestError``; `CancellationError`, also when another load replaced it.
    @discardableResult
    public func loadFirst() async throws -> Page? {
        try await load { loader in loader.start }
    }

    /// Loads the page after the loaded ones, or the first if none is loaded.
    ///
    /// - Returns: The page; nil after the last page, or under the conditions of ``loadFirst()``.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadNext() async throws -> Page? {
        try await load { loader in
            if loader.isAtEnd { return nil }
            return loader.pages.last.map { $0.number } ?? loader.start
        }
    }

    /// Loads the page before the loaded ones.
    ///
    /// - Returns: The page; nil before the first page, or under the conditions of ``loadFirst()``.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadPrevious() async throws -> Page? {
        try await load { loader in
            guard let first = loader.pages.first?.number, first > 1 else { return nil }
            return first - 2
        }
    }

    /// Cancels the running load, unless it has committed.
    public func cancel() { running?.task.cancel() }

    /// Loads the page that `choose` selects.
    ///
    /// - Parameter choose: Returns the index of the page to load once it is the load's turn; nil for none.
    private func load(_ choose: (isolated CollectionLoader) -> Int?) async throws -> Page? {
        if let running {
            switch options.concurrency {
            case .ignore: return nil
            case .replace:
                running.task.cancel()
                _ = await running.task.result
            case .queue: break
            }
        }
        while running != nil { await withCheckedContinuation { turns.append($0) } }
        try Task.checkCancellation()
        guard let index = choose(self) else { return nil }
        lastLoad += 1
        let task = Task { try await page(index) }
        running = (lastLoad, task)
        defer {
            running = nil
            let waiting = turns
            turns = []
            for turn in waiting { turn.resume() }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Fetches the page with this index, and adds it to the list.
    private func page(_ index: Int) async throws -> Page {
        guard cursors.indices.contains(index) else {
            throw RequestError(
                .translating, entity: request.entity, code: "unsupported",
                "the bridge does not say where page \(index + 1) begins: it gave no cursor with the previous page",
                remedy: "fetch the whole list instead", bridge: plan.bridge)
        }
        let (outcome, result) = try await fetch(cursors[index])
        // Objects that a later page lacks may be on earlier ones.
        let isFirst = index == 0 && pages.first?.number != 2
        let isAfter = pages.last?.number == index
        let isBefore = pages.first?.number == index + 2
        let loaded = LoadedPage(number: index + 1, keys: unique(outcome.keys, but: isAfter || isBefore ? pages : []))
        if isAfter {
            pages.append(loaded)
        } else if isBefore {
            pages.insert(loaded, at: 0)
        } else {
            pages = [loaded]
        }
        cursors.removeLast(isBefore ? 0 : cursors.count - index - 1)
        if let cursor = outcome.cursor, !isBefore { cursors.append(cursor) }
        if outcome.isAtEnd { lastPage = index + 1 } else if !isBefore { lastPage = nil }
        if let window = options.window, pages.count > max(1, window) {
            if isBefore {
                pages.removeLast(pages.count - max(1, window))
            } else {
                pages.removeFirst(pages.count - max(1, window))
            }
        }
        var final = result
        // An object whose record was quarantined still exists.
        if isFirst, options.missing == .delete, result.counts.values.allSatisfy({ $0.quarantined == 0 }) {
            final.deleted += try await deleteMissing(loaded.keys, asked: outcome.acknowledged)
        }
        final.userInfo = request.userInfo
        return Page(
            number: index + 1, objects: try await objects(of: loaded.keys), isLast: outcome.isAtEnd, result: final)
    }

    private func fetch(_ cursor: String?) async throws -> (PageFetch.Outcome, FetchResult) {
        let session = manager.session
        let observer = RequestObserver(
            store: session.store, reader: manager.reader, limit: manager.options.detailLimit, report: { _ in })
        do {
            let outcome = try await session.perform { [plan, filters, options] in
                var fetch = PageFetch(plan: plan, session: session, observer: observer)
                fetch.filters = filters.values
                fetch.cursor = cursor
                fetch.pageSize = options.pageSize
                fetch.isSingle = true
                fetch.keepsOrder = true
                return try await fetch.run()
            }
            return (outcome, observer.result)
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw RequestError(error, entity: plan.entity, bridge: plan.bridge, at: observer.step)
        }
    }

    /// Removes keys that were already on another page or earlier on this one.
    private func unique(_ keys: [[StoredValue]], but pages: [LoadedPage]) -> [[StoredValue]] {
        var seen = Set(pages.flatMap(\.keys))
        return keys.filter { seen.insert($0).inserted }
    }

    private func objects(of keys: [[StoredValue]]) async throws -> [LocalObject] {
        let reader = manager.reader
        let objects = try await manager.atStep(.answeredLocally, request.entity) {
            try await reader.objects(request.entity, keys: keys, including: request.including)
        }
        guard let predicate = request.predicate else { return objects }
        // Keeps the server's order, and only objects that meet the predicate here.
        var matching = ObjectRequest(request.entity, where: predicate)
        matching.includesDeleted = true
        let met = try await manager.reader.keys(matching, among: keys)
        return objects.filter { met.contains($0.id) }
    }

    /// Deletes objects that match the request and have none of the keys, as a page of its own.
    ///
    /// - Parameter acknowledged: The newest edit that the remote had accepted when it was queried.
    private func deleteMissing(_ keys: [[StoredValue]], asked acknowledged: Int64) async throws -> [ObjectID] {
        let reader = manager.reader
        let request = ObjectRequest(request.entity, where: request.predicate)
        let query = try reader.query(request)
        let schema = try reader.schema(of: request.entity)
        let session = manager.session
        let kept = Set(keys)
        let (plan, gate) = (plan, session.gate)
        return try await manager.atStep(.importing, request.entity) {
            try await session.perform {
                let gone = try await session.thread.run {
                    try reader.store.rows(of: query).map(\.key).filter { !kept.contains($0) }
                }
                guard !gone.isEmpty else { return [] }
                let deleted = try await gate.pass {
                    try await session.thread.run {
                        var deleted: [[StoredValue]] = []
                        let transaction = try session.store.beginPage()
                        do {
                            try transaction.access {
                                try transaction.follow(plan.target(ofRequestAfter: acknowledged))
                                try transaction.setSource(
                                    PageSource(bridge: plan.bridge, scan: plan.entity.name, location: nil))
                                let objects = gone.map { ObjectKey(entity: schema.layout.index, values: $0) }
                                try transaction.delete(objects) { index, _ in deleted.append(gone[index]) }
                            }
                            try transaction.commit()
                        } catch {
                            transaction.rollback()
                            throw error
                        }
                        return deleted
                    }
                }
                return deleted.map { schema.id(of: $0, in: schema.layout) }
            }
        }
    }
}
