internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// The fetches of pages, and their places in the list.
extension CollectionLoader {
    /// Fetches the page with this index, and adds it to the list.
    func page(_ index: Int) async throws -> Page {
        let (outcome, result) = try await fetch(index)
        // Objects that a later page lacks may be on earlier ones.
        let isFirst = index == 0 && pages.first?.number != 2
        let isAfter = pages.last?.number == index
        let isBefore = pages.first?.number == index + 2
        // A page before the others leaves those after it as they were.
        try await keep([outcome], from: index, through: isBefore ? index : nil)
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
        if isFirst { final.deleted += try await deleteMissing(from: [(outcome, result)]) }
        return try await page(loaded, outcome, final)
    }

    /// Fetches pages again, and changes the list once all of them are here.
    func refresh(_ indexes: Range<Int>) async throws -> [Page] {
        let first = indexes.lowerBound
        var fetched = [try await fetch(first)]
        while fetched.count < indexes.count, let last = fetched.last?.0, !last.isAtEnd, let cursor = last.cursor {
            fetched.append(try await fetch(first + fetched.count, from: cursor))
        }
        try await keep(fetched.map(\.0), from: first, through: nil)
        cursors = cursors.prefix(first + 1) + fetched.compactMap(\.0.cursor)
        lastPage = fetched.last?.0.isAtEnd == true ? first + fetched.count : nil
        pages = []
        for (place, page) in fetched.enumerated() {
            pages.append(LoadedPage(number: first + place + 1, keys: unique(page.0.keys, but: pages)))
        }
        if first == 0 { fetched[0].1.deleted += try await deleteMissing(from: fetched) }
        var result: [Page] = []
        for (loaded, page) in zip(pages, fetched) { result.append(try await self.page(loaded, page.0, page.1)) }
        return result
    }

    private func page(_ loaded: LoadedPage, _ outcome: PageFetch.Outcome, _ result: FetchResult) async throws -> Page {
        var result = result
        result.userInfo = request.userInfo
        return Page(
            number: loaded.number, objects: try await objects(of: loaded.keys), isLast: outcome.isAtEnd, result: result)
    }

    private func fetch(_ index: Int) async throws -> (PageFetch.Outcome, FetchResult) {
        guard cursors.indices.contains(index) else {
            throw RequestError(
                .translating, entity: request.entity, code: "unsupported",
                "the bridge does not say where page \(index + 1) begins: it gave no cursor with the previous page",
                remedy: "fetch the whole list instead", bridge: plan.bridge)
        }
        return try await fetch(index, from: cursors[index])
    }

    private func fetch(_ index: Int, from cursor: String?) async throws -> (PageFetch.Outcome, FetchResult) {
        let session = manager.session
        let observer = RequestObserver(
            store: session.store, reader: manager.reader, limit: manager.detailLimit, report: { _ in })
        do {
            let outcome = try await manager.withinTimeLimit(of: request) { [plan, filters, options] in
                try await session.perform {
                    var fetch = PageFetch(plan: plan, session: session, observer: observer)
                    fetch.filters = filters.values
                    fetch.cursor = cursor
                    fetch.terms = filters.terms
                    fetch.pageSize = options.pageSize
                    fetch.isSingle = true
                    fetch.keepsOrder = true
                    var outcome = try await fetch.run()
                    outcome.begin = cursor
                    return outcome
                }
            }
            return (outcome, observer.result)
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw RequestError(error, entity: plan.entity, bridge: plan.bridge, at: observer.step)
                .adding(request.userInfo)
        }
    }

    /// Removes keys that were already on another page or earlier on this one.
    private func unique(_ keys: [[StoredValue]], but pages: [LoadedPage]) -> [[StoredValue]] {
        var seen = Set(pages.flatMap(\.keys))
        return keys.filter { seen.insert($0).inserted }
    }

    func objects(of keys: [[StoredValue]]) async throws -> [LocalObject] {
        let reader = manager.reader
        let objects = try await manager.whileOpen(.answeredLocally, request.entity) {
            try await reader.objects(request.entity, keys: keys, including: request.including)
        }
        guard let met = try await matching(keys) else { return objects }
        return objects.filter { met.contains($0.id) }
    }

    /// Returns the identities of the objects that meet the request's predicate here; nil for all.
    func matching(_ keys: [[StoredValue]]) async throws -> Set<ObjectID>? {
        guard let predicate = request.predicate else { return nil }
        var matching = ObjectRequest(request.entity, where: predicate)
        matching.includesDeleted = true
        return try await manager.whileOpen(.answeredLocally, request.entity) { [matching] in
            try await manager.reader.keys(matching, among: keys)
        }
    }

    /// Deletes objects that match the request and that none of the pages has, as a page of its own, if the options say so.
    private func deleteMissing(from pages: [(PageFetch.Outcome, FetchResult)]) async throws -> [ObjectID] {
        // An object whose record was quarantined still exists.
        let isWhole = pages.allSatisfy { $0.1.counts.values.allSatisfy { $0.quarantined == 0 } }
        guard options.missing == .delete, isWhole else { return [] }
        let keys = pages.flatMap(\.0.keys)
        // The newest edit that the remote had accepted when it was queried first.
        let acknowledged = pages.first?.0.acknowledged ?? 0
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
