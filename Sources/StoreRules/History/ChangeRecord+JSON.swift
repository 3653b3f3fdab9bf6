internal import Mapping
internal import RecordBatch
package import StoreContract

extension ChangeRecord.Content {
    /// Reads the output of ``json``.
    package init(json text: String) throws {
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
    package var json: JSONText {
        switch self {
        case .columns(let columns): .object(columns)
        case .links(let relationship, let span): span.json(relationship)
        }
    }
}

extension LinkSpan {
    /// Returns JSON such as `{"relationship": "languages", "at": 0, "keys": [["fr"]]}`.
    package func json(_ relationship: String) -> JSONText {
        var text = JSONText()
        text.append("{")
        text.beginMember("relationship")
        text.append(string: relationship)
        if let start {
            text.beginMember("at")
            text.append(number: start)
        }
        text.beginMember("keys")
        text.append(.keys(keys))
        if start == nil {
            text.beginMember("positions")
            text.append(.key(positions.map { StoredValue.integer($0) }))
        }
        text.append("}")
        return text
    }
}
