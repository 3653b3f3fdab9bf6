import ImportTestSupport
import Importer
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The rows that a complete listing lacks.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct SweepTests {
    private static func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity("Thing", key: ["number"], [.of("number", .integer)]),
            Entity("Place", key: ["code"], [.of("code", .text)]))
    }

    /// Lists all objects with a key in a scan of one page.
    private static func list(
        _ entity: String, _ key: String, _ values: [Literal], in fixture: StoreFixture,
        limit: DeletePolicy.DeletionLimit? = nil
    ) throws -> SweepResult {
        let scope = ScanScope(entity: entity)
        try fixture.store.beginScan(scope, afterPage: nil)
        defer { fixture.store.endScan(scope) }
        let page = try fixture.begin(entity)
        try page.add(try Literal.batch(values.map { .object([(key: key, value: $0)]) }), location: nil)
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: limit)))
    }

    /// The numbers of the rows that stay are one range, some ranges, or none next to another.
    @Test(arguments: [10_000, 300, 1])
    func `rows that a listing lacks are deleted, wherever their numbers are`(length: Int) throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let all = Array(-100..<4_000)
        let kept = all.filter { ($0 + 100) / length % 2 == 0 && $0 < 3_990 }
        _ = try Self.list("Thing", "number", all.map { .integer(Int64($0)) }, in: fixture)
        let result = try Self.list("Thing", "number", kept.map { .integer(Int64($0)) }, in: fixture)
        #expect(result.deleted == [0: all.count - kept.count])
        #expect(try fixture.table("Thing") == kept.map { ["\($0)"] })
        _ = try Self.list("Place", "code", all.map { .text("\($0)") }, in: fixture)
        let others = try Self.list("Place", "code", kept.map { .text("\($0)") }, in: fixture)
        #expect(others.deleted == [1: all.count - kept.count])
        #expect(try fixture.store.count(of: RowQuery("Place")) == kept.count)
    }

    @Test func `the deletion limit counts all rows`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let all = (0..<100).map { Literal.integer($0) }
        _ = try Self.list("Thing", "number", all, in: fixture)
        let limit = DeletePolicy.DeletionLimit(share: 0.2, rows: 5)
        let held = try Self.list("Thing", "number", Array(all.prefix(79)), in: fixture, limit: limit)
        #expect(held.held == SweepResult.LimitExceeded(gone: 21, total: 100))
        let deleted = try Self.list("Thing", "number", Array(all.prefix(80)), in: fixture, limit: limit)
        #expect(deleted.deleted == [0: 20])
    }
}
