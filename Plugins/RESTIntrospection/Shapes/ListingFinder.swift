internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// The place of the records in a reply.
package struct FoundListing: Sendable {
    /// The path from the root to the array, or to the map whose values are the records.
    var path: [String]
    var isMap = false
    var item: ValueShape
    package var confidence: Confidence

    /// The path as the section's `records`, or nil if the root itself is the list.
    package var records: String? {
        let text = JSONPathText.of(path) + (isMap ? ".*" : "")
        return text == "$" ? nil : text
    }
}

/// Paths in the section's notation.
package enum JSONPathText {
    package static func of(_ names: [String]) -> String {
        "$"
            + names.map { name in
                let isPlain =
                    !name.isEmpty
                    && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-@".contains($0)) }
                return isPlain
                    ? ".\(name)" : "['" + name.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "']"
            }.joined()
    }
}

/// Finds the list of records in a reply.
package enum ListingFinder {
    private static let usual = [
        "data", "items", "results", "records", "entries", "value", "values", "content", "rows", "list", "objects",
        "hits",
        "members", "member", "elements", "resources", "docs", "documents", "collection", "payload", "response",
        "result",
        "nodes", "edges", "page", "resultset", "features",
    ]
    /// Names of lists that hold something other than records.
    private static let nonRecordNames: Set<String> = [
        "included", "errors", "warnings", "links", "facets", "messages", "fields", "columns",
    ]
    private static let maxDepth = 3

    /// Whether a member's name says only that it holds a list, and not what the list contains.
    static func isUsual(_ name: String) -> Bool { usual.contains(name.lowercased()) }

    /// - Parameter subject: The last word of the request's path, such as `users`.
    package static func find(_ reply: ValueShape, subject: String) -> FoundListing? {
        if reply.isArray || (reply.kinds.isEmpty && reply.element != nil) {
            guard let item = reply.element, isRecord(item) else { return nil }
            return FoundListing(path: [], item: item, confidence: .high("the reply is an array"))
        }
        guard !isRecordOf(subject, reply) else { return nil }
        var found: [(score: Int, listing: FoundListing)] = []
        collect(reply, path: [], subject: subject, into: &found)
        // A sample has the length of each list, and the requested list is usually the longest by far.
        let lengths = found.map { $0.listing.item.seen?.count ?? 0 }
        if let longest = lengths.indices.max(by: { lengths[$0] < lengths[$1] }), found.count > 1,
            lengths.indices.allSatisfy({ $0 == longest || lengths[$0] * 2 <= lengths[longest] }), lengths[longest] > 1
        {
            found[longest].score += 2
        }
        guard let best = found.max(by: { $0.score < $1.score }) else {
            return map(reply)
        }
        if let map = mapOfLists(reply, found.map(\.listing)) { return map }
        var listing = best.listing
        let rivals = found.filter { $0.score == best.score }.count
        let empty = reply.properties.filter { name, shape in
            shape.element?.seen?.count == 0 && !nonRecordNames.contains(name.lowercased())
        }.map(\.name)
        listing.confidence =
            found.count == 1
            ? empty.isEmpty
                ? .high("the only list in the reply")
                : .medium(
                    "the only list in the reply that is not empty; \(empty.joined(separator: ", ")) may have records too"
                )
            : rivals == 1
                ? .medium("named like a list of \(subject); there are \(found.count) lists")
                : .low("one of \(found.count) lists in the reply")
        return listing
    }

    /// Returns a map whose values are the records, with each record's name as `@key`.
    private static func map(_ reply: ValueShape) -> FoundListing? {
        guard reply.isMap, var item = reply.element, isRecord(item) else { return nil }
        item.properties.insert(("@key", ValueShape(kinds: [.string])), at: 0)
        return FoundListing(
            path: [], isMap: true, item: item, confidence: .medium("an object whose members are the records"))
    }

    /// Returns a map of lists that all hold the same kind of record, with each list's name as `@key`.
    private static func mapOfLists(_ reply: ValueShape, _ found: [FoundListing]) -> FoundListing? {
        guard found.count > 2, let parent = found.first?.path.dropLast(),
            found.allSatisfy({ $0.path.dropLast() == parent }),
            let home = reply[Array(parent)], home.properties.count == found.count
        else { return nil }
        let names = found.map { Set($0.item.properties.map(\.name)) }
        guard let common = names.max(by: { $0.count < $1.count }),
            names.allSatisfy({ $0.intersection(common).count * 2 > common.count })
        else { return nil }
        var item = found.dropFirst().reduce(found[0].item) { $0.merged(with: $1.item) }
        item.properties.insert(("@key", ValueShape(kinds: [.string])), at: 0)
        return FoundListing(
            path: Array(parent), isMap: true, item: item,
            confidence: .medium("an object of \(found.count) similar lists"))
    }

    /// Whether an object is itself the requested record: `GET /account` may return an object that holds lists.
    private static func isRecordOf(_ subject: String, _ reply: ValueShape) -> Bool {
        guard reply["id"] != nil else { return false }
        return !reply.properties.contains { name, shape in
            shape.isArray && (usual.contains(name.lowercased()) || NameWords.match(name, subject))
        }
    }

    private static func collect(
        _ shape: ValueShape, path: [String], subject: String, into found: inout [(score: Int, listing: FoundListing)]
    ) {
        for (name, member) in shape.properties {
            let place = path + [name]
            if member.isArray || (member.kinds.isEmpty && member.element != nil && !member.isMap),
                let item = member.element, isRecord(item)
            {
                var score = 0
                if NameWords.match(name, subject) { score += 4 }
                if usual.contains(name.lowercased()) { score += 3 }
                if nonRecordNames.contains(name.lowercased()) { score -= 6 }
                if item["id"] != nil { score += 1 }
                // A GraphQL connection has its nodes one level deeper.
                found.append((score - path.count, FoundListing(path: place, item: item, confidence: .high(""))))
            } else if path.count + 1 < maxDepth, member.isObject || !member.properties.isEmpty,
                path.isEmpty || usual.contains(path.last?.lowercased() ?? "") || path.last == "_embedded",
                usual.contains(name.lowercased()) || name == "_embedded" || NameWords.match(name, subject)
                    || name.lowercased().hasSuffix("list")
            {
                collect(member, path: place, subject: subject, into: &found)
            }
        }
    }

    static func isRecord(_ shape: ValueShape) -> Bool {
        shape.isObject && !shape.properties.isEmpty || shape.kinds.isEmpty && !shape.properties.isEmpty
    }
}
