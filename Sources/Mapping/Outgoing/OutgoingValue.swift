// Outgoing values: the inverse of a mapping, for edits that are sent to the remote.

package import Model
package import RecordBatch
internal import TextFormats

/// A remote value made from local values.
package indirect enum OutgoingValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    /// A number as its exact text.
    case decimal(String)
    case text(String)
    case bytes([UInt8])
    /// Any value, as JSON text.
    case json(String)
    case array([OutgoingValue])
    case object([(key: String, value: OutgoingValue)])

    init(_ scalar: RemoteScalar) {
        switch scalar {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .decimal(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .bytes(value)
        case .timestamp(let value): self = .text(Timestamp.text(microseconds: value))
        case .composite(let json): self = .json(json)
        }
    }

    /// Writes the value.
    ///
    /// Invalid JSON is written as text.
    package func write(to writer: RecordBatchWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .int(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .decimal(let value): writer.decimal(value)
        case .text(let value): writer.text(value)
        case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
        case .json(let text):
            // A record of a batch may be any value.
            if let batch = try? JSONParser.batch(text) {
                withExtendedLifetime(batch) { writer.copy(batch[0]) }
            } else {
                writer.text(text)
            }
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

    /// The value as JSON on one line.
    package var json: String {
        RecordBatchWriter.json { writer in
            writer.key("value")
            write(to: writer)
        }.dropFirst(#"{"value":"#.count).dropLast().description
    }

    /// The value with long parts shortened, for display.
    package var shortened: OutgoingValue {
        func cut(_ text: String) -> OutgoingValue {
            .text(text.count > 200 ? "\(text.prefix(200))… (\(text.count) characters)" : text)
        }
        switch self {
        case .null, .bool, .int, .double, .decimal: return self
        case .text(let text): return cut(text)
        case .json(let text): return text.count > 200 ? cut(text) : self
        case .bytes(let bytes): return bytes.count > Base64.mostShown ? .text(Base64.summary(of: bytes)) : self
        case .array(let elements):
            let rest = elements.count > 20 ? [OutgoingValue.text("… (\(elements.count) in all)")] : []
            return .array(elements.prefix(20).map(\.shortened) + rest)
        case .object(let members): return .object(members.map { ($0.key, $0.value.shortened) })
        }
    }

    /// The value as text for a condition; nil for null and for values that are not scalar.
    package var text: String? {
        switch self {
        case .null, .json, .array, .object, .bytes: nil
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .double(let value): "\(value)"
        case .decimal(let value), .text(let value): value
        }
    }

    /// Puts a value at a path, creating objects along it.
    ///
    /// - Returns: False if the path is occupied or leads through a value that is not an object.
    mutating func put(_ value: OutgoingValue, at path: ArraySlice<String>) -> Bool {
        guard let name = path.first else { return false }
        guard case .object(var members) = self else { return false }
        let index = members.firstIndex { ExactText($0.key) == ExactText(name) }
        let isAdded: Bool
        if path.count == 1 {
            if let index {
                isAdded = members[index].value.json == value.json
            } else {
                members.append((name, value))
                isAdded = true
            }
        } else {
            var inner = index.map { members[$0].value } ?? .object([])
            isAdded = inner.put(value, at: path.dropFirst())
            if let index { members[index].value = inner } else { members.append((name, inner)) }
        }
        self = .object(members)
        return isAdded
    }
}

extension OutgoingValue {
    /// Returns a local value in its stored form.
    package static func plain(_ value: StoredValue) -> OutgoingValue { OutgoingValue(RemoteScalar(stored: value)) }

    /// Returns a local value by its type: an integer of type boolean becomes a boolean.
    package static func local(_ value: StoredValue, _ type: AttributeType) -> OutgoingValue {
        switch (value.form, type) {
        case (.integer(let value), .boolean): .bool(value != 0)
        default: plain(value)
        }
    }
}
