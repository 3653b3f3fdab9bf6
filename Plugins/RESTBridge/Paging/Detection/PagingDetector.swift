internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Detects from the first reply how a listing is paged.
struct PagingDetector {
    /// The detected paging, in terms of the config's `paging`.
    struct Detected: Equatable {
        var members: [(name: String, value: String)]
        /// The position of the page that was read, if pages are numbered.
        var first: Position?
        /// Whether it is unknown if pages count from 0 or from 1.
        var isStartUnknown = false
        /// Whether a full page is the only sign of more records.
        var isEndUnknown = false

        var options: BridgeOptions {
            BridgeOptions { writer in
                for (name, value) in members {
                    if ["size", "start"].contains(name), let number = Int(value) {
                        writer.member(name, number)
                    } else {
                        writer.member(name, value)
                    }
                }
            }
        }

        /// The paging as a person would write it.
        var description: String {
            "{" + members.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + "}"
        }

        static func == (left: Self, right: Self) -> Bool {
            left.description == right.description && left.first == right.first
        }
    }

    let survey: ReplySurvey?
    let response: HTTPResponse
    /// The requested URL.
    let url: HTTPURL
    /// The number of records on the page, or nil if unknown.
    ///
    /// Evaluated only on demand, since a walk has to count the records.
    let count: () -> Int?
    /// The parameters already in the request, in its query or its body.
    let given: Set<String>
    /// The path of the records, or nil if unknown.
    var records: JSONPath?
    /// Whether the request has a JSON body, which can carry any value.
    var sendsJSON = false
    /// The numbers in that body, with dots leading into nested objects.
    var bodyNumbers: [(name: String, value: Int)] = []
    /// The variables that a GraphQL query declares and the section leaves without a value.
    var openVariables: [String] = []

    /// The objects that may contain paging information, the root first.
    static let homes = [
        "$", "$.meta", "$.pagination", "$.paging", "$.page", "$.pageInfo", "$.page_info", "$.links", "$._links",
        "$.info", "$.metadata", "$._meta", "$._metadata", "$.response_metadata", "$.meta.pagination", "$.meta.page",
        "$.meta.cursor", "$.meta.links", "$.cursors", "$.cursor", "$.paging.cursors", "$.paging.next", "$.pages",
        "$.response", "$.result", "$.result._links", "$['hydra:view']", "$.view", "$.d", "$.data",
        "$.additional_data.pagination", "$.additional_data",
    ]

    /// The usual objects, and the objects around the list of records.
    var homes: [String] { Self.homes + parents.filter { !Self.homes.contains($0) } }

    /// The objects around the list of records, below the root, outermost first.
    private var parents: [String] {
        let names = recordsNames
        return (1..<max(1, names.count)).map { Self.path(names.prefix($0)) }
    }

    /// The member names on the path to the list of records.
    var recordsNames: [String] {
        var names: [String] = []
        for segment in records?.segments ?? [] {
            guard case .name(let name) = segment else { break }
            names.append(name)
        }
        return names
    }

    static func path(_ names: some Sequence<String>) -> String { names.reduce("$") { member($0, $1) } }

    func detect() -> Detected? {
        byLinkHeader() ?? byURL() ?? byMembers() ?? byCursor() ?? byProduct() ?? byNumber()
            ?? byHeaderObject() ?? byHeader() ?? byVariable() ?? byRequest()
    }

    // MARK: URLs

    private func byLinkHeader() -> Detected? {
        let links = response.all("link")
        guard LinkHeader.next(links) != nil || LinkHeader.hasPaging(links) else { return nil }
        return Detected(members: [("style", "link_header")])
    }

    private static let urlNames = [
        "next", "next_url", "nextUrl", "next_page_url", "nextPageUrl", "next_link", "nextLink", "next_href",
        "next_page",
        "nextPage", "nextRecordsUrl", "@odata.nextLink", "odata.nextLink", "@nextLink", "__next", "hydra:next",
        "next_uri", "next_page_uri", "after_url",
    ]

