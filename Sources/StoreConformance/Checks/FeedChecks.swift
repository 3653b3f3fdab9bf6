internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// The changes as they are committed.
    static let feed = [
        StoreCheck("commits-are-notified", commitsAreNotified), StoreCheck("queries-are-observed", queriesAreObserved),
        StoreCheck("other-commits-change-the-version", otherCommitsChangeTheVersion),
    ]

    /// Returns the next element of a sequence, which must arrive in five seconds.
    private static func next<Element: Sendable>(
        _ what: String, _ body: @escaping @Sendable () async throws -> Element?
    ) async throws -> Element {
        try await withThrowingTaskGroup(of: Element?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(5))
                return nil
            }
            defer { group.cancelAll() }
            return try required(what, try await group.next() ?? nil)
        }
    }

    private static func commitsAreNotified(_ subject: StoreSubject) async throws {
        let session = try subject.open()
        let changes = try session.store.changes(of: "Country", "City", every: .milliseconds(10))
        let rolledBack = try session.begin()
        try rolledBack.access { try $0.merge(SampleModel.city, ["id": .integer(1)]) }
        rolledBack.transaction.rollback()
        try session.add(SampleModel.note, ["id": .integer(1)])
        try session.add(SampleModel.country, ["code": .text("NO")])
        let element = try await next("a notification") {
            var iterator = changes.makeAsyncIterator()
            return await iterator.next()
        }
        try expect("the changed entities", element.entities, ["Country"])
        try expect("whether another store wrote", element.isForeign, false)
        try expectError("an unknown entity", .request) { _ = try session.store.changes(of: "X") }
        let ended = try session.store.changes(of: "Country")
        try session.store.close()
        let isEnded = try await next("the end of a sequence") { () -> Bool? in
            var iterator = ended.makeAsyncIterator()
            return await iterator.next() == nil
        }
        try expect("whether the sequence ends with the store", isEnded, true)
    }

    private static func queriesAreObserved(_ subject: StoreSubject) async throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("NO")])
        let other = try subject.open()
        let changes = try session.store.observe(RowQuery("Country"), every: .milliseconds(10))
        let elements = try await next("two differences") { () -> [QueryChanges.Element]? in
            var iterator = changes.makeAsyncIterator()
            guard let first = try await iterator.next() else { return nil }
            try other.add(SampleModel.country, ["code": .text("SE")])
            return try await iterator.next().map { [first, $0] }
        }
        try expect("the first rows", elements[0].rows.map(\.key), [[.text("NO")]])
        try expect("the insertion by another store", elements[1].difference.insertions, [1])
    }

    private static func otherCommitsChangeTheVersion(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let other = try subject.open()
        let before = try session.store.dataVersion()
        try expect("the version without a commit", try session.store.dataVersion(), before)
        try other.add(SampleModel.country, ["code": .text("SE")])
        try expect("whether another commit changes it", try session.store.dataVersion() != before, true)
    }
}
