internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// The key in an OData entity id, such as `https://host/Orders(OrderID=1,Item='O''Neil')` or `Customers/ANTON` (OData
/// 4.01, part 2, sections 4.3 and 5.1.1.15).
///
/// Deltas contain such ids (part 1, section 11.3).
struct EntityID {
    /// The parts in order; a key of one part has no name.
    let parts: [(name: String?, value: JSONTree)]

    /// - Returns: nil if the id has no key.
    init?(_ text: String) {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        guard let segment = Self.lastSegment(String(path).replacing("%27", with: "'")) else { return nil }
        if segment.hasSuffix(")"), let open = segment.firstIndex(of: "(") {
            let inner = segment[segment.index(after: open)...].dropLast()
            parts = Self.split(inner, at: ",").map { part in
                let pair = Self.split(part, at: "=")
                return pair.count == 2
                    ? (PercentEncoding.decoded(pair[0]), Self.value(pair[1])) : (nil, Self.value(part))
            }
            guard !inner.isEmpty else { return nil }
        } else {
            // Keys as segments: a single segment is the name of the set.
            guard path.contains("/") else { return nil }
            parts = [(nil, Self.value(segment))]
        }
    }

    /// Returns the text after the last slash outside quotes.
    private static func lastSegment(_ path: String) -> Substring? {
        let segments = split(path[...], at: "/").filter { !$0.isEmpty }
        return segments.last
    }

    /// Splits the text at separators outside quotes.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        for index in text.indices {
            if text[index] == "'" { isQuoted.toggle() }
            guard text[index] == separator, !isQuoted else { continue }
            pieces.append(text[start..<index])
            start = text.index(after: index)
        }
        return pieces + [text[start...]]
    }

    /// Parses a literal: quoted text, also with a type such as `guid'...'` in earlier versions; a number; or any other
    /// word unchanged.
    private static func value(_ literal: Substring) -> JSONTree {
        if literal.hasSuffix("'"), let open = literal.firstIndex(of: "'"), literal.index(after: open) < literal.endIndex
        {
            let inner = literal[literal.index(after: open)...].dropLast()
            return .text(PercentEncoding.decoded(inner.replacing("''", with: "'")))
        }
        let text = PercentEncoding.decoded(literal)
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        // A number with a leading zero is a code.
        let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int64(text) != nil
        return isNumber && (digits.count == 1 || !digits.hasPrefix("0")) ? .number(text) : .text(text)
    }
}

extension EntityID {
    /// Whether a record of a delta marks a deleted object: `@removed` in 4.01, `$deletedEntity` in 4.0.
    static func isTombstone(_ record: BatchValue) -> Bool {
        record["@removed"] != nil || record["@odata.removed"] != nil || isDeletedEntity(record)
    }

    private static func isDeletedEntity(_ record: BatchValue) -> Bool {
        ["@odata.context", "@context"].contains { record[$0]?.text?.hasSuffix("$deletedEntity") == true }
    }

    /// Returns a record with the key of the deleted object, taken from its id if it has no key members.
    static func tombstone(_ record: BatchValue, keyPaths: [String]) -> BridgeOptions {
        let own = BridgeOptions(copying: record)
        let paths = keyPaths.map { $0.split(separator: ".").map(String.init) }
        let tree = JSONTree(own)
        let isDeleted = isDeletedEntity(record)
        guard !paths.isEmpty, isDeleted || paths.contains(where: { tree[$0] == nil }) else { return own }
        // An `id` that is a property of the object is a key and not a URL.
        let isOwnID = keyPaths.contains("id") && !isDeleted
        let text = record["@id"]?.text ?? record["@odata.id"]?.text ?? (isOwnID ? nil : record["id"]?.text)
        guard let id = text.flatMap(EntityID.init), id.parts.count == paths.count else { return own }
        var filled = tree
        for (index, part) in id.parts.enumerated() {
            let named = part.name.flatMap { name in paths.firstIndex { $0.last == name } }
            guard
                let place = part.name == nil ? (paths.count == 1 ? index : nil) : named ?? (paths.count == 1 ? 0 : nil)
            else { return own }
            filled.set(part.value, at: paths[place][...])
        }
        let writer = RecordBatchWriter()
        filled.write(to: writer)
        guard let batch = try? writer.finish(), batch.count == 1 else { return own }
        return withExtendedLifetime(batch) { BridgeOptions(copying: batch[0]) }
    }
}