    func byURL() -> Detected? {
        guard let survey else { return nil }
        var ended: String?
        for home in homes + connectionHomes {
            for name in Self.urlNames {
                let path = Self.member(home, name)
                for candidate in [path, path + ".href", path + ".url", path + ".link", path + ".uri"] {
                    switch survey[candidate] {
                    case .text(let text) where Self.isURL(text): return nextURL(candidate)
                    case .null where candidate == path && Self.isURLName(name, home): ended = ended ?? candidate
                    default: break
                    }
                }
            }
        }
        for path in ["$.links[?@.rel=='next'].href", "$.link[?@.relation=='next'].url", "$.link[?@.rel=='next'].href"]
        where survey[path].plain != nil { return nextURL(path) }
        // A list of links to the next page, as in Roundup.
        for (path, value) in survey.findings where path.contains("[?@.rel=='next'].") {
            guard case .text(let text) = value, Self.isURL(text),
                ["href", "url", "uri", "link"].contains(path.split(separator: ".").last ?? "")
            else { continue }
            return nextURL(path)
        }
        // Members such as Discourse's `more_topics_url`.
        for (path, value) in survey.findings {
            guard case .text(let text) = value, Self.isURL(text),
                let name = path.split(separator: ".").last?.lowercased(), path.filter({ $0 == "." }).count < 3,
                name.hasPrefix("next") || name.hasPrefix("more"),
                ["url", "uri", "link", "href"].contains(where: name.hasSuffix)
            else { continue }
            return nextURL(path)
        }
        // `next: null` on the first page marks a listing of one page.
        return ended.map(nextURL)
    }

    private func nextURL(_ path: String) -> Detected {
        var members = [("style", "next_url"), ("path", path)]
        // Confluence's next links are paths relative to a base URL instead of the host.
        if path.hasPrefix("$._links."), case .text(let base) = survey?["$._links.base"], base.contains("://") {
            members.append(("base", "$._links.base"))
        }
        // Some servers link to a next page even on the last one, with a flag for the end beside it.
        return Detected(members: members + moreMember)
    }

    private static func isURLName(_ name: String, _ home: String) -> Bool {
        name != "nextPage" && name != "next_page" && (name != "next" || home != "$.paging.next")
    }

    static func isURL(_ text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("/") || text.hasPrefix("?")
            || (text.contains("?") && text.contains("="))
    }

    // MARK: Cursors

    /// Names of cursors, with the parameters that take them.
    private static let cursors: [(name: String, parameter: String)] = [
        ("next_cursor", "cursor"), ("nextCursor", "cursor"), ("cursor_next", "cursor"),
        ("next_page_token", "page_token"), ("nextPageToken", "pageToken"), ("NextPageToken", "PageToken"),
        ("next_token", "next_token"), ("nextToken", "nextToken"), ("NextToken", "NextToken"),
        ("continuation_token", "continuation_token"), ("continuationToken", "continuationToken"),
        ("continuation", "continuation"), ("next_page_id", "page_id"), ("end_cursor", "after"), ("endCursor", "after"),
        ("next_page", "page"), ("nextPage", "page"), ("next", "cursor"), ("after", "after"), ("next_id", "cursor"),
        ("nextMarker", "marker"), ("NextMarker", "marker"), ("marker", "marker"), ("bookmark", "bookmark"),
        ("scroll_id", "scroll_id"), ("offset", "offset"), ("cursor", "cursor"), ("next_offset", "offset"),
        ("nextOffset", "offset"), ("next_start", "start"), ("nextPageStart", "start"), ("next_batch", "from"),
        ("nextCursorMark", "cursorMark"),
        ("PaginationToken", "PaginationToken"), ("paginationToken", "paginationToken"),
        ("NextContinuationToken", "ContinuationToken"), ("nextContinuationToken", "continuationToken"),
        ("LastEvaluatedTableName", "ExclusiveStartTableName"),
    ]
    private static let moreNames = [
        "has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "more", "more_data",
        "moreResults",
        "is_truncated", "isTruncated", "more_items_in_collection", "has_more_items",
    ]

