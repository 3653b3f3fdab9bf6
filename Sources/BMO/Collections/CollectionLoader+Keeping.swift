internal import StoreContract
internal import TextFormats

/// Where the order of a list is kept.
struct CollectionKeeping: Sendable {
    let collection: CollectionName
    /// Identifies the request, so that a name whose request has changed begins anew.
    let request: String

    /// - Parameters:
    ///   - listing: What identifies the bridge's listing: another url or section has other cursors.
    ///   - pageSize: The number of records per page: with another one, pages begin elsewhere.
    ///   - hasUserInfo: Whether the bridge receives the request's user info.
    init(
        _ name: String, _ request: ObjectRequest, root: String, listing: String, pageSize: Int?, hasUserInfo: Bool
    ) {
        collection = CollectionName(entity: root, name: name)
        var fingerprint = Fingerprint()
        fingerprint.add(request.entity)
        fingerprint.separate()
        fingerprint.add(request.predicate?.semanticKey ?? "")
        fingerprint.separate()
        fingerprint.add(listing)
        fingerprint.separate()
        fingerprint.add(pageSize.map(String.init) ?? "")
        let terms = request.termsKey(hasUserInfo: hasUserInfo)
        if !terms.isEmpty {
            fingerprint.separate()
            fingerprint.add(terms)
        }
        self.request = String(fingerprint.value, radix: 16)
    }

    /// Returns the pages from the first one on, without a gap, that this request listed.
    func usable(_ pages: [CollectionPage]) -> [CollectionPage] {
        let usable = pages.enumerated().prefix { index, page in
            page.number == index + 1 && page.request == request && (index == 0 || page.cursor != nil)
        }
        return usable.map(\.element)
    }
}

extension CollectionLoader {
    /// Keeps the order of pages in the database.
    ///
    /// - Parameters:
    ///   - outcomes: The pages, one after the other.
    ///   - first: The index of the first of them.
    ///   - last: The index of the last page that they replace; nil for all after the first.
    func keep(_ outcomes: [PageFetch.Outcome], from first: Int, through last: Int?) async throws {
        guard let keeping else { return }
        let pages = outcomes.enumerated().map { place, outcome in
            CollectionPage(
                number: first + place + 1, cursor: outcome.begin, next: outcome.cursor, isLast: outcome.isAtEnd,
                request: keeping.request, keys: outcome.keys)
        }
        try await manager.replacePages(
            first + 1...(last.map { $0 + 1 } ?? Int.max), of: keeping.collection, with: pages)
    }
}

extension RequestManager {
    /// Replaces pages of a kept collection, as a writer of the database.
    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) async throws {
        let session = session
        try await atStep(.importing, collection.entity) {
            try await session.perform {
                try await session.gate.pass {
                    try await session.thread.run {
                        try session.store.replacePages(numbers, of: collection, with: pages)
                    }
                }
            }
        }
    }
}
