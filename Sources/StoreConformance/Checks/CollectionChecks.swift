internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// The order of remote lists: `CollectionStore`.
    static let collections = [
        StoreCheck("collections-keep-their-order", collectionsKeepTheirOrder),
        StoreCheck("pages-of-collections-are-replaced", pagesOfCollectionsAreReplaced),
        StoreCheck("collections-follow-the-open-page", collectionsFollowTheOpenPage),
    ]

    private static let list = CollectionName(entity: "Country", name: "feed")

    private static func page(_ number: Int, _ codes: String..., isLast: Bool = false) -> CollectionPage {
        CollectionPage(
            number: number, cursor: number == 1 ? nil : "c\(number)", next: isLast ? nil : "c\(number + 1)",
            isLast: isLast, request: "r", keys: codes.map { [.text($0)] })
    }

    private static func collectionsKeepTheirOrder(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try expect("the pages of a new database", try session.store.pages(of: list), [])
        try expect("the collections of a new database", try session.store.collections().count, 0)
        // An order that is not that of the keys; objects need not exist.
        let pages = [page(1, "SE", "NO", "\u{E9}"), page(2, "FI", "e\u{301}", isLast: true)]
        try session.store.replacePages(1...Int.max, of: list, with: pages)
        let cities = CollectionName(entity: "City", name: "feed")
        let city = CollectionPage(number: 1, isLast: true, request: "s", keys: [[.integer(7)], [.integer(-3)]])
        try session.store.replacePages(1...Int.max, of: cities, with: [city])
        try session.store.close()
        let later = try subject.open()
        try expect("the pages", try later.store.pages(of: list), pages)
        try expect("the page of another entity", try later.store.pages(of: cities), [city])
        try expect(
            "the bytes of a key", try later.store.pages(of: list)[1].keys[1][0].description.utf8.count, 3)
        let kept = try later.store.collections()
        try expect("the collections", kept.map(\.collection), [cities, list])
        try expect("the numbers of pages", kept.map(\.pages), [1, 2])
        try expect("whether the times are known", kept.allSatisfy { $0.saved.hasSuffix("Z") }, true)
    }

    private static func pagesOfCollectionsAreReplaced(_ subject: StoreSubject) throws {
        let store = try subject.open().store
        let other = CollectionName(entity: "Country", name: "Feed")
        try store.replacePages(1...Int.max, of: other, with: [page(1, "DE")])
        try store.replacePages(1...Int.max, of: list, with: [page(1, "SE"), page(2, "NO"), page(3, "FI")])
        try store.replacePages(2...2, of: list, with: [page(2, "DK", "IS")])
        try expect(
            "a page in the middle", try store.pages(of: list), [page(1, "SE"), page(2, "DK", "IS"), page(3, "FI")])
        try store.replacePages(2...Int.max, of: list, with: [page(2, "NO", isLast: true)])
        try expect("a new end", try store.pages(of: list), [page(1, "SE"), page(2, "NO", isLast: true)])
        try store.replacePages(1...Int.max, of: list, with: [])
        try expect("a collection that is not kept any more", try store.pages(of: list), [])
        try expect("a collection with another name", try store.pages(of: other), [page(1, "DE")])
        try expect("the collections", try store.collections().map(\.collection), [other])
    }

    private static func collectionsFollowTheOpenPage(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let open = try session.begin()
        try session.store.replacePages(1...Int.max, of: list, with: [page(1, "SE")])
        open.transaction.rollback()
        try expect("the pages after a rollback", try session.store.pages(of: list), [])
        let kept = try session.begin()
        try session.store.replacePages(1...Int.max, of: list, with: [page(1, "SE")])
        try kept.transaction.commit()
        try expect("the pages after a commit", try session.store.pages(of: list), [page(1, "SE")])
    }
}