    /// Names of flags that are true only on the last page and have no other meaning.
    static let endNames = ["end_of_stream", "endOfStream", "isLastPage", "is_last_page"]
    /// Names of flags for the last page that count if nothing else marks the end.
    static let doneNames = endNames + ["isLast", "is_last", "last_page", "lastPage", "last", "done"]

    /// Names of flags that mention pages, which implies numbered pages.
    private static let lastPageNames = ["isLastPage", "is_last_page", "last_page", "lastPage"]

    /// The member `has_more` or `done` of the rule, for the reply's flag.
    private var moreMember: [(String, String)] {
        if let more = hasMore { return [("has_more", more.path)] }
        return flag(Self.endNames, in: homes).map { [("done", $0.path)] } ?? []
    }

    func flag(_ names: [String], in homes: [String]) -> (path: String, value: Bool)? {
        guard let survey else { return nil }
        for path in homes.flatMap({ home in names.map { Self.member(home, $0) } }) {
            if case .bool(let value) = survey[path] { return (path, value) }
        }
        return nil
    }

    private var connectionHomes: [String] {
        guard let survey else { return [] }
        return survey.findings.compactMap { $0.value == .object && $0.path.hasSuffix(".pageInfo") ? $0.path : nil }
    }

    var hasMore: (path: String, value: Bool)? {
        guard let survey else { return nil }
        for home in homes + connectionHomes {
            for name in Self.moreNames {
                let path = Self.member(home, name)
                if case .bool(let value) = survey[path] { return (path, value) }
            }
        }
        return nil
    }

