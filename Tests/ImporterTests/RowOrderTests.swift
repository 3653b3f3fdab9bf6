import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import TestSupport
import StoreTestSupport
import Testing

/// Records in the order of the table's rows, and out of it: SQLite's store steps along its table, and what an import does may
/// not depend on that.
@Suite struct RowOrderTests {
    /// A listing that follows the table for a while, and then does not.
    private struct Listing {
        var random: SplitMix64
        let makeKey: (Int) -> [(key: String, value: Literal)]
        /// The numbers of the objects, in the order in which they were first listed.
        var known: [Int] = []

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func record(_ number: Int) -> Literal {
            var members = makeKey(number)
            if !chance(3) { members.append(("name", chance(5) ? .null : .text("name \(number)"))) }
            if chance(8) { members.append(("size", .integer(Int64.random(in: 0..<4, using: &random)))) }
            return .object(members)
        }

        mutating func page() -> [Literal] {
            var records: [Literal] = []
            var position = known.isEmpty ? 0 : Int.random(in: 0..<known.count, using: &random)
            // The newest first, as many an API has them.
            let goesDown = chance(30)
            while records.count < 120 {
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<2: position = known.isEmpty ? 0 : Int.random(in: 0..<known.count, using: &random)
                case 2..<5: position += Int.random(in: 1...30, using: &random)
                case 5..<7: position = max(0, position - Int.random(in: 1...2, using: &random))
                default: position += goesDown && position > 0 ? -1 : 1
                }
                if position < known.count {
                    records.append(record(known[position]))
                } else {
                    let number = Int.random(in: 0..<100_000, using: &random)
                    if !known.contains(number) { known.append(number) }
                    records.append(record(number))
                    position = known.count - 1
                }
            }
            return records
        }
    }

    private static let fields: [Attribute] = [.of("name", .text), .of("size", .integer)]

    private static func agree(
        seed: UInt64, _ entity: Entity, _ makeKey: @escaping (Int) -> [(key: String, value: Literal)]
    ) throws {
        let model = try CompiledModel.of(entity)
        let memory = try StoreFixture(model, kind: .memory)
        let sqlite = try StoreFixture(model, kind: .sqlite)
        var listing = Listing(random: SplitMix64(seed: seed), makeKey: makeKey)
        for page in 1...25 {
            let records = listing.page()
            let end: PageEnd = listing.chance(10) ? .rollback : .commit
            let batches = [Array(records.prefix(70)), Array(records.dropFirst(70))]
            let expected = try memory.addBatches(batches, of: "Thing", page: page, end: end)
            try #require(
                try sqlite.addBatches(batches, of: "Thing", page: page, end: end) == expected,
                "seed \(seed), page \(page)")
            try #require(try sqlite.text(of: "Thing") == memory.text(of: "Thing"), "seed \(seed), page \(page)")
        }
        #expect(try sqlite.faults().isEmpty)
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `any order of integer keys`(_ seed: UInt64) throws {
        try Self.agree(seed: seed, Entity("Thing", key: ["id"], [.of("id", .integer)] + Self.fields)) {
            [("id", .integer(Int64($0)))]
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `any order of text keys`(_ seed: UInt64) throws {
        try Self.agree(seed: seed, Entity("Thing", key: ["code"], [.of("code", .text)] + Self.fields)) {
            [("code", .text("c\($0)"))]
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `any order of keys of two parts`(_ seed: UInt64) throws {
        try Self.agree(
            seed: seed,
            Entity("Thing", key: ["b", "a"], [.of("a", .integer), .of("b", .text)] + Self.fields)
        ) { [("a", .integer(Int64($0 / 7))), ("b", .text("b\($0 % 7)"))] }
    }
}
