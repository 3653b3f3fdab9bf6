internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// A remote list that loads page by page, in the server's order: first, next and previous page.
///
/// ```swift
/// let loader = try await manager.collection(ObjectRequest("Message"), keptAs: "inbox", options: .init(pageSize: 50))
/// show(try await loader.objects)              // in the server's order of last time, also without network
/// try await loader.refresh()
/// while await !loader.isAtEnd { try await loader.loadNext() }
/// ```
///
/// Each page is one fetch through the entity's bridge, which has to report where the next page begins (`resume`), and
/// is committed separately. The order is kept here, and under a name also in the database. A comparison of the request's
/// predicate goes to the bridge where it can filter; objects that do not meet the predicate here are left out. The
/// request's sort, limit and offset are ignored: the order is the server's.
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

    /// A load, by what it brings.
    public enum Load: String, Sendable {
        /// The first page, in place of the loaded ones.
        case first
        /// The page after the loaded ones.
        case next
        /// The page before the loaded ones.
        case previous
        /// The loaded pages again.
        case refresh
    }

    /// What a loader does at the moment.
    public enum State: Sendable, Equatable {
        /// Nothing; more pages can be loaded.
        case idle
        /// It loads.
        case loading(Load)
        /// Nothing; the last page is loaded.
        case atEnd
        /// Nothing; the last load failed, and the list is as it was before it.
        case failed(RequestError)
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
        var cursors: [String?]
    }

    struct LoadedPage {
        let number: Int
        let keys: [[StoredValue]]
    }

    let manager: RequestManager
    let request: ObjectRequest
    let options: Options
    let plan: ScanPlan
    let filters: PageFilters
    /// Where the order is kept; nil for a list without a name.
    let keeping: CollectionKeeping?
    /// Wakes those who follow the list.
    nonisolated let followers = CollectionFollowers()
    /// Where each known page begins.
    var cursors: [String?] = [nil]
    /// The index of the page to begin with.
    private var start = 0
    var pages: [LoadedPage] = []
    var lastPage: Int?
    private var failure: RequestError?
    private var running: (number: Int, load: Load, task: Task<[Page], any Error>)?
    private var lastLoad = 0
    private var turns: [CheckedContinuation<Void, Never>] = []

    init(
        _ request: ObjectRequest, manager: RequestManager, options: Options, plan: ScanPlan, filters: PageFilters,
        from place: Place?, keeping: CollectionKeeping? = nil, kept: [CollectionPage] = []
    ) {
        self.request = request
        self.manager = manager
        self.options = options
        self.plan = plan
        self.filters = filters
        self.keeping = keeping
        if let place, !place.cursors.isEmpty {
            cursors = place.cursors
            start = place.cursors.count - 1
        }
        guard let last = kept.last else { return }
        cursors = kept.map(\.cursor) + (last.next.map { [$0] } ?? [])
        lastPage = last.isLast ? last.number : nil
        var seen: Set<[StoredValue]> = []
        pages = kept.prefix(options.window.map { max(1, $0) } ?? kept.count).map { page in
            LoadedPage(number: page.number, keys: page.keys.filter { seen.insert($0).inserted })
        }
    }

    // MARK: state

    /// What the loader does at the moment; see ``changes()`` for all changes of it.
    public var state: State {
        if let running { return .loading(running.load) }
        if let failure { return .failed(failure) }
        return isAtEnd ? .atEnd : .idle
    }

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
        try await load(.first) { loader in loader.start..<loader.start + 1 }?.first
    }

    /// Loads the page after the loaded ones, or the first if none is loaded.
    ///
    /// - Returns: The page; nil after the last page, or under the conditions of ``loadFirst()``.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadNext() async throws -> Page? {
        try await load(.next) { loader in
            if loader.isAtEnd { return nil }
            let index = loader.pages.last.map { $0.number } ?? loader.start
            return index..<index + 1
        }?.first
    }

    /// Loads the page before the loaded ones.
    ///
    /// - Returns: The page; nil before the first page, or under the conditions of ``loadFirst()``.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func loadPrevious() async throws -> Page? {
        try await load(.previous) { loader in
            guard let first = loader.pages.first?.number, first > 1 else { return nil }
            return first - 2..<first - 1
        }?.first
    }

    /// Loads the loaded pages again, or the first if none is loaded.
    ///
    /// The list stays as it is until all of them are here, and then changes once: what a person looks at stays where it
    /// is, and ``changes()`` has what is new as insertions and moves. When a page fails, the order stays as it was.
    ///
    /// - Returns: The pages; nil under the conditions of ``loadFirst()``.
    /// - Throws: As ``loadFirst()``.
    @discardableResult
    public func refresh() async throws -> [Page]? {
        try await load(.refresh) { loader in
            let first = (loader.pages.first?.number ?? loader.start + 1) - 1
            return first..<first + max(1, loader.pages.count)
        }
    }

    /// Cancels the running load, unless it has committed.
    public func cancel() { running?.task.cancel() }

    /// Loads the pages that `choose` selects.
    ///
    /// - Parameter choose: Returns the indexes of the pages once it is the load's turn; nil for none.
    private func load(
        _ load: Load, _ choose: (isolated CollectionLoader) -> Range<Int>?
    ) async throws -> [Page]? {
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
        guard let indexes = choose(self) else { return nil }
        lastLoad += 1
        try manager.tasks.enter(request.entity)
        let task = manager.tasks.begin { [self] () async throws -> [Page] in
            if indexes.count == 1, load != .refresh { return [try await page(indexes.lowerBound)] }
            return try await refresh(indexes)
        }
        manager.tasks.leave()
        running = (lastLoad, load, task)
        followers.wake()
        defer {
            running = nil
            let waiting = turns
            turns = []
            for turn in waiting { turn.resume() }
            followers.wake()
        }
        do {
            let pages = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
            failure = nil
            return pages
        } catch {
            if let error = error as? RequestError { failure = error }
            throw error
        }
    }
}