    func byCursor() -> Detected? {
        guard let survey else { return nil }
        let more = hasMore
        // Kubernetes.
        if case .text(let text) = survey["$.metadata.continue"], !text.isEmpty {
            return Detected(
                members: [("style", "cursor"), ("path", "$.metadata.continue"), ("parameter", known("continue"))])
        }
        // Intercom, which also counts pages that cannot be requested by number.
        if survey["$.pages.next.starting_after"].plain != nil {
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.pages.next.starting_after"),
                    ("parameter", known("starting_after")),
                ])
        }
        for home in homes + connectionHomes {
            for (name, parameter) in Self.cursors {
                let path = Self.member(home, name)
                let value = survey[path]
                var parameter = parameter
                switch value {
                case .text(let text):
                    guard !text.isEmpty || name.lowercased().contains("next") else { continue }
                    // A bare `cursor` may be that of this page, if the request already has one.
                    if name == "cursor" || name == "marker", more == nil, given.contains(parameter) { continue }
                    // Twitch: the cursor without any flag.
                    if path == "$.pagination.cursor",
                        survey.findings.filter({ $0.path.hasPrefix("$.pagination.") }).count == 1
                    {
                        parameter = "after"
                    }
                case .number:
                    guard name.lowercased().contains("next") else { continue }
                    if name == "next" { parameter = "page" }
                case .null:
                    guard name.lowercased().contains("next") || name == "endCursor", name != "next" else { continue }
                case .bool(false) where name.lowercased().contains("next"): break
                default: continue
                }
                // Jira, which has a flag for the last page beside it.
                if name == "nextPageToken", survey["$.isLast"] != .missing { parameter = name }
                // Notion, which also names its lists `list`.
                if name == "next_cursor", survey["$.object"] == .text("list") { parameter = "start_cursor" }
                // Zoom, which takes the token under the same name.
                if name == "next_page_token", survey[Self.member(home, "page_size")].integer != nil { parameter = name }
                let own = known(parameter)
                let members = [("style", "cursor"), ("path", path), ("parameter", begun(besides: own) ?? own)]
                return Detected(members: members + moreMember)
            }
        }
        // OpenAI and Anthropic return the last object's id, and the next page begins after it.
        if let more, survey["$.last_id"].plain != nil {
            let parameter = survey["$.object"] == .text("list") ? "after" : "after_id"
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.last_id"), ("parameter", known(parameter)),
                    ("has_more", more.path),
                ])
        }
        // Stripe: the next page begins after the last object's id.
        if let more, survey["$.object"] == .text("list") {
            return Detected(
                members: [
                    ("style", "keyset"), ("field", "id"), ("parameter", known("starting_after")),
                    ("has_more", more.path),
                ])
        }
        return nil
    }

    /// The parameter with which the request asks for the beginning, such as `from=0`.
    private func begun(besides own: String) -> String? {
        guard !given.contains(own) else { return nil }
        return ["from", "start", "offset", "cursor", "page_token", "pageToken", "token", "marker"].first { name in
            given.contains(name) && number(name) == 0
        }
    }

    // MARK: Products

    /// MediaWiki: the members of `continue` are parameters of the next request.
    private func byMembers() -> Detected? {
        guard let survey, survey["$.continue"] == .object, survey["$.continue.continue"].plain != nil else {
            return nil
        }
        return Detected(members: [("style", "continue"), ("path", "$.continue")])
    }

    private func byProduct() -> Detected? {
        guard let survey else { return nil }
        // DynamoDB and services built on it.
        if sendsJSON, survey["$.LastEvaluatedKey"] == .object {
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.LastEvaluatedKey"), ("parameter", known("ExclusiveStartKey")),
                ])
        }
        // CouchDB's changes feed, which counts the remaining changes.
        if survey["$.last_seq"].plain != nil, survey["$.pending"].integer != nil {
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.last_seq"), ("parameter", known("since")),
                    ("has_more", "$.pending"),
                ])
        }
        // Matrix, whose pages contain their start and end.
        if case .array = survey["$.chunk"], survey["$.start"].plain != nil, survey["$.end"].plain != nil {
            return Detected(members: [("style", "cursor"), ("path", "$.end"), ("parameter", known("from"))])
        }
        // ArcGIS sets a flag if there is more, and leaves it out otherwise.
        for path in ["$.exceededTransferLimit", "$.properties.exceededTransferLimit"] where survey[path] == .bool(true)
        {
            return Detected(
                members: [("style", "offset"), ("offset_parameter", known("resultOffset")), ("has_more", path)],
                first: .offset(0))
        }
        // Elasticsearch and OpenSearch. A count limited to a bound ("gte") is not a total.
        if case .array = survey["$.hits.hits"], survey["$._scroll_id"] == .missing {
            let total = ["$.hits.total.value", "$.hits.total"].first { survey[$0].integer != nil }
            guard let total else { return nil }
            var members = [("style", "offset"), ("offset_parameter", "from")]
            if survey["$.hits.total.relation"] != .text("gte") { members.append(("total", total)) }
            return Detected(members: members, first: .offset(number("from") ?? 0))
        }
        return nil
    }

    // MARK: Headers

    private func byHeader() -> Detected? {
        func header(_ names: [String]) -> (name: String, value: String)? {
            for name in names { if let value = response.header(name) { return (name, value) } }
            return nil
        }
        for (names, parameter) in [
            (["X-Next-Page", "Next-Page"], "page"),
            (["X-Next-Cursor", "Next-Cursor", "X-Cursor-Next"], "cursor"),
            (["X-Next-Page-Token", "Next-Page-Token"], "page_token"),
            (["X-Continuation-Token", "Continuation-Token", "X-MS-Continuation"], "continuation_token"),
            (["X-Next-Token", "X-Nomad-NextToken"], "next_token"),
            (["X-MS-ContinuationToken"], "continuationToken"),
        ] {
            guard let (name, value) = header(names) else { continue }
            if Self.isURL(value) { return Detected(members: [("style", "next_url"), ("header", name)]) }
            return Detected(members: [("style", "cursor"), ("header", name), ("parameter", known(parameter))])
        }
        if let (name, value) = header([
            "X-Total-Pages", "X-WP-TotalPages", "X-Page-Count", "X-Pagination-Page-Count", "X-Pages", "Total-Pages",
        ]), Int(value) != nil {
            return Detected(
                members: [("style", "page"), ("page_parameter", known("page")), ("pages", name)], first: .page(1))
        }
        // PostgREST without a requested count: only a page without records marks the end.
        if let range = response.header("content-range"), range.hasSuffix("/*"),
            range.dropLast(2).last?.isNumber == true, given.isDisjoint(with: ["offset"])
        {
            return Detected(members: [("style", "offset"), ("offset_parameter", "offset")], first: .offset(0))
        }
        if let range = response.header("content-range"), range.contains("/"),
            range.first?.isNumber == true
                || range.contains(" "), let total = HeaderNumber.total(range), total > count() ?? 0
        {
            return Detected(
                members: [("style", "offset"), ("offset_parameter", known("offset")), ("total", "Content-Range")],
                first: .offset(0))
        }
        return nil
    }

    /// Detects paging from the request's own paging parameters and the reply's total.
    private func byRequest() -> Detected? {
        let totalHeader = ["X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count"]
            .first { response.header($0).flatMap { Int($0) } != nil }
        let told = totalInBody
        let more = hasMore
        let isOwn = totalHeader == nil && more == nil && told.map { isOfPage($0, limit: mostPerPage) } ?? false
        let total = totalHeader ?? (isOwn ? nil : told?.path)
        for name in ["page", "_page", "p", "pageNumber", "page_number", "page[number]", "pageIndex"] {
            guard let (parameter, first) = asked(name) else { continue }
            var members = [("style", "page"), ("page_parameter", parameter), ("start", String(min(first, 1)))]
            if let total { members.append(("total", total)) }
            if let more { members.append(("has_more", more.path)) }
            return Detected(members: members, first: .page(first), isEndUnknown: isOwn)
        }
        for name in Self.offsetNames + ["_start", "$skip", "page[offset]"] {
            guard let (parameter, first) = asked(name) else { continue }
            var members = [("style", "offset"), ("offset_parameter", parameter)]
            if let total { members.append(("total", total)) }
            if let more { members.append(("has_more", more.path)) }
            return Detected(members: members, first: .offset(first), isEndUnknown: isOwn)
        }
        // The reply says that there is more, but not how to request it. Numbered pages are most common, and a server
        // that ignores the parameter is detected.
        let last = isListed ? flag(Self.lastPageNames, in: homes) : nil
        if more?.value ?? last.map({ !$0.value }) ?? false, survey?["$._scroll_id"] == .missing {
            var members = [("style", "page"), ("page_parameter", known("page")), ("start", "1")]
            if let total { members.append(("total", total)) }
            members += more.map { [("has_more", $0.path)] } ?? last.map { [("done", $0.path)] } ?? []
            return Detected(members: members, first: .page(1), isStartUnknown: true)
        }
        // There is more, but no known way to request it: the pager reports that.
        return (total ?? (limit() == nil ? told?.path : nil)).map {
            Detected(members: [("style", "none"), ("total", $0)])
        }
    }

    /// Returns a number from the request's query.
    private func number(_ name: String) -> Int? { url.queryValue(name).flatMap { Int($0)?.countable } }

    /// Returns a number that the request has under a name, in its query or else its body, with the parameter that sets
    /// it.
    private func asked(_ name: String) -> (parameter: String, value: Int)? {
        if let value = number(name) { return (name, value) }
        return bodyNumbers.first { $0.name == name || $0.name.hasSuffix("." + name) }.map { ($0.name, $0.value) }
    }

    /// Returns the request's spelling of a name, if it has the name in another form.
    func known(_ name: String) -> String {
        func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        return given.first { plain($0) == plain(name) } ?? name
    }

    /// Returns the path of a member, unquoted if RFC 9535 allows that (section 2.5.1.1, member-name-shorthand).
    static func member(_ home: String, _ name: String) -> String {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        func beginsName(_ byte: UInt8) -> Bool { byte >= 0x80 || byte == 0x5F || (0x61...0x7A).contains(byte | 0x20) }
        let isPlain =
            name.utf8.first.map(beginsName) == true && name.utf8.allSatisfy { beginsName($0) || isDigit($0) }
        return isPlain
            ? "\(home).\(name)"
            : "\(home)['" + name.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "']"
    }
}
