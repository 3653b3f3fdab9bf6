internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Finds out from the first reply how a listing goes on.
struct PagingDetector {
    /// What was found, in the words of the config's `paging`.
    struct Detected: Equatable {
        var members: [(name: String, value: String)]
        /// The place of the page that was read, where pages are numbered.
        var first: Position?
        /// Whether nothing says if pages count from 0 or from 1.
        var isStartUnknown = false
        /// Whether all that speaks of more records is that the page is full.
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

        /// As a person would write it.
        var description: String {
            "{" + members.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + "}"
        }

        static func == (left: Self, right: Self) -> Bool {
            left.description == right.description && left.first == right.first
        }
    }

    let survey: ReplySurvey?
    let response: HTTPResponse
    /// The URL that was asked for.
    let url: HTTPURL
    /// How many records the page holds; nil for unknown.
    ///
    /// Asked for only where it matters: a walk has to count them.
    let count: () -> Int?
    /// Parameters that the request has already, in its query or its body.
    let given: Set<String>
    /// Where the records are; nil for unknown.
    var records: JSONPath?
    /// Whether the request has a JSON body, in which any value has a place.
    var sendsJSON = false
    /// The numbers in that body; dots lead into its objects.
    var bodyNumbers: [(name: String, value: Int)] = []
    /// Variables that a GraphQL query declares, and the section gives no value.
    var openVariables: [String] = []

    /// Objects that say how paging goes on, the root first.
    static let homes = [
        "$", "$.meta", "$.pagination", "$.paging", "$.page", "$.pageInfo", "$.page_info", "$.links", "$._links",
        "$.info", "$.metadata", "$._meta", "$._metadata", "$.response_metadata", "$.meta.pagination", "$.meta.page",
        "$.meta.cursor", "$.meta.links", "$.cursors", "$.cursor", "$.paging.cursors", "$.paging.next", "$.pages",
        "$.response", "$.result", "$.result._links", "$['hydra:view']", "$.view", "$.d", "$.data",
        "$.additional_data.pagination", "$.additional_data",
    ]

    /// These, and the objects around the list.
    var homes: [String] { Self.homes + parents.filter { !Self.homes.contains($0) } }

    /// The objects around the list of records, below the root, the outermost first.
    private var parents: [String] {
        let names = recordsNames
        return (1..<max(1, names.count)).map { Self.path(names.prefix($0)) }
    }

