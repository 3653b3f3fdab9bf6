internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// A guess at the attribute type that fits a place's values.
struct FieldGuess: Sendable {
    var type: String
    var transform: JSONTree?
    var confidence: Confidence

    private static let money = [
        "price", "amount", "total", "cost", "fee", "balance", "tax", "rate", "subtotal", "discount",
    ]

    private static let versions = [
        "version", "versions", "ver", "release", "build", "revision", "firmware", "api", "sdk",
    ]

    /// - Parameter name: The member's name.
    static func make(_ shape: ValueShape, name: String) -> FieldGuess {
        let isSeen = shape.seen != nil
        let source = isSeen ? "in \(shape.seen?.count ?? 0) records" : "in the document"
        func guess(_ type: String, _ words: String, _ transform: JSONTree? = nil) -> FieldGuess {
            FieldGuess(type: type, transform: transform, confidence: .high("\(words) \(source)"))
        }
        let solid = shape.solid
        if solid.isEmpty, shape.properties.isEmpty, shape.element == nil {
            return shape.kinds == [.null]
                ? FieldGuess(type: "text", confidence: .low("null \(source)"))
                : FieldGuess(type: "json", confidence: .low("any value \(source)"))
        }
        if solid.contains(.object) || solid.contains(.array) || !shape.isScalar {
            let words = solid.count == 1 ? solid.contains(.array) ? "an array" : "an object" : "values of several types"
            return FieldGuess(type: "json", confidence: .high("\(words) \(source)"))
        }
        if solid == [.boolean] { return guess("boolean", "boolean") }
        if solid == [.integer] || solid == [.number] || solid == [.integer, .number] {
            return number(shape, name: name, guess, source: source)
        }
        guard solid == [.string] else {
            return FieldGuess(
                type: "text",
                confidence: .medium("\(solid.map(\.rawValue).sorted().joined(separator: " or ")) \(source)"))
        }
        let emptyAsNull: JSONTree? = shape.seen?.hasEmpty == true ? "empty_as_null" : nil
        switch shape.format?.lowercased() {
        case "date-time-local", "local-date-time":
            return FieldGuess(type: "timestamp", transform: emptyAsNull, confidence: .medium(Self.noZone(source)))
        case "date-time" where shape.seen?.lacksZone == true:
            return FieldGuess(type: "timestamp", transform: emptyAsNull, confidence: .medium(Self.noZone(source)))
        case "date-time", "datetime", "timestamp": return guess("timestamp", "date-time", emptyAsNull)
        case "date": return guess("date", "date", emptyAsNull)
        case "uuid", "guid": return guess("uuid", "uuid", emptyAsNull)
        // Documents also declare texts as uri that may be empty.
        case "uri", "url": return guess("url", "URL", isSeen ? emptyAsNull : "empty_as_null")
        case "byte", "base64": return guess("data", "base64")
        case "decimal", "money", "currency":
            if isSeen { return decimalText(name: name, source: source, emptyAsNull) }
            return guess("decimal", "decimal text", emptyAsNull)
        case "int64", "int32", "integer":
            return FieldGuess(type: "text", confidence: .medium("text with an integer \(source)"))
        case let format?: return guess("text", "text (\(format))")
        case nil: break
        }
        if !shape.values.isEmpty, shape.values.count <= 12 {
            let list = shape.values.joined(separator: ", ")
            if list.count < 80 { return guess("text", "one of \(list),") }
        }
        if !isSeen, name.hasSuffix("_at") || name.hasSuffix("At"), NameWords.split(name).count > 1 {
            return FieldGuess(type: "text", confidence: .medium("text \(source); named like a timestamp"))
        }
        return guess("text", "text")
    }

    private static func noZone(_ source: String) -> String {
        "date-time without a zone \(source): read as UTC, which is off by hours if the API means another zone"
    }

    /// Guesses the type of texts that look like decimals.
    ///
    /// Versions look like decimals too, and 1.10 differs from 1.1.
    private static func decimalText(name: String, source: String, _ transform: JSONTree?) -> FieldGuess {
        let words = NameWords.lower(name)
        if words.contains(where: { versions.contains($0) }) {
            return FieldGuess(type: "text", confidence: .high("text named like a version \(source)"))
        }
        let isMoney = words.contains { money.contains($0) }
        return FieldGuess(
            type: "decimal", transform: transform,
            confidence: isMoney
                ? .high("decimal text \(source)")
                : .medium("text that looks like a decimal \(source); a version or a code needs type text"))
    }

    private static func number(
        _ shape: ValueShape, name: String, _ guess: (String, String, JSONTree?) -> FieldGuess, source: String
    ) -> FieldGuess {
        switch shape.format?.lowercased() {
        case "unix-time", "unix", "unixtime", "epoch", "unix-timestamp", "timestamp":
            return FieldGuess(type: "timestamp", confidence: .medium("seconds since 1970 \(source)"))
        case "unix-milliseconds", "unix-time-millis", "unix-millis", "epoch-millis":
            return FieldGuess(
                type: "timestamp", transform: ["unit": "milliseconds"],
                confidence: .medium("milliseconds since 1970 \(source)"))
        case "float", "double": return guess("real", shape.format ?? "number", nil)
        case "decimal", "money", "currency", "uint64": return guess("decimal", "decimal number", nil)
        default: break
        }
        if shape.solid == [.integer] {
            return shape.isAssumedInteger
                ? FieldGuess(type: "integer", confidence: .medium("number \(source), which identifies something"))
                : guess("integer", "integer", nil)
        }
        let isMoney = NameWords.split(name).contains { money.contains($0.lowercased()) }
        return isMoney
            ? FieldGuess(type: "decimal", confidence: .medium("number \(source), named like an amount"))
            : guess("real", "number", nil)
    }
}
