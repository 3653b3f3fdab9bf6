internal import Importer
internal import Mapping
internal import Model
internal import SQLiteStore

/// A remote list page by page, in the order of the server: first, next and previous page.
///
/// ```swift
/// let loader = try manager.collection(ObjectRequest("Message", including: ["author"]), pageSize: 50)
/// try await loader.loadFirst()
/// while await !loader.isAtEnd { try await loader.loadNext() }
/// show(try await loader.objects)
/// ```
///
/// Each page is one fetch through the entity's bridge, which has to tell where the next page begins (`resume`), and is
/// committed by itself. The order is kept here and not in the database. A comparison of the request's predicate goes to the
/// bridge where it can filter; objects that do not meet the predicate here are left out. The request's sort, limit and
/// offset do not count: the order is the server's.
public actor CollectionLoader {
    /// What becomes of a load that is asked for while another is on its way.
    public enum Concurrency: Sendable {
        /// It waits for its turn.
        case queue
        /// The other one is cancelled, up to its commit.
        case replace
        /// Nothing: it returns nil.
        case ignore
    }

    /// What becomes of local objects that match the request and that the first page did not bring.
    ///
    /// A loader that begins at a later place deletes nothing, nor does a first page of which records were put aside.
    public enum Missing: Sendable {
        /// They stay.
        case keep
        /// They are deleted here, once the first page is in: the list is then what the server begins with. Pages that are
        /// loaded later bring theirs again. Give the request a predicate that means the list and no more.
        case delete
    }

    /// How a loader works.
    public struct Options: Sendable {
        /// How many records a page should have; nil leaves it to the bridge.
        public var pageSize: Int?
        /// What becomes of a load during another.
        public var concurrency = Concurrency.queue
        /// What becomes of what the first page lacks.
        public var missing = Missing.keep
        /// How many pages are kept at a time: beyond it the pages at the other end are let go of, and ``loadPrevious()``
        /// or ``loadNext()`` brings them back; nil keeps them all.
        public var window: Int?

        /// The usual ones.
        public init(
            pageSize: Int? = nil, concurrency: Concurrency = .queue, missing: Missing = .keep, window: Int? = nil
        ) {
            self.pageSize = pageSize
            self.concurrency = concurrency
            self.missing = missing
            self.window = window
        }
    }

    /// A page that was loaded.
    public struct Page: Sendable {
        /// Its number in the list, from 1.
        public var number: Int
        /// Its objects, in the server's order.
        public var objects: [LocalObject]
        /// Whether it is the last one.
        public var isLast: Bool
        /// What the import did, and what the remote said.
        public var result: FetchResult
    }

    /// Where a list stands, to go on in another loader: from the same page, with those before it within reach.
    public struct Place: Sendable, Codable, Equatable {
        /// Per page up to the one to begin with: where it begins; the first begins at the beginning.
        fileprivate var cursors: [String?]
    }

    private struct LoadedPage {
        let number: Int
        let keys: [[StoredValue]]
    }

    private let manager: RequestManager
    private let request: ObjectRequest
    private let options: Options
    private let plan: WalkPlan
    private let filters: PageFilters
    /// Per known page: where it begins.
    private var cursors: [String?] = [nil]
    /// The page to begin with, by its index.
    private var start = 0
    private var pages: [LoadedPage] = []
    private var lastPage: Int?
    private var running: (number: Int, task: Task<Page, any Error>)?
    private var lastLoad = 0
    private var turns: [CheckedContinuation<Void, Never>] = []

    init(
        _ request: ObjectRequest, manager: RequestManager, options: Options, plan: WalkPlan, filters: PageFilters,
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

    /// Whether there is a page before those that are loaded.
    public var hasPrevious: Bool { (pages.first?.number ?? start + 1) > 1 }

    /// The numbers of the pages that are loaded, from 1.
    public var pageNumbers: [Int] { pages.map(\.number) }

    /// Where the list stands: a loader that is made from it begins with the first page that is loaded here.
    public var place: Place { Place(cursors: Array(cursors.prefix(pages.first?.number ?? start + 1))) }

    /// The objects of the pages that are loaded, in the server's order, as they are in the database now.
    public var objects: [LocalObject] {
        get async throws {
            try await objects(of: pages.flatMap(\.keys))
        }
    }

    // MARK: loading

    /// Loads the first page, or that of the place the loader was made from, and forgets the others.
    ///
    /// - Returns: The page; nil when another load was on its way and the options say `ignore`.
    /// - Throws: ``RequestError``; `CancellationError`, also when another load replaced it.
    @discardableResult
    public func loadFirst() async throws -> Page? {
        try await load { loader in loader.start }
    }

    /// Loads the page after those that are loaded; the first if none is.
    ///
    /// - Returns: The page; nil when there is none, or as ``loadFirst()`` says.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadNext() async throws -> Page? {
        try await load { loader in
            if loader.isAtEnd { return nil }
            return loader.pages.last.map { $0.number } ?? loader.start
        }
    }

    /// Loads the page before those that are loaded.
    ///
    /// - Returns: The page; nil when there is none, or as ``loadFirst()`` says.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadPrevious() async throws -> Page? {
        try await load { loader in
            guard let first = loader.pages.first?.number, first > 1 else { return nil }
            return first - 2
        }
    }

    /// Cancels the load that is on its way, up to its commit.
    public func cancel() { running?.task.cancel() }

    /// - Parameter choose: The index of the page to load, asked when it is its turn; nil for none.
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

    /// Fetches the page with this index, and takes it into the list.
    private func page(_ index: Int) async throws -> Page {
        guard cursors.indices.contains(index) else {
            throw RequestError(
                .translating, entity: request.entity, code: "unsupported",
                "the bridge does not tell where page \(index + 1) begins: it gave no cursor with the page before",
                remedy: "fetch the whole list instead", bridge: plan.bridge)
        }
        let (outcome, result) = try await fetch(cursors[index])
        // What a page of later place lacks may be on those before it.
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
        // An object whose record did not fit is still there.
        if isFirst, options.missing == .delete, result.counts.values.allSatisfy({ $0.quarantined == 0 }) {
            final.deleted += try await deleteMissing(loaded.keys, asked: outcome.acknowledged)
        }
        final.userInfo = request.userInfo
        return Page(
            number: index + 1, objects: try await objects(of: loaded.keys), isLast: outcome.isAtEnd, result: final)
    }

    private func fetch(_ cursor: String?) async throws -> (PageFetch.Outcome, FetchResult) {
        let session = manager.session
        let observer = PageObserver(
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

    /// Keys that came once more, on another page or on this one, keep their first place.
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
        // The server's order, of those that meet the predicate here.
        var matching = ObjectRequest(request.entity, where: predicate)
        matching.includesDeleted = true
        let met = try await manager.reader.keys(matching, among: keys)
        return objects.filter { met.contains($0.id) }
    }

    /// Deletes what matches the request and is none of the keys, as a page of its own.
    ///
    /// - Parameter acknowledged: The newest edit that the remote had taken when it was asked.
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
                                    PageSource(bridge: plan.bridge, walk: plan.entity.name, location: nil))
                                for key in gone
                                where try !transaction.delete(entity: schema.layout.index, key: key).isEmpty {
                                    deleted.append(key)
                                }
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
