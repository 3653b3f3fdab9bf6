import Model
import RecordBatch

/// What the rows of a benchmark look like, and how to make them, the same ones each time.
struct Shape: Sendable {
    let name: String
    let attributes: [Attribute]
    let value: @Sendable (_ column: Int, _ row: Int) -> Value

    enum Value {
        case integer(Int64)
        case real(Double)
        case bool(Bool)
        case text(String)
    }

    var entity: Entity { Entity(name: "Row", bridge: "memory", key: [attributes[0].name], attributes: attributes) }

    static let all = [users, keyed]

    /// The users of users.py: an integer key, 13 columns.
    static let users = Shape(
        name: "users",
        attributes: [
            attribute("id", .integer), attribute("name", .text), attribute("username", .text),
            attribute("email", .text), attribute("phone", .text), attribute("website", .text),
            attribute("company", .text), attribute("born", .date), attribute("registered", .timestamp),
            attribute("score", .real), attribute("active", .boolean), attribute("city", .text),
            attribute("zip", .text),
        ]
    ) { column, row in
        switch column {
        case 0: .integer(Int64(row))
        case 1: .text("Firstname Lastname \(row % 5000)")
        case 2: .text("user\(row)")
        case 3: .text("user\(row)@example-\(row % 100).org")
        case 4: .text("+49 30 \(1_000_000 + row)")
        case 5: .text("https://example.org/people/\(row)")
        case 6: .text("Company \(row % 300) GmbH & Co. KG")
        case 7: .text("19\(50 + row % 50)-\(two(row % 12 + 1))-\(two(row % 28 + 1))")
        case 8: .text("2024-\(two(row % 12 + 1))-\(two(row % 28 + 1))T12:\(two(row % 60)):00.000000Z")
        case 9: .real(Double(row % 1000) / 8)
        case 10: .bool(row % 3 == 0)
        case 11: .text("City \(row % 900)")
        default: .text("\(10_000 + row % 80_000)")
        }
    }

    /// A random text key, 8 columns.
    static let keyed = Shape(
        name: "text key",
        attributes: [attribute("key", .text)] + (1...5).map { attribute("text\($0)", .text) }
            + [attribute("count", .integer), attribute("size", .real)]
    ) { column, row in
        let random = scramble(UInt64(row))
        return switch column {
        case 0: .text(String(random, radix: 36) + "-" + String(row, radix: 36))
        case 6: .integer(Int64(random % 1_000_000))
        case 7: .real(Double(random % 1_000_000) / 7)
        default: .text("value \(column) of \(random % 100_000)")
        }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    static func scramble(_ number: UInt64) -> UInt64 {
        var value = number &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    static func attribute(_ name: String, _ type: AttributeType) -> Attribute { Attribute(name: name, type: type) }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// A batch of the rows of `range`, as a bridge makes it.
    func batch(_ range: Range<Int>) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        for row in range {
            writer.object {
                for (column, attribute) in attributes.enumerated() {
                    writer.key(attribute.name)
                    switch value(column, row) {
                    case .integer(let value): writer.int64(value)
                    case .real(let value): writer.double(value)
                    case .bool(let value): writer.bool(value)
                    case .text(let value): writer.text(value)
                    }
                }
            }
        }
        return try writer.finish()
    }
}
