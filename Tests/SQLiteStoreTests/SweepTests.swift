import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// What a scan leaves when it ends: rows deleted, orphans settled.
@Suite(.overAllStores, .namingTheStore) struct SweepTests {
    private func model() throws -> CompiledModel {
        var lines = Relationship.many("lines", "Line")
        lines.orphans = .delete
        return try CompiledModel.of(
            Entity("Order", key: ["id"], [.of("id", .integer)], [lines, .one("first", "Line")]),
            Entity("Line", key: ["id"], [.of("id", .text), .of("text", .text)]))
    }

    private func end(_ fixture: StoreFixture, _ entity: String, _ records: Literal...) throws -> SweepResult {
        let page = try fixture.begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        return try page.commit(end: ScanEnd())
    }

    @Test func `an orphan goes when its scan ends unless something refers to it`() throws {
        let fixture = try StoreFixture(try model())
        try fixture.add(
            "Order", ["id": 1, "lines": [["id": "a", "text": "A"], ["id": "b"], ["id": "c"]], "first": "c"],
            ["id": 2, "lines": []])
        // `a` moves to the other order on a later page of the scan.
        let place = ScanProgress(cursor: "1", page: 1, request: "r")
        try fixture.add("Order", ["id": 1, "lines": []], progress: place)
        #expect(try fixture.rows("Line").count == 3, "the scan is not over")
        try fixture.reopen()
        let result = try end(fixture, "Order", ["id": 2, "lines": ["a"]])
        #expect(result.deleted == [1: 1])
        #expect(try fixture.rows("Line") == ["'a' 'A'", "'c' null"])
        if StoreKind.current == .sqlite {
            #expect(try fixture.file().value("SELECT count(*) FROM bmo_orphans") == "0")
        }
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `many orphans cost as many look ups`() throws {
        let fixture = try StoreFixture(try model())
        let lines = (0..<5000).map { Literal.object([(key: "id", value: .text("line \($0)"))]) }
        try fixture.add("Order", ["id": 1, "lines": .array(lines)])
        let result = try end(fixture, "Order", ["id": 1, "lines": .array([lines[0]])])
        #expect(result.deleted == [1: 4999])
        #expect(try fixture.rows("Line").count == 1)
    }

    private func sweep(
        _ fixture: StoreFixture, _ ids: [Int64], deletionLimit: DeletePolicy.DeletionLimit? = nil,
        isNewScan: Bool = true,
        listing: SweepRule.Listing = .only
    ) throws -> SweepResult {
        let scope = ScanScope(entity: "Order")
        if isNewScan { try fixture.store.beginScan(scope, afterPage: nil) }
        let page = try fixture.begin("Order")
        try page.add(try Literal.batch(ids.map { ["id": .integer($0)] }), location: nil)
        defer { fixture.store.endScan(scope) }
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: deletionLimit, listing: listing)))
    }

    @Test func `what a deleted object alone had in its list is deleted with it`() throws {
        for mode in [DeletePolicy.Mode.hard, .soft] {
            var lines = Relationship.many("lines", "Line")
            lines.orphans = .delete
            var order = Entity("Order", key: ["id"], [.of("id", .integer)], [lines, .one("first", "Line")])
            order.deletes = DeletePolicy(mode: mode)
            var line = Entity("Line", key: ["id"], [.of("id", .text)])
            line.isScanned = false
            let fixture = try StoreFixture(try CompiledModel.of(order, line))
            try fixture.add(
                "Order", ["id": 1, "lines": [["id": "a"], ["id": "b"], ["id": "c"]]],
                ["id": 2, "lines": [["id": "b"]], "first": "c"])
            #expect(try sweep(fixture, [2]).deleted == [0: 1, 1: 1])
            #expect(try fixture.rows("Line") == ["'b'", "'c'"], "others list it, or refer to it")
            #expect(try sweep(fixture, [2]) == SweepResult())
            #expect(try fixture.stubs().isEmpty)
            #expect(try fixture.faults().isEmpty)
        }
    }

    @Test func `keys far apart and in any order are found`() throws {
        let fixture = try StoreFixture(try model())
        let ids: [Int64] = [.min + 1, -5, 0, 3, 1 << 40, 1 << 41, .max]
        _ = try sweep(fixture, ids)
        #expect(try sweep(fixture, ids.reversed()) == SweepResult())
        // Twice the same, and one missing: as many records as rows.
        #expect(try sweep(fixture, [.max, 1 << 40, 3, 3, 0, -5, .min + 1]).deleted == [0: 1])
        #expect(try fixture.rows("Order").count == 6)
        #expect(try sweep(fixture, [3]).deleted == [0: 5])
    }

    @Test(.enabled(if: StoreKind.current == .sqlite, "the numbers of rows are keys in SQLite only"))
    func `the least integer is a key as any other`() throws {
        let fixture = try StoreFixture(try model())
        _ = try sweep(fixture, [1, 2, .min])
        #expect(try sweep(fixture, [1, .min]).deleted == [0: 1])
        #expect(try sweep(fixture, [.min, 1]) == SweepResult())
        #expect(try sweep(fixture, [1]).deleted == [0: 1])
        #expect(try fixture.rows("Order") == ["1 null"])
    }

    @Test func `a listing in the tables order misses no row and invents none`() throws {
        // Ids with gaps, in pages of 20; the rows are found by steps along the table.
        let ids: [Int64] = (0..<200 as Range<Int64>).map { (number: Int64) -> Int64 in number * 3 + number % 5 / 2 }
        let scope = ScanScope(entity: "Order")
        let lacking: [[Int]] = [
            [], [0], [199], [100], [20], [19, 20], [0, 1, 2], [5, 90, 91, 150], [180, 181, 199], Array(60..<80), [],
        ]
        for missing in lacking {
            let fixture = try StoreFixture(try model())
            _ = try sweep(fixture, ids)
            let listed = ids.indices.filter { !missing.contains($0) }.map { ids[$0] }
            try fixture.store.beginScan(scope, afterPage: nil)
            var result = SweepResult()
            for (number, start) in stride(from: 0, to: listed.count, by: 20).enumerated() {
                let page = try fixture.begin("Order", page: number + 1)
                let records = listed[start..<min(start + 20, listed.count)]
                try page.add(try Literal.batch(records.map { ["id": .integer($0)] }), location: nil)
                if start + 20 < listed.count {
                    try page.commit(progress: ScanProgress(cursor: "\(number)", page: number + 1, request: "r"))
                } else {
                    result = try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil)))
                }
            }
            fixture.store.endScan(scope)
            #expect(result.deleted == (missing.isEmpty ? [:] : [0: missing.count]), "\(missing)")
            #expect(try fixture.rows("Order").map { Int64($0.split(separator: " ")[0]) } == listed, "\(missing)")
        }
    }

    @Test(.overSQLiteOnly) func `a row that no listing brought stands between the others`() throws {
        let fixture = try StoreFixture(try model())
        _ = try sweep(fixture, [10, 20, 30, 40, 50])
        // By another program: the row is none of those that a later listing names.
        try fixture.file().rows("INSERT INTO \"Order\" (id) VALUES (35)")
        #expect(try sweep(fixture, [10, 20, 30, 40, 50]).deleted == [0: 1])
        #expect(try fixture.rows("Order").count == 5)
    }

    @Test func `the brake counts the rows of the scope`() throws {
        let fixture = try StoreFixture(try model())
        _ = try sweep(fixture, Array(1...100))
        let deletionLimit = DeletePolicy.DeletionLimit()
        #expect(
            try sweep(fixture, Array(1...79), deletionLimit: deletionLimit).held
                == SweepResult.LimitExceeded(gone: 21, total: 100))
        #expect(try fixture.rows("Order").count == 100)
        #expect(try sweep(fixture, Array(1...80), deletionLimit: deletionLimit) == SweepResult(deleted: [0: 20]))
    }

    @Test func `of two listings both have to lack a row`() throws {
        let fixture = try StoreFixture(try model())
        _ = try sweep(fixture, Array(1...10))
        // 4 slipped past the first listing, 9 past the second; 1 is gone.
        #expect(try sweep(fixture, [2, 3, 5, 6, 7, 8, 9, 10], listing: .first) == SweepResult(unconfirmed: 2))
        #expect(try fixture.rows("Order").count == 10)
        #expect(try sweep(fixture, [2, 3, 4, 5, 6, 7, 8, 10], listing: .second) == SweepResult(deleted: [0: 1]))
        #expect(try fixture.rows("Order").count == 9)
        // What was noted is used once.
        #expect(try sweep(fixture, [2, 3], listing: .second) == SweepResult())
        #expect(try sweep(fixture, Array(2...10), listing: .first) == SweepResult())
    }

    @Test func `a page that is taken back has listed nothing`() throws {
        let fixture = try StoreFixture(try model())
        _ = try sweep(fixture, [1, 2, 3])
        try fixture.store.beginScan(ScanScope(entity: "Order"), afterPage: nil)
        let page = try fixture.begin("Order")
        try page.add(try Literal.batch([["id": 1], ["id": 2]]), location: nil)
        page.rollback()
        #expect(try sweep(fixture, [1], isNewScan: false).deleted == [0: 2])
    }
}
