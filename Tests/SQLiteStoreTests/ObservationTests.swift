import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Who is told of what: by this process at once, by others soon, and by nobody of nothing.
@Suite struct ObservationTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            .of(
                Entity(
                    "Country", key: ["code"], [.of("code", .text), .of("name", .text), .of("size", .integer)],
                    [.many("cities", "City", inverse: "country")]),
                Entity("City", key: ["id"], [.of("id", .integer)], [.one("country", "Country")])))
    }

    /// Another process, which knows nothing of us.
    private func sqlite3(_ sql: String) async throws {
        let run = try await ProcessRun.run("sqlite3", ["-cmd", ".timeout 5000", fixture.path, sql])
        try #require(run.exitCode == 0, "\(run)")
    }

    private func row(_ text: [EntityRow]) -> String {
        text.map { $0.values.map(\.literal).joined(separator: " ") }.joined(separator: ", ")
    }

    /// The next element, or nil when none comes in time.
    private func next<Sequence: AsyncSequence & Sendable>(
        of sequence: Sequence, within deadline: Duration
    ) async throws -> Sequence.Element? where Sequence.Element: Sendable {
        try await withThrowingTaskGroup(of: Sequence.Element?.self) { group in
            group.addTask {
                for try await element in sequence { return element }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: deadline)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    @Test func `a page of this process notifies at once those it concerns`() async throws {
        // So rarely looked at that only the commit itself can have told.
        let countries = try fixture.store.changes(of: "Country", every: .seconds(600))
        let cities = try fixture.store.changes(of: "City", every: .seconds(600))
        try fixture.add("Country", ["code": "NO"])
        let change = try await next(of: countries, within: .seconds(10))
        #expect(change == StoreChanges.Element(entities: ["Country"], isForeign: false))
        #expect(try await next(of: cities, within: .milliseconds(50)) == nil)
    }

    @Test func `a relationship concerns both its ends`() async throws {
        try fixture.add("Country", ["code": "NO", "cities": [1, 2]])
        let cities = try fixture.store.changes(of: "City", every: .seconds(600))
        try fixture.add("Country", ["code": "NO", "cities": [1]])
        #expect(try await next(of: cities, within: .seconds(10))?.entities == ["City"])
    }

    @Test func `many pages while the consumer is busy are one change`() async throws {
        let changes = try fixture.store.changes(every: .seconds(600))
        for number in 0..<20 { try fixture.add("City", ["id": .integer(Int64(number))]) }
        try fixture.add("Country", ["code": "NO"])
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.entities == ["City", "Country"])
        try fixture.add("City", ["id": 100])
        #expect(await iterator.next()?.entities == ["City"])
    }

    @Test func `a page that writes nothing notifies no observer`() async throws {
        try fixture.add("Country", ["code": "NO"])
        let changes = try fixture.store.changes(every: .milliseconds(5))
        try fixture.add("Country", ["code": "NO"])
        let page = try fixture.begin("Country")
        try page.add(try Literal.batch([["code": "SE"]]), location: nil)
        page.rollback()
        #expect(try await next(of: changes, within: .milliseconds(200)) == nil)
    }

    @Test func `another process is seen`() async throws {
        let changes = try fixture.store.changes(of: "Country", every: .milliseconds(5))
        try await sqlite3("INSERT INTO Country (code) VALUES ('NO')")
        let change = try await next(of: changes, within: .seconds(10))
        #expect(change == StoreChanges.Element(entities: ["Country"], isForeign: true))
    }

    @Test func `an observer that starts while a page is open misses nothing`() async throws {
        let page = try fixture.begin("Country")
        try page.add(try Literal.batch([["code": "NO"]]), location: nil)
        let changes = try fixture.store.changes(of: "Country", every: .milliseconds(5))
        try page.commit(progress: nil)
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.isForeign == false)
        try await sqlite3("INSERT INTO Country (code) VALUES ('SE')")
        #expect(await iterator.next()?.isForeign == true)
    }

    @Test func `a query delivers its rows and then their changes`() async throws {
        try fixture.add(
            "Country", ["code": "NO", "name": "Norway", "size": 3], ["code": "SE", "name": "Sweden", "size": 4])
        let query = RowQuery(
            "Country", where: [.init(field: "size", comparison: .atLeast, value: "2")],
            order: [.init("size", isDescending: true)])
        var iterator = try fixture.store.observe(query, every: .milliseconds(5)).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(row(first.rows) == "'SE' 'Sweden' 4, 'NO' 'Norway' 3")
        #expect(first.difference.insertions == [0, 1])

        try await sqlite3("UPDATE Country SET size = 5 WHERE code = 'NO'")
        let second = try #require(try await iterator.next())
        #expect(row(second.rows) == "'NO' 'Norway' 5, 'SE' 'Sweden' 4")
        #expect(second.difference.moves.count == 1 && second.difference.deletions.isEmpty)
        #expect(second.difference.updates == [.init(from: 1, to: 0, fields: [2])])

        try fixture.add("Country", ["code": "FI", "size": 1], ["code": "DK", "size": 9], ["code": "SE", "size": 0])
        let third = try #require(try await iterator.next())
        #expect(row(third.rows) == "'DK' null 9, 'NO' 'Norway' 5")
        #expect(third.difference.insertions == [0] && third.difference.deletions == [1])
    }

    @Test func `a query is silent about other rows`() async throws {
        let query = RowQuery("Country", where: [.init(field: "code", comparison: .equal, value: "NO")], limit: 5)
        let changes = try fixture.store.observe(query, every: .milliseconds(5))
        let rows = AsyncStream<String>.makeStream()
        let consumer = Task {
            for try await change in changes {
                rows.continuation.yield(
                    change.rows.map { $0.values.map(\.literal).joined(separator: " ") }.joined(separator: ", "))
            }
            rows.continuation.finish()
        }
        var iterator = rows.stream.makeAsyncIterator()
        #expect(await iterator.next() == "")
        try fixture.add("Country", ["code": "SE"])
        try await sqlite3("INSERT INTO City (id) VALUES (1)")
        try fixture.add("Country", ["code": "NO", "name": "Norge"])
        #expect(await iterator.next() == "'NO' 'Norge' null")
        try fixture.store.close()
        #expect(await iterator.next() == nil, "the sequence ends with the store")
        try await consumer.value
    }

    @Test func `cancellation ends a sequence`() async throws {
        let changes = try fixture.store.changes()
        let consumer = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        consumer.cancel()
        #expect(await consumer.value == 0)
    }

    @Test func `what the model lacks is refused in words`() throws {
        #expect(
            try storeError { _ = try fixture.store.changes(of: "Land") }.description
                == "there is no entity \"Land\"; there are: Country, City")
        #expect(
            try storeError { _ = try fixture.store.observe(RowQuery("City", order: [.init("name")])) }.description
                == "City has no field \"name\"; there are: id, country")
    }
}
