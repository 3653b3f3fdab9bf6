package import BridgeContract
package import RecordBatch

/// A record, an option or a section of a configuration as a Swift literal.
///
/// It holds all that a batch can hold. Members keep their order, and a key may come twice.
package indirect enum Literal: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(String)
    case text(String)
    case bytes([UInt8])
    case timestamp(microseconds: Int64)
    case array([Literal])
    case object(Members)

    /// The members of an object.
    package typealias Members = [(key: String, value: Literal)]

    package func write(to writer: RecordBatchWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .integer(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .decimal(let value): writer.decimal(value)
        case .text(let value): writer.text(value)
        case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
        case .timestamp(let value): writer.timestamp(microseconds: value)
        case .array(let elements): writer.array { for element in elements { element.write(to: writer) } }
        case .object: writer.object { writeMembers(to: writer) }
        }
    }

    /// The members of an object; other values have none.
    private var members: Members {
        if case .object(let members) = self { members } else { [] }
    }

    fileprivate func writeMembers(to writer: RecordBatchWriter) {
        for (key, value) in members {
            writer.key(key)
            value.write(to: writer)
        }
    }

    /// Returns the object with the members of another one, which replace those of the same name.
    package func adding(_ more: Literal) -> Literal {
        .object(members.filter { member in !more.members.contains { $0.key == member.key } } + more.members)
    }

    /// A batch of these records.
    package static func batch(_ records: [Literal]) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        for record in records { record.write(to: writer) }
        return try writer.finish()
    }

    /// The object as a bridge gets it.
    package var options: BridgeOptions { BridgeOptions(self) }
}

extension BridgeOptions {
    /// The members of an object.
    package init(_ literal: Literal) {
        guard case .object = literal else {
            self = .empty
            return
        }
        self.init { literal.writeMembers(to: $0) }
    }
}

extension Literal: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(arrayLiteral elements: Literal...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, Literal)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }
}

extension Literal: CustomStringConvertible {
    /// The value as a failed expectation shows it.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .decimal(let value): "decimal \(value)"
        case .text(let value): value.debugDescription
        case .bytes(let value): "bytes \(value)"
        case .timestamp(let value): "timestamp \(value)"
        case .array(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
        case .object(let members): "{" + members.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        }
    }
}
