internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// A query parameter of a listing.
struct QueryParameter: Sendable {
    var name: String
    var isRequired = false
    var shape = ValueShape()
    /// The default or example value from the document.
    var value: JSONTree?
    /// The default alone.
    var standard: JSONTree?
    var maximum: Int?
    var minimum: Int?
}

/// A guess at how a listing is paged, from the request's parameters and the reply's shape.
struct PagingGuess: Sendable {
    var paging: JSONTree?
    /// Parameters that increase the page size.
    var query: [(String, JSONTree)] = []
    /// The names of the parameters that belong to paging.
    var parameters: Set<String> = []
    /// The names of those that the requests have.
    private(set) var sent: Set<String> = []
    var confidence: Confidence

    /// - Parameters:
    ///   - records: The path of the records in the reply. Members inside the records do not belong to paging.
    ///   - hasLink: Whether the reply has a Link header.
    static func make(
        _ parameters: [QueryParameter], reply: ValueShape, records: [String], hasLink: Bool
    ) -> PagingGuess {
        let window = TimeWindow(parameters)
        func parameter(_ terms: [PagingTerm]) -> QueryParameter? {
            for name in terms.documented {
                if let found = parameters.first(where: {
                    PagingTerm.documented($0.name) == name && !window.contains($0.name) && !isOther($0)
                }) {
                    return found
                }
            }
            return nil
        }
        func place(_ terms: [PagingTerm], _ accept: (ValueShape) -> Bool) -> [String]? {
            // Include the objects around the list, such as `data.next` beside `data.items`.
            for prefix in (0...max(0, records.count - 1)).map({ Array(records.prefix($0)) }) {
                for place in terms.places where prefix + place != records {
                    if let shape = reply[prefix + place], accept(shape) { return prefix + place }
                }
            }
            return nil
        }
        let page = parameter(PagingVocabulary.page)
        let size = parameter(PagingVocabulary.size)
        let offset = parameter(PagingVocabulary.offset)
        let cursor = parameter(PagingVocabulary.cursorParameter)
        let isText: (ValueShape) -> Bool = {
            ($0.solid.isEmpty || $0.solid.contains(.string)) && $0.properties.isEmpty && $0.element == nil
        }
        let isNumber: (ValueShape) -> Bool = { !$0.solid.isDisjoint(with: [.integer, .number]) }
        let nextURL = place(PagingVocabulary.nextLink + PagingVocabulary.linkParts) { shape in
            guard isText(shape) else { return false }
            return ["uri", "url", "uri-reference"].contains(shape.format)
                || (shape.solid == [.string] && cursor == nil)
        }
        let nextCursor = place(PagingVocabulary.cursor) { isText($0) || isNumber($0) }
        let total = place(PagingVocabulary.total, isNumber)
        // Behind a number of a page or an offset a total ends the listing: `count` may be that of the page.
        let clearTotal = place(PagingVocabulary.total.filter { !$0.uses.contains(.last) }, isNumber)
        let pages = place(PagingVocabulary.pages, isNumber)
        let taken = Set([page, size, offset, cursor].compactMap { $0?.name })
        var guess = PagingGuess(parameters: taken, confidence: .medium(""))
        var members: [(String, JSONTree)] = []
        func add(_ name: String, _ path: [String]?) {
            if let path { members.append((name, .text(JSONPathText.of(path)))) }
        }
        func finish(_ confidence: Confidence) -> PagingGuess {
            guess.paging = .object(members)
            let named = members.filter { $0.0.hasSuffix("parameter") }.compactMap { $0.1.text }
            guess.sent = Set(named + guess.query.map(\.0))
            guess.confidence = confidence
            return guess
        }
        let amount = size.map { pageSize($0) }
        func requestSize() {
            guard let size, let amount, !limitsAll(size) else { return }
            guess.query = [(size.name, .number(String(amount)))]
        }
        if let nextURL {
            members = [("style", "next_url"), ("path", .text(JSONPathText.of(nextURL)))]
            add("total", total)
            requestSize()
            let words = reply[nextURL]?.format == nil ? "named like the next page" : "holds the next page's URL"
            let isSure = reply[nextURL]?.format != nil
            return finish(
                isSure
                    ? .high("\(JSONPathText.of(nextURL)) \(words)") : .medium("\(JSONPathText.of(nextURL)) is \(words)")
            )
        }
        if hasLink {
            members = [("style", "link_header")]
            add("total", total)
            requestSize()
            return finish(
                .medium("replies have a Link header"))
        }
        if let nextCursor, cursor != nil {
            let last = NameWords.plain(nextCursor.last ?? "")
            let name =
                cursor?.name ?? (last.contains("token") ? "page_token" : last.contains("after") ? "after" : "cursor")
            members = [("style", "cursor"), ("path", .text(JSONPathText.of(nextCursor))), ("parameter", .text(name))]
            add("total", total)
            requestSize()
            return finish(
                cursor == nil
                    ? .low("the reply has \(JSONPathText.of(nextCursor)); which parameter takes it is a guess")
                    : .high("\(JSONPathText.of(nextCursor)) goes into \(name)"))
        }
        if let page {
            members = [("style", "page"), ("page_parameter", .text(page.name))]
            if page.minimum == 0 || page.value?.integer == 0 { members.append(("start", 0)) }
            if let size, let amount {
                members += [("size_parameter", .text(size.name)), ("size", .number(String(amount)))]
            }
            add("total", clearTotal)
            add("pages", pages)
            let sure = size != nil
            return finish(
                sure ? .high("parameters \(page.name) and \(size?.name ?? "")") : .medium("parameter \(page.name)"))
        }
        if let offset {
            members = [("style", "offset"), ("offset_parameter", .text(offset.name))]
            if let size, let amount {
                members += [("limit_parameter", .text(size.name)), ("size", .number(String(amount)))]
            }
            if countsFromOne(offset, reply) { members.append(("start", 1)) }
            add("total", clearTotal)
            return finish(
                size != nil
                    ? .high("parameters \(offset.name) and \(size?.name ?? "")") : .medium("parameter \(offset.name)"))
        }
        guess.confidence =
            cursor.map {
                .low("it takes \($0.name), but nothing in the reply provides its value: decided by the first reply")
            }
            ?? (size == nil
                ? .medium("no parameter or member that looks like paging: decided by the first reply")
                : .low("it takes \(size?.name ?? ""), and nothing says how to continue: decided by the first reply"))
        requestSize()
        guess.sent = Set(guess.query.map(\.0))
        return guess
    }

