internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// An entity's section of the config, with the values of a fetch.
struct RESTSection: Sendable {
    /// What the section says whatever the values are.
    let rules: SectionRules
    let entity: String
    let url: HTTPURL
    /// How the URL of a page is made whose number is in the path.
    let address: ListingAddress
    /// The URL for requesting later pages by cursor alone, from `paging.next_path`.
    let nextURL: HTTPURL?
    let headers: [(name: String, value: String)]
    let body: RequestBody?
    let variables: TemplateVariables
    /// The path of the records, or nil to detect it in the first reply.
    var records: JSONPath?
    /// The values to read from a record's enclosing objects, such as `@parent.id`.
    let surroundings: [String]
    var paging: PagingRule
    /// A total in the replies that the detected paging does not need, which it has to reach nevertheless.
    var statedTotal: ReplyPlace?
    /// A total in the replies that ends detected links and cursors without an end.
    var countedTotal: ReplyPlace?
    /// The members of a record that the host reads; nil for all.
    let readFields: Set<String>?
    /// Members to add to each record from the request's variables.
    let requestFields: [(name: String, value: String)]
    /// The paths of the key in a record; see ``FetchRequest/keyPaths``.
    let keyPaths: [String]
    /// The indices of the request's filters that are sent.
    let pushed: [Int]
    /// Whether the request asks for only a part of the listing.
    let isPartial: Bool
    /// Whether the listing is complete, but may leave out objects that exist.
    let isBounded: Bool
    /// Whether the request is for one object.
    let readsOne: Bool
    /// The key of the object that the request asks for; nil if it asks for a listing, or the section says where the
    /// records are.
    let objectKey: RequestedKey?
    /// Whether the request searches a listing for the object: its key is a condition, and not only a part of the path.
    let searchesByKey: Bool
    let pageSize: Int?

    enum Format: String, CaseIterable, Sendable {
        case automatic = "auto"
        case json
        case ndjson
        case csv
        case xml
    }

    /// - Parameters:
    ///   - base: The bridge's url.
    ///   - parameters: The bridge's `parameters`.
    ///   - slice: The part of the listing to request; nil for the first.
    ///   - rules: Those of the request's section, if they are known.
    init(
        _ request: FetchRequest, base: HTTPURL, parameters: BridgeOptions?, slice: Slice? = nil,
        rules known: SectionRules? = nil
    ) throws {
        let section = request.section
        let rules = try known ?? SectionRules(section, pageSize: request.pageSize)
        self.rules = rules
        entity = request.entity
        pageSize = request.pageSize
        keyPaths = request.keyPaths
        readFields = request.fields
        readsOne = request.readsOne
        let slice = try slice ?? Self.slices(request, parameters: parameters).first ?? Slice()
        var variables = TemplateVariables(
            parameters: [section.object("parameters"), parameters].compactMap(\.self), since: slice.since,
            until: slice.until, slice: slice.values, userInfo: request.userInfo, namesUserInfo: request.validates,
            parent: request.parent)
        if let notation = try Self.notation(section) {
            variables.fields = .some(try Self.selectedFields(notation, request, section, rules.preset))
        }
        if section.has("split") { variables.sliceNames = SplitRule.names }
        self.variables = variables
        if rules.export != nil, request.parameters != nil {
            throw BridgeError(
                .unsupported, "a listing that a job exports takes no parameters with a request",
                remedy: "write them into export.create")
        }
        var body = rules.body
        let given =
            body?.take(request.parameters, below: rules.preset == .graphQL ? ["variables"] : [])
            ?? GivenParameter.pairs(of: request.parameters)
        self.body = body
        if !request.validates {
            try rules.requireValues(variables)
            try rules.export?.create.requireValues(variables)
        }
        paging = rules.paging
        var first = variables
        first.slice.merge(paging.pathValues(at: paging.start) ?? [:]) { $1 }
        var address = ListingAddress(
            base: base, template: rules.path, query: ValueTemplate.expand(rules.query, variables))
        let asked = try address.url(first)
        let filters = rules.filters.push(
            request.filters, beside: request.filters.isEmpty ? [] : asked.queryPairs,
            taken: Set(paging.queryNames))
        pushed = filters.pushed
        address.conditions = filters.query + given
        self.address = address
        url = asked.setting(query: filters.query).setting(query: given)
        headers = try Self.headers(rules.headers, variables, rules.preset)
        let filling = variables
        records = try rules.records.map { try Self.filled($0, filling, parent: request.parent) }
        surroundings = rules.columns == nil && rules.preset?.shapesRecords != true ? request.surroundings : []
        nextURL = try rules.nextPath.map { try Self.nextURL($0, base: base, filling) }
        requestFields = ValueTemplate.expand(rules.requestFields, variables)
        isPartial = !filters.pushed.isEmpty || slice.isMoving || request.parameters != nil
        isBounded = slice.isBounded
        let isSearch = (readsOne || request.readsDetails) && Self.searchesByKey(section, body)
        searchesByKey = readsOne && isSearch
        // With a place for the records, nothing has to be found.
        objectKey = rules.records == nil ? RequestedKey(request, isSearch: isSearch) : nil
        try checkPaths()
    }

