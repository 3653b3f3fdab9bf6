internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// The form of a change in `bmo_changes`.
extension ChangeRecord {
    /// The columns that ``init(_:)`` reads, in order.
    static let columns = "id, run, entity, key, change, old, new, bridge, walk, location"

    /// Reads the statement's current row.
    init(_ row: RawStatement) throws {
        self.init(
            id: row.int64(0), run: row.int64(1), entity: row.text(2) ?? "", key: row.text(3),
            // An unknown kind, from a newer bmo, also changed columns.
            change: RowChange.Kind(rawValue: row.text(4) ?? "") ?? .updated,
            old: try row.text(5).map(Content.init(json:)), new: try row.text(6).map(Content.init(json:)), source: nil)
        bridge = row.text(7)
        scan = row.text(8)
        location = row.text(9)
    }

    /// Reads the remaining rows and resets the statement.
    static func all(_ select: RawStatement) throws -> [ChangeRecord] {
        defer { select.reset() }
        var records: [ChangeRecord] = []
        while try select.step() { records.append(try ChangeRecord(select)) }
        return records
    }
}

extension ChangeRecord.Content {
    /// Reads the output of ``json``.
    fileprivate init(json text: String) throws {
        let batch = try JSONParser.batch(text)
        self = withExtendedLifetime(batch) {
            let object = batch[0]
            guard let relationship = object["relationship"], relationship.tag == .text,
                let keys = object["keys"], keys.tag == .array
            else { return .columns(object.members.map { (name: $0.key, value: StoredValue(stored: $0.value)) }) }
            return .links(
                relationship: relationship.string,
                LinkSpan(
                    start: object["at"]?.integer.map(Int.init),
                    keys: keys.elements.map { $0.elements.map(StoredValue.init(stored:)) },
                    positions: object["positions"]?.elements.compactMap(\.integer) ?? []))
        }
    }

    /// The columns by name, or the part of a list; see ``LinkSpan/json(_:)``.
    var json: JSONText {
        switch self {
        case .columns(let columns): .object(columns)
        case .links(let relationship, let span): span.json(relationship)
        }
    }
}

extension LinkSpan {
    /// Returns JSON such as `{"relationship": "languages", "at": 0, "keys": [["fr"]]}`.
    func json(_ relationship: String) -> JSONText {
        var text = JSONText()
        text.append("{")
        text.beginMember("relationship")
        text.append(string: relationship)
        if let start {
            text.beginMember("at")
            text.append(number: start)
        }
        text.beginMember("keys")
        text.append("[")
        for (index, key) in keys.enumerated() {
            if index > 0 { text.append(",") }
            text.append(.key(key))
        }
        text.append("]")
        if start == nil {
            text.beginMember("positions")
            text.append(.key(positions.map { StoredValue.integer($0) }))
        }
        text.append("}")
        return text
    }
}