    /// Whether a parameter named like one of paging has another meaning.
    ///
    /// A text in `from` may be a sender or a place. A listing begins without a cursor, so that a `token` which each
    /// request needs is a credential.
    private static func isOther(_ parameter: QueryParameter) -> Bool {
        switch PagingTerm.documented(parameter.name) {
        case "from", "start": parameter.shape.solid == [.string]
        case "token": parameter.isRequired
        default: false
        }
    }

    /// Whether a size limits the whole listing, so that links end there: `$top` of OData does (4.01, part 1, section
    /// 11.2.6.3).
    private static func limitsAll(_ size: QueryParameter) -> Bool {
        ["$top", "top"].contains(PagingTerm.documented(size.name))
    }

    /// Whether an offset is the number of the first record, counted from 1.
    ///
    /// `startIndex` is, in SCIM (RFC 7644, section 3.4.2.4) and OpenSearch, whose replies have such members; other APIs
    /// count from 0.
    private static func countsFromOne(_ offset: QueryParameter, _ reply: ValueShape) -> Bool {
        if let standard = offset.standard?.integer { return standard == 1 }
        if let minimum = offset.minimum { return minimum == 1 }
        let signs = ["startindex", "itemsperpage", "totalresults"]
        return PagingTerm.documented(offset.name) == "startindex"
            && reply.properties.contains { signs.contains(NameWords.plain($0.name)) }
    }

    /// Returns the largest allowed page size, up to 1,000, or 100 if the document gives no limit.
    private static func pageSize(_ parameter: QueryParameter) -> Int {
        if let maximum = parameter.maximum, maximum > 0 { return min(maximum, 1000) }
        if let usual = parameter.value?.integer, usual > 0 { return min(max(usual, 20), 1000) }
        return 100
    }
}
