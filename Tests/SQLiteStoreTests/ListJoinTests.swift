import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Lists that a remote splits over several replies of one scan.
@Suite(.overAllStores, .namingTheStore) struct ListJoinTests {
    private let scope = ScanScope(entity: "Page")

    private func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Page", key: ["id"], [.of("id", .integer), .of("title", .text)],
                [.many("categories", "Category"), .many("parts", "Part", inverse: "page")]),
            Entity("Category", key: ["name"], [.of("name", .text)]),
            Entity("Part", key: ["id"], [.of("id", .integer)], [.one("page", "Page", inverse: "parts")]))
    }

    /// A scan of these pages; the last one ends it.
    @discardableResult
    private func scan(
        _ fixture: StoreFixture, _ pages: [[Literal]], after resumed: Int? = nil, ends: Bool = true
    ) throws -> Int {
        try fixture.store.beginScan(scope, afterPage: resumed)
        defer { fixture.store.endScan(scope) }
        var relinked = 0
        for (index, records) in pages.enumerated() {
            let number = (resumed ?? 0) + index + 1
            let page = try fixture.begin("Page", page: number)
            try page.add(try Literal.batch(records), location: nil)
            if ends, index == pages.count - 1 {
                _ = try page.commit(end: ScanEnd())
            } else {
                try page.commit(progress: ScanProgress(cursor: "\(number)", page: number, request: "r"))
            }
            relinked += page.counts[0].relinked
        }
        return relinked
    }

    private func categories(_ fixture: StoreFixture) throws -> [String] {
        let links = try fixture.table("Page_categories", "source", "target")
        return Dictionary(grouping: links, by: { $0[0] }).sorted { $0.key < $1.key }.map { _, list in
            list.map { $0[1].filter { $0 != "'" } }.joined()
        }
    }

    /// Counts the rows of a table of the bookkeeping, where the store has such tables.
    private func expectBookkeeping(_ fixture: StoreFixture, _ table: String, _ count: Int) throws {
        guard StoreKind.current == .sqlite else { return }
        #expect(try fixture.file().value("SELECT count(*) FROM \(table)") == "\(count)")
    }

    @Test func `parts of a list on two pages are joined`() throws {
        let fixture = try StoreFixture(try model())
        try scan(
            fixture, [[["id": 1, "categories": ["a", "b"]], ["id": 2]], [["id": 1, "categories": ["c"]]]])
        #expect(try categories(fixture) == ["abc"])
        try scan(
            fixture,
            [[["id": 1, "categories": ["a"]], ["id": 2]], [["id": 1, "categories": ["b", "c"]]], [["id": 2]]])
        #expect(try categories(fixture) == ["abc"], "wherever it is cut")
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `next time the list is replaced`() throws {
        let fixture = try StoreFixture(try model())
        try scan(fixture, [[["id": 1, "categories": ["a", "b"]]], [["id": 1, "categories": ["c", "d"]]]])
        let relinked = try scan(
            fixture, [[["id": 1, "categories": ["a"]]], [["id": 1, "categories": ["d"]]], [["id": 2]]])
        #expect(try categories(fixture) == ["ad"])
        #expect(relinked == 1, "the change is one")
        try scan(fixture, [[["id": 1, "categories": []]], [["id": 2]]])
        #expect(try categories(fixture) == [])
        #expect(try fixture.rows("Category") == [], "nothing refers to them")
    }

    @Test(.overSQLiteOnly) func `an unchanged list in parts writes nothing`() throws {
        let fixture = try StoreFixture(try model())
        let pages: [[Literal]] = [
            [["id": 1, "categories": ["a", "b"]], ["id": 2, "categories": ["x"]]],
            [["id": 1, "categories": ["c"]], ["id": 2, "categories": ["y", "z"]]],
        ]
        try scan(fixture, pages)
        #expect(try categories(fixture) == ["abc", "xyz"])
        let before = try FileBytes(fixture.path)
        #expect(try scan(fixture, pages) == 0)
        #expect(try FileBytes(fixture.path) == before)
    }

    @Test func `a list is joined over an interruption`() throws {
        let fixture = try StoreFixture(try model())
        let first: [Literal] = [["id": 1, "categories": ["a", "b"], "title": "one"]]
        let second: [Literal] = [["id": 1, "categories": ["c"]]]
        try scan(fixture, [first, second])
        // Each page changes something, so that its place is kept with what waits.
        try scan(fixture, [[["id": 1, "categories": ["a"], "title": "two"]]], ends: false)
        try expectBookkeeping(fixture, "bmo_waiting_lists", 1)
        try fixture.reopen()
        try scan(fixture, [[["id": 1, "categories": ["d"]]]], after: 1)
        #expect(try categories(fixture) == ["ad"], "b and c are gone")
        try expectBookkeeping(fixture, "bmo_waiting_lists", 0)
        try expectBookkeeping(fixture, "bmo_list_owners", 0)
    }

    @Test func `the first part is known after an interruption`() throws {
        let fixture = try StoreFixture(try model())
        try scan(fixture, [[["id": 1, "categories": ["a", "b"]]]], ends: false)
        try fixture.reopen()
        try scan(fixture, [[["id": 1, "categories": ["c"]]]], after: 1)
        #expect(try categories(fixture) == ["abc"])
    }

    @Test func `a scan that begins anew forgets what the interrupted one heard`() throws {
        let fixture = try StoreFixture(try model())
        try scan(fixture, [[["id": 1, "categories": ["a", "b"]]], [["id": 2]]])
        try scan(fixture, [[["id": 1, "categories": ["a", "c"], "title": "t"]]], ends: false)
        try fixture.reopen()
        try fixture.store.forgetProgress(of: scope)
        try scan(fixture, [[["id": 1, "categories": ["d"]]]])
        #expect(try categories(fixture) == ["d"])
    }

    @Test func `a page that is taken back was no part`() throws {
        let fixture = try StoreFixture(try model())
        try scan(fixture, [[["id": 1, "categories": ["a", "b"]]]])
        try fixture.store.beginScan(scope, afterPage: nil)
        let page = try fixture.begin("Page")
        try page.add(try Literal.batch([["id": 1, "categories": ["a", "x"]]]), location: nil)
        page.rollback()
        let again = try fixture.begin("Page")
        try again.add(try Literal.batch([["id": 1, "categories": ["b"]]]), location: nil)
        _ = try again.commit(end: ScanEnd())
        fixture.store.endScan(scope)
        #expect(try categories(fixture) == ["b"])
    }

    @Test func `children of an object are joined too`() throws {
        let fixture = try StoreFixture(try model())
        let pages: [[Literal]] = [[["id": 1, "parts": [1, 2]]], [["id": 1, "parts": [3]]]]
        for _ in 0..<2 {
            try scan(fixture, pages)
            #expect(try fixture.rows("Part") == ["1 1", "2 1", "3 1"])
        }
        try scan(fixture, [[["id": 1, "parts": [1]]], [["id": 1, "parts": [3]]]])
        #expect(try fixture.rows("Part") == ["1 1", "3 1"], "2 was nothing but a part of 1")
    }

    @Test func `an owner that is deleted meanwhile stays so`() throws {
        let fixture = try StoreFixture(try model())
        try scan(fixture, [[["id": 1, "categories": ["a", "b"]], ["id": 2]]])
        try fixture.store.beginScan(scope, afterPage: nil)
        let page = try fixture.begin("Page")
        try page.add(try Literal.batch([["id": 1, "categories": ["a", "new"]]]), location: nil)
        try page.delete(try Literal.batch([["id": 1]]), location: nil)
        _ = try page.commit(end: ScanEnd())
        fixture.store.endScan(scope)
        #expect(try fixture.rows("Page") == ["2 null"])
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `many lists that wait go to the file`() throws {
        let fixture = try StoreFixture(try model())
        func records(_ categories: Literal) -> [Literal] {
            (0..<12_000).map { ["id": .integer($0), "categories": categories] }
        }
        try scan(fixture, [records(["a", "b"])])
        try scan(fixture, [records(["a"]), records(["c"]), [["id": 1]]])
        #expect(
            try Dictionary(grouping: fixture.table("Page_categories", "target"), by: { $0[0] }).mapValues(\.count)
                == ["'a'": 12_000, "'c'": 12_000])
        try expectBookkeeping(fixture, "bmo_waiting_lists", 0)
    }
}
