internal import StoreContract
internal import Mapping
internal import Model
internal import RecordBatch
internal import TextFormats

/// A row read from `bmo_changes`.
struct ChangeRecord {
    /// The columns or links before or after a change.
    enum Content {
        case columns([(name: String, value: StoredValue)])
        case links(relationship: String, LinkSpan)

        var columns: [(name: String, value: StoredValue)] {
            if case .columns(let columns) = self { columns } else { [] }
        }
    }

    let id: Int64
    let run: Int64
    let entity: String
    /// The key as JSON; nil for ``ChangeLog/Change/loaded``.
    let key: String?
    let change: RowChange.Kind
    let old: Content?
    let new: Content?
    let bridge: String?
    let scan: String?
    let location: String?

    /// The columns that ``init(_:)`` reads, in order.
    static let columns = "id, run, entity, key, change, old, new, bridge, walk, location"

    /// Reads the statement's current row.
    init(_ row: RawStatement) throws {
        id = row.int64(0)
        run = row.int64(1)
        entity = row.text(2) ?? ""
        key = row.text(3)
        // An unknown kind, from a newer bmo, also changed columns.
        change = RowChange.Kind(rawValue: row.text(4) ?? "") ?? .updated
        old = try row.text(5).map(Content.init)
        new = try row.text(6).map(Content.init)
        bridge = row.text(7)
        scan = row.text(8)
        location = row.text(9)
    }
}

extension ChangeRecord.Content {
    /// Reads the output of ``JSONText/object(_:)`` or ``LinkSpan/json(_:)``.
    init(_ text: String) throws {
        let batch = try JSONParser.batch(text)
        self = withExtendedLifetime(batch) {
            let object = batch[0]
            guard let relationship = object["relationship"], relationship.tag == .text,
                let keys = object["keys"], keys.tag == .array
            else { return .columns(object.members.map { (name: $0.key, value: StoredValue($0.value)) }) }
            return .links(
                relationship: relationship.string,
                LinkSpan(
                    start: object["at"]?.integer.map(Int.init),
                    keys: keys.elements.map { $0.elements.map(StoredValue.init) },
                    positions: object["positions"]?.elements.compactMap(\.integer) ?? []))
        }
    }
}

extension StoredValue {
    /// Reads a column's value written by ``JSONText``.
    init(_ value: BatchValue) {
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
    static func parts(of key: String) -> [StoredValue]? {
        guard let batch = try? JSONParser.batch(key) else { return nil }
        return withExtendedLifetime(batch) { batch[0].elements.map(StoredValue.init) }
    }
}

extension EntityLayout {
    /// Parses a key written by ``JSONText/key(_:)-(Sequence<StoredValue>)``; returns nil if it does not fit this
    /// entity.
    func key(from text: String) -> [StoredValue]? {
        guard let parts = JSONText.parts(of: text), parts.count == max(1, key.count) else { return nil }
        return key.isEmpty ? parts : key(parts)
    }

    /// Converts the targets of links, whose types the record of a change does not contain.
    func keys(_ span: LinkSpan) -> LinkSpan {
        var span = span
        span.keys = span.keys.map { key($0) }
        return span
    }

    /// Decodes bytes from base64 text in a key.
    func key(_ parts: [StoredValue]) -> [StoredValue] {
        zip(parts, key).map { part, field in
            guard case .text(let text) = part, fields[field].type == .data else {
                return part.typed(as: fields[field].type)
            }
            return Base64.decode(text).map { .bytes($0) } ?? part
        }
    }
}
