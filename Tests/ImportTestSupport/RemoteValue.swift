package import RecordBatch

/// A remote representation as a Swift literal; members keep their order, and a key may come twice.
package enum RemoteValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case decimal(String)
    case text(String)
    case bytes([UInt8])
    case timestamp(microseconds: Int64)
    case array([RemoteValue])
    case object([(key: String, value: RemoteValue)])

    private func write(to writer: RecordBatchWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .int(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .decimal(let value): writer.decimal(value)
        case .text(let value): writer.text(value)
        case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
        case .timestamp(let value): writer.timestamp(microseconds: value)
        case .array(let elements): writer.array { for element in elements { element.write(to: writer) } }
        case .object(let members):
            writer.object {
                for (key, value) in members {
                    writer.key(key)
                    value.write(to: writer)
                }
            }
        }
    }

    /// A batch of these records.
    package static func batch(_ records: [RemoteValue]) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        for record in records { record.write(to: writer) }
        return try writer.finish()
    }
}

extension RemoteValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(arrayLiteral elements: RemoteValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, RemoteValue)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }
}

extension RemoteValue: CustomStringConvertible {
    /// The value as a failed expectation shows it.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
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
