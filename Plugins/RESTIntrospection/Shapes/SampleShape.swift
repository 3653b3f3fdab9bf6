package import BridgeJSON
internal import Inference

/// Derives the common shape of sample values.
package enum SampleShape {
    private static let maxDepth = 6
    private static let maxElements = 5_000

    /// Returns the shape of all values of one place.
    ///
    /// Absent values are not included.
    package static func make(_ values: [JSONTree]) -> ValueShape { make(values, name: "") }

    private static func make(
        _ values: [JSONTree], name: String, expected: Int? = nil, depth: Int = 0
    ) -> ValueShape {
        var shape = ValueShape()
        var texts: [String] = []
        var scalars: Set<String> = []
        var names: [String] = []
        var members: [String: [JSONTree]] = [:]
        var elements: [JSONTree] = []
        var objects = 0
        // Integers beyond the range of the database's integers.
        var isHuge = false
        for value in values {
            switch value {
            case .null: shape.kinds.insert(.null)
            case .bool(let bool):
                shape.kinds.insert(.boolean)
                scalars.insert(bool ? "true" : "false")
            case .number(let text):
                shape.kinds.insert(text.allSatisfy { $0.isNumber || $0 == "-" } ? .integer : .number)
                if shape.kinds.contains(.integer), text.allSatisfy({ $0.isNumber || $0 == "-" }), Int64(text) == nil {
                    isHuge = true
                }
                scalars.insert(text)
            case .text(let text):
                shape.kinds.insert(.string)
                texts.append(text)
                scalars.insert("\"" + text)
            case .array(let more):
                shape.kinds.insert(.array)
                elements += more.prefix(max(0, maxElements - elements.count))
            case .object(let object):
                shape.kinds.insert(.object)
                objects += 1
                for (name, value) in object.all {
                    if members[name] == nil { names.append(name) }
                    members[name, default: []].append(value)
                }
            }
        }
        let expected = expected ?? values.count
        shape.seen = ValueShape.Seen(
            count: values.count, isUnique: scalars.count == values.count,
            isComplete: values.count == expected && !shape.kinds.contains(.null), hasEmpty: texts.contains(""),
            scalars: scalars.count > maxElements ? Set(scalars.prefix(maxElements)) : scalars)
        let times = texts.filter { !$0.isEmpty }
        shape.seen?.lacksZone = TextFormat.common(times) == .timestamp && !TextFormat.haveZones(times)
        shape.format = isHuge ? "decimal" : format(shape, texts, scalars, name: name)
        guard depth < maxDepth else { return shape }
        if !elements.isEmpty || shape.kinds.contains(.array) {
            shape.elements = [make(elements, name: name, depth: depth + 1)]
        }
        shape.properties = names.map { name in
            (name, make(members[name] ?? [], name: name, expected: objects, depth: depth + 1))
        }
        return shape
    }

    private static func format(_ shape: ValueShape, _ texts: [String], _ scalars: Set<String>, name: String) -> String?
    {
        if shape.solid == [.string] {
            switch TextFormat.common(texts.filter { !$0.isEmpty }) {
            case .timestamp: return "date-time"
            case .date: return "date"
            case .uuid: return "uuid"
            case .url: return "uri"
            // Quoted numbers keep their characters: decimals become decimals, and codes become texts.
            case .decimal: return "decimal"
            case .integer, nil: return nil
            }
        }
        guard shape.solid == [.integer], isTime(name) else { return nil }
        let numbers = scalars.compactMap { Int64($0) }
        if numbers.allSatisfy({ (500_000_000..<5_000_000_000).contains($0) }) { return "unix-time" }
        if numbers.allSatisfy({ (500_000_000_000..<5_000_000_000_000).contains($0) }) { return "unix-milliseconds" }
        return nil
    }

    private static func isTime(_ name: String) -> Bool {
        let words = NameWords.lower(name)
        let hints = [
            "at", "on", "time", "timestamp", "ts", "date", "created", "updated", "modified", "expires", "epoch", "seen",
        ]
        return words.last.map(hints.contains) ?? false
            || words.first.map { ["created", "updated", "modified"].contains($0) } ?? false
    }
}
