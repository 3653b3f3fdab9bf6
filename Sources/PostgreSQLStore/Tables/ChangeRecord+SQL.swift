internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import StoreRules

extension ChangeRecord {
    /// Reads a row of `bmo_changes`.
    init(_ result: QueryResult, _ row: Int) throws {
        self.init(
            id: result.bigint(row, 0) ?? 0, run: result.bigint(row, 1) ?? 0, entity: result.text(row, 2) ?? "",
            key: result.text(row, 3),
            // An unknown kind, from a newer bmo, also changed columns.
            change: RowChange.Kind(rawValue: result.text(row, 4) ?? "") ?? .updated,
            old: try result.text(row, 5).map(Content.init(json:)),
            new: try result.text(row, 6).map(Content.init(json:)), source: nil)
        bridge = result.text(row, 7)
        scan = result.text(row, 8)
        location = result.text(row, 9)
    }
}

extension ChangeRecord.Content {
    /// Reads the output of ``json``.
    init(json text: String) throws {
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

    /// The content as a JSON object: values by column, or a relationship with keys.
    var json: String {
        switch self {
        case .columns(let columns): return JSONText.object(columns).string
        case .links(let relationship, let span):
            var text = JSONText()
            text.append("{")
            text.beginMember("relationship")
            text.append(string: relationship)
            if let start = span.start {
                text.beginMember("at")
                text.append(number: start)
            }
            text.beginMember("keys")
            text.append(.keys(span.keys))
            if !span.positions.isEmpty {
                text.beginMember("positions")
                text.append(.key(span.positions.map { StoredValue.integer($0) }))
            }
            text.append("}")
            return text.string
        }
    }
}
