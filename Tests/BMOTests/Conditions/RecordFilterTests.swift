import ImportTestSupport
import Mapping
import Model
import RecordBatch
import TestSupport
import Testing

@testable import BMO

/// The records that pass `bmo sync --where`.
@Suite struct RecordFilterTests {
    /// The ids of the records with these decimals, counted from 1, that meet a condition.
    private func ids(_ condition: String, of decimals: [Literal]) throws -> [Int64] {
        let model = try CompiledModel.of(Entity("A", key: ["id"], [.of("id", .integer), .of("d", .decimal)]))
        let filter = try RecordFilter([try #require(LocalCondition(condition))], plan: 0, of: 0, in: model)
        let records: [Literal] = decimals.enumerated().map { ["id": .integer(Int64($0 + 1)), "d": $1] }
        let passing = try filter.passing(try Literal.batch(records), parent: nil)
        return withExtendedLifetime(passing) { (0..<passing.count).compactMap { passing[$0]["id"]?.integer } }
    }

    @Test(arguments: [
        ("d=12345678901234567890", [1]), ("d>12345678901234567890", [2, 5]), ("d<=12345678901234567890", [1, 3, 4, 6]),
        ("d=0.1", [3]), ("d!=0.100", [1, 2, 4, 5, 6]), ("d>0.1", [1, 2, 4, 5]), ("d>1e399", [5]), ("d=1e400", [5]),
        ("d<0", [6]), ("d=-5.00", [6]), ("d=null", [7]),
    ])
    func `every digit of a decimal counts`(condition: String, expected: [Int64]) throws {
        let decimals: [Literal] = [
            .decimal("12345678901234567890"), .decimal("12345678901234567891"), .decimal("0.10"),
            .decimal("0.10000000000000000001"), .decimal("1e400"), -5, nil,
        ]
        #expect(try ids(condition, of: decimals) == expected)
    }
}