    /// Whether the section has a value of the object elsewhere than in the address: in its query, its body, or a filter of
    /// the records.
    private static func searchesByKey(_ section: BridgeOptions, _ body: RequestBody?) -> Bool {
        if section.string("records")?.contains("{parent.") == true { return true }
        let path = section.string("path") ?? ""
        let address = path.prefix { $0 != "?" }
        // An address that ends with a value of the object is the object's, whatever the query says of its project.
        if address.split(separator: "/").last?.contains("parent.") == true { return false }
        let query = section.object("query")
        let texts = (query?.names ?? []).flatMap { query?.strings($0) ?? [] } + (body?.content.texts ?? [])
        return texts.contains { $0.contains("{parent.") } || path.dropFirst(address.count).contains("parent.")
    }

    /// Returns the parts in which a listing is requested.
    ///
    /// - Parameters:
    ///   - now: The time at which the scan began, in microseconds, if it is resumed.
    ///   - present: The present.
    /// - Throws: ``BridgeError`` for a fault of `since` or `each`.
    static func slices(
        _ request: FetchRequest, parameters: BridgeOptions?, now: Int64? = nil, present: Int64 = TimeText.now()
    ) throws -> [Slice] {
        let known = [request.section.object("parameters"), parameters].compactMap(\.self)
        let slices = try SliceRule(request.section, TemplateVariables(parameters: known))
            .slices(
                since: request.since, time: request.sinceTime, isName: request.validates, now: now ?? present,
                present: present)
        guard slices.count > 1, request.newestFirst else { return slices }
        throw BridgeError(
            .configuration,
            "each, split and since.window make several listings, and a scan of the newest first would end in the first of them",
            remedy: "remove \"order: newest_first\", or give each listing an entity or source of its own")
    }

    private static func nextURL(
        _ template: PathTemplate, base: HTTPURL, _ variables: TemplateVariables
    ) throws -> HTTPURL {
        let path = try template.expand(variables)
        guard let path, !path.contains("://"), let url = base.appending(path: path) else {
            throw BridgeError(
                .configuration, "paging.next_path \"\(template)\" is not a path below url",
                remedy: "write only the path, such as /_search/scroll")
        }
        return url
    }

    /// Returns the path of the records, with variables replaced in the texts of filters.
    private static func filled(
        _ path: JSONPath, _ variables: TemplateVariables, parent: BridgeOptions?
    ) throws -> JSONPath {
        try path.replacingFilterValues { value throws in
            if let text = ValueTemplate.expand(value, variables) { return text }
            let name = value.firstMatch(of: /\{([^{}]*)\}/).map { String($0.output.1) } ?? "a variable"
            throw BridgeError(
                .configuration, "records \"\(path)\" needs a value for \(name), and there is none",
                remedy: remedy(for: name, parent: parent))
        }
    }

    static func remedy(for variable: String, parent: BridgeOptions?) -> String {
        if variable.hasPrefix("user_info.") {
            return TemplateVariables.userInfoRemedy
        }
        guard variable.hasPrefix("parent.") else {
            return "set it under parameters, or put it in ( ) if it is optional"
        }
        guard let parent, !parent.has(String(variable.dropFirst("parent.".count))) else {
            return "name the relationship to the parent under the entity's parent"
        }
        return "the parent has: \(NearestName.list(parent.names, to: String(variable.dropFirst("parent.".count))))"
    }

    /// Whether a rule under `responses` tests this path, which then replaces all other judgments by it.
    ///
    /// A rule for a part of a text says nothing about other texts.
    func validates(_ path: String) -> Bool {
        responses.contains { $0.path?.description == path && $0.contains == nil }
    }

    /// Checks that a single forward pass can read all paths.
    func checkPaths() throws {
        guard let records, !records.segments.isEmpty else { return }
        let wanted = paging.paths + metadata.compactMap(\.place.path) + [incremental?.token.path].compactMap(\.self)
        for path in wanted where records.isPrefix(of: path) {
            // A single forward pass cannot both copy a value and read inside it. The root array has no members to
            // address.
            throw BridgeError(
                .configuration, "the paging path \(path) lies inside the records at \(records)",
                remedy: "point it at a member beside the records")
        }
    }

    static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ section: BridgeOptions, _ name: String
    ) throws -> Choice? {
        guard let text = section.string(name) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        throw BridgeError(
            .configuration, "\(name) is \"\(text)\"",
            remedy: "use one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private static func headers(
        _ texts: [ValueTemplate.Named], _ variables: TemplateVariables, _ preset: Preset?
    ) throws -> [(name: String, value: String)] {
        var headers = ValueTemplate.expand(texts, variables)
        for field in headers { try HTTPRequest.check(field) }
        func has(_ name: String) -> Bool { headers.contains { $0.name.isSameField(as: name) } }
        for field in preset?.headers ?? [] where !has(field.name) { headers.append(field) }
        return headers
    }
}