    /// The names that lead to the list of records.
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
        // A list of the links to the next page, as Roundup has it.
        for (path, value) in survey.findings where path.contains("[?@.rel=='next'].") {
            guard case .text(let text) = value, Self.isURL(text),
                ["href", "url", "uri", "link"].contains(path.split(separator: ".").last ?? "")
            else { continue }
            return nextURL(path)
        }
        // Such as Discourse's more_topics_url.
        for (path, value) in survey.findings {
            guard case .text(let text) = value, Self.isURL(text),
                let name = path.split(separator: ".").last?.lowercased(), path.filter({ $0 == "." }).count < 3,
                name.hasPrefix("next") || name.hasPrefix("more"),
                ["url", "uri", "link", "href"].contains(where: name.hasSuffix)
            else { continue }
            return nextURL(path)
        }
        // `next: null` on the first page: a listing of one page, told in the usual way.
        return ended.map(nextURL)
    }

    private func nextURL(_ path: String) -> Detected {
        var members = [("style", "next_url"), ("path", path)]
        // Confluence, whose next links are paths below a base and not below the host.
        if path.hasPrefix("$._links."), case .text(let base) = survey?["$._links.base"], base.contains("://") {
            members.append(("base", "$._links.base"))
        }
        // Some name a next page also on the last one, and say beside it that there is none.
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

    /// Names of cursors, and of the parameters that take them.
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

    /// Names of what is true on the last page only, and never means anything else.
    static let endNames = ["end_of_stream", "endOfStream", "isLastPage", "is_last_page"]
    /// The same where nothing else tells the end.
    static let doneNames = endNames + ["isLast", "is_last", "last_page", "lastPage", "last", "done"]

    /// Those that speak of pages: then pages can be asked for.
    private static let lastPageNames = ["isLastPage", "is_last_page", "last_page", "lastPage"]

    /// `has_more` or `done` as the reply has it.
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
        // Intercom, which also counts pages that cannot be asked for.
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
                    // A bare `cursor` may be this page's own where the request has one.
                    if name == "cursor" || name == "marker", more == nil, given.contains(parameter) { continue }
                    // Twitch: the cursor alone.
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
                // Jira, which says beside it whether this is the last page.
                if name == "nextPageToken", survey["$.isLast"] != .missing { parameter = name }
                // Notion, whose lists are called so as well.
                if name == "next_cursor", survey["$.object"] == .text("list") { parameter = "start_cursor" }
                // Zoom, which takes the token by its own name.
                if name == "next_page_token", survey[Self.member(home, "page_size")].integer != nil { parameter = name }
                let own = known(parameter)
                let members = [("style", "cursor"), ("path", path), ("parameter", begun(besides: own) ?? own)]
                return Detected(members: members + moreMember)
            }
        }
        // OpenAI and Anthropic name the last object, and the next page begins after it.
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

    /// The parameter by which the request itself says that it asks for the beginning, such as `from=0`.
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
        // DynamoDB and what is built on it.
        if sendsJSON, survey["$.LastEvaluatedKey"] == .object {
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.LastEvaluatedKey"), ("parameter", known("ExclusiveStartKey")),
                ])
        }
        // CouchDB's changes, which say how many are left.
        if survey["$.last_seq"].plain != nil, survey["$.pending"].integer != nil {
            return Detected(
                members: [
                    ("style", "cursor"), ("path", "$.last_seq"), ("parameter", known("since")),
                    ("has_more", "$.pending"),
                ])
        }
        // Matrix, whose pages say where they begin and end.
        if case .array = survey["$.chunk"], survey["$.start"].plain != nil, survey["$.end"].plain != nil {
            return Detected(members: [("style", "cursor"), ("path", "$.end"), ("parameter", known("from"))])
        }
        // ArcGIS says that there is more, and nothing where there is not.
        for path in ["$.exceededTransferLimit", "$.properties.exceededTransferLimit"] where survey[path] == .bool(true)
        {
            return Detected(
                members: [("style", "offset"), ("offset_parameter", known("resultOffset")), ("has_more", path)],
                first: .offset(0))
        }
        // Elasticsearch and OpenSearch; what they count up to a limit only ("gte") is no total.
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
        // PostgREST where it was not asked to count: only a page without records is the end.
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

    /// The request pages already, and the reply says how many records there are.
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
        // More is promised and no way told: mostly pages are counted, and a server that ignores that is found out.
        let last = isListed ? flag(Self.lastPageNames, in: homes) : nil
        if more?.value ?? last.map({ !$0.value }) ?? false, survey?["$._scroll_id"] == .missing {
            var members = [("style", "page"), ("page_parameter", known("page")), ("start", "1")]
            if let total { members.append(("total", total)) }
            members += more.map { [("has_more", $0.path)] } ?? last.map { [("done", $0.path)] } ?? []
            return Detected(members: members, first: .page(1), isStartUnknown: true)
        }
        // Known to be more, and no way to ask for it: the pager says so.
        return (total ?? (limit() == nil ? told?.path : nil)).map {
            Detected(members: [("style", "none"), ("total", $0)])
        }
    }

    /// A number in the request's own query.
    private func number(_ name: String) -> Int? { url.queryValue(name).flatMap { Int($0)?.countable } }

    /// A number that the request has under a name, and the parameter that sets it: in its query, or else in its body.
    private func asked(_ name: String) -> (parameter: String, value: Int)? {
        if let value = number(name) { return (name, value) }
        return bodyNumbers.first { $0.name == name || $0.name.hasSuffix("." + name) }.map { ($0.name, $0.value) }
    }

    /// The name as the request has it, if it has it in another form.
    func known(_ name: String) -> String {
        func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        return given.first { plain($0) == plain(name) } ?? name
    }

    /// The path to a member; one that RFC 9535 (section 2.5.1.1, member-name-shorthand) lets stand without quotes does.
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
