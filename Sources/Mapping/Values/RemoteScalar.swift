internal import Model
internal import RecordBatch
internal import TextFormats

/// A remote value copied out of its batch, for transformers and for types that need a conversion.
enum RemoteScalar {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case decimal(String)
    case text(String)
    case bytes([UInt8])
    case timestamp(microseconds: Int64)
    /// An array or object, as JSON.
    case composite(String)

    init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .bool: self = .bool(value.bool)
        case .int64: self = .int(value.int64)
        case .double: self = .double(value.double)
        case .decimal: self = .decimal(value.string)
        case .text: self = .text(value.string)
        case .bytes: self = .bytes(Array(value.rawBytes))
        case .timestamp: self = .timestamp(microseconds: value.int64)
        case .array, .object: self = .composite(value.json)
        }
    }

    init(_ value: ConfigValue) {
        switch value {
        case .null, .secret: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .decimal(value)
        case .string(let value): self = .text(value)
        case .array, .object: self = .composite(value.compactJSON)
        }
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as text without loss; nil if it is not a scalar.
    var text: String? {
        switch self {
        case .null, .bytes, .composite: nil
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .double(let value): value.lexicalText
        case .decimal(let value), .text(let value): value
        case .timestamp(let value): Timestamp.text(microseconds: value)
        }
    }

    /// The value as JSON.
    var json: String {
        switch self {
        case .null: return "null"
        case .bool, .int, .decimal: return text ?? "null"
        case .double(let value): return value.jsonText
        case .composite(let json): return json
        case .bytes(let bytes): return "\"" + bytes.withUnsafeBytes(Base64.encode) + "\""
        case .text, .timestamp: return (text ?? "").jsonQuoted
        }
    }

    /// The value for an error message: its kind and its shortened JSON.
    var shown: String {
        let json = if case .double(let value) = self { value.lexicalText } else { json }
        let cut = json.count > 80 ? String(json.prefix(80)) + "…" : json
        return switch self {
        case .null: "null"
        case .bool: "the boolean \(cut)"
        case .int, .double, .decimal: "the number \(cut)"
        case .text: "the text \(cut)"
        case .bytes(let bytes): "a value of \(bytes.count) bytes"
        case .timestamp: "the timestamp \(cut)"
        case .composite: json.hasPrefix("[") ? "the array \(cut)" : "the object \(cut)"
        }
    }
}

extension ConfigValue {
    /// The value as JSON on one line, formatted like a remote value; a secret becomes null.
    fileprivate var compactJSON: String {
        switch self {
        case .array(let elements): return "[" + elements.map(\.compactJSON).joined(separator: ",") + "]"
        case .object(let members):
            let parts = members.map { $0.key.jsonQuoted + ":" + $0.value.compactJSON }
            return "{" + parts.joined(separator: ",") + "}"
        default: return RemoteScalar(self).json
        }
    }
}
