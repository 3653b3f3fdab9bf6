package import Mapping
internal import Model
package import RecordBatch
package import StoreContract
internal import TextFormats

extension StoredValue {
    /// Reads a column's value written by ``JSONText``.
    package init(stored value: BatchValue) {
        switch value.tag {
        case .int64: self = .integer(value.int64)
        case .decimal: self = Double(value.string).map { .real($0) } ?? .null
        case .text: self = .text(value.string)
        case .object: self = value["base64"].flatMap { Base64.decode($0.string) }.map { .bytes($0) } ?? .null
        default: self = .null
        }
    }
}

extension JSONText {
    /// Returns the values of a key; bytes remain base64 text.
    package static func parts(of key: String) -> [StoredValue]? {
        guard let batch = try? JSONParser.batch(key) else { return nil }
        return withExtendedLifetime(batch) { batch[0].elements.map(StoredValue.init(stored:)) }
    }
}

extension EntityLayout {
    /// Parses a key written by ``JSONText/key(_:)-(Sequence<StoredValue>)``; returns nil if it does not fit this
    /// entity.
    package func key(from text: String) -> [StoredValue]? {
        guard let parts = JSONText.parts(of: text), parts.count == max(1, key.count) else { return nil }
        return key.isEmpty ? parts : key(parts)
    }

    /// Converts the targets of links, whose types the record of a change does not contain.
    package func keys(_ span: LinkSpan) -> LinkSpan {
        var span = span
        span.keys = span.keys.map { key($0) }
        return span
    }

    /// Gives the parts of a key their types, and decodes bytes from base64 text.
    package func key(_ parts: [StoredValue]) -> [StoredValue] {
        zip(parts, key).map { part, field in
            guard case .text(let text) = part, fields[field].type == .data else {
                return part.typed(as: fields[field].type)
            }
            return Base64.decode(text).map { .bytes($0) } ?? part
        }
    }
}
