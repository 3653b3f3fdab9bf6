internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import Inference

/// Signs of more records in a reply that does not say how to request them.
///
/// A listing that ends there is not complete: deleting the unlisted rows would delete rows that were not read.
extension PagingDetector {
    private static let moreNames = PagingVocabulary.more.plainNames(.promise)
    private static let lastNames = PagingVocabulary.done.plainNames(.promise)
    private static let remainingNames = PagingVocabulary.remaining.plainNames(.promise)
    private static let tokenNames = PagingVocabulary.cursor.plainNames(.promise)
    private static let limitNames = PagingVocabulary.size.plainNames(.limit)

    /// Returns the member that indicates more records, such as `$.truncated is true`, or nil if there is none.
    func promise() -> String? {
        guard let survey, !survey.isArray else { return nil }
        let own = Self.path(recordsNames)
        // If the reply is the record, or its members are the records, its content does not describe the listing.
        guard records == nil || own != "$" else { return nil }
        let near = Set(homes + ownConnections)
        for (path, value) in survey.findings
        where (!path.isPath(inside: own) || own == "$")
            && !EarlyEndFlags.ofReplies.contains(path)
        {
            guard let (home, name) = place(of: path, in: near) else { continue }
            if let words = Self.words(name, value) { return "\(path) \(words)" }
            // The number of the last page, unless it is that of the last record on this page.
            if PagingVocabulary.lastPage.names(.member).contains(name), Self.isOfPages(home),
                let last = value.integer, last > 1, count() != last
            {
                return "\(path) is \(last)"
            }
        }
        return nil
    }

    /// Whether the reply has a flag for more records beside them, whatever it says.
    var speaksOfMore: Bool {
        let near = Set(homes)
        return survey?.findings.contains { path, _ in
            guard let name = place(of: path, in: near)?.name else { return false }
            return Self.moreNames.contains(PagingTerm.plain(name)) || Self.lastNames.contains(PagingTerm.plain(name))
        } ?? false
    }

    /// Returns the request's own limit on the number of records.
    ///
    /// A reply with that many may be complete or may be the first page.
    ///
    /// The same applies to a reply that states a maximum page size and counts its records, but has no total.
    func limit() -> (name: String, count: Int)? {
        if let limit = limitInRequest { return limit }
        guard isListed, let limit = limitInBody, let total = totalInBody, total.name == "count",
            isOfPage(total, limit: limit.count)
        else { return nil }
        return limit
    }

    /// The maximum number of records per page, from the request or the reply.
    var maxPerPage: Int? { limitInRequest?.count ?? limitInBody?.count }

    /// The limit on the number of records in the request.
    var limitInRequest: (name: String, count: Int)? {
        let asked = url.queryPairs.compactMap { pair in Int(pair.value).map { (name: pair.name, count: $0) } }
        return (asked + bodyNumbers.map { (name: $0.name, count: $0.value) }).first { name, count in
            let last = name.split(separator: ".").last ?? ""
            return count > 0 && Self.limitNames.contains(PagingTerm.plain(last))
        }
    }

    private static func words(_ name: String, _ value: JSONScalar) -> String? {
        var name = PagingTerm.plain(name)
        for prefix in ["odata", "hydra"] where name.hasPrefix(prefix + "next") { name.removeFirst(prefix.count) }
        let isNext =
            name == "next"
            || name.hasPrefix("next") && PagingVocabulary.nextWords.contains { name.dropFirst(4).hasPrefix($0) }
        switch value == .text("true") || value == .text("false") ? .bool(value == .text("true")) : value {
        case .bool(true) where moreNames.contains(name): return "is true"
        case .bool(false) where lastNames.contains(name): return "is false"
        case .bool(true) where isNext: return "is true"
        case .text(let text) where moreNames.contains(name) && isURL(text): return "holds a URL"
        case .text(let text) where (isNext || tokenNames.contains(name)) && !text.isEmpty: return "has a value"
        case .object where isNext || tokenNames.contains(name): return "has a value"
        case .number where remainingNames.contains(name) || isNext:
            return value.integer.map { $0 > 0 } ?? false ? "is \(value.plain ?? "")" : nil
        default: return nil
        }
    }
}
