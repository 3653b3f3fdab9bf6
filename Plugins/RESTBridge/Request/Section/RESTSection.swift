internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// An entity's section of the config, with the values of a fetch.
struct RESTSection: Sendable {
    let entity: String
    let method: String
    let url: HTTPURL
    /// How the URL of a page is made whose number is in the path.
    let address: ListingAddress
    /// The URL for requesting later pages by cursor alone, from `paging.next_path`.
    let nextURL: HTTPURL?
    let headers: [(name: String, value: String)]
    let body: RequestBody?
    let variables: TemplateVariables
    let preset: Preset?
    /// The path of the records, or nil to detect it in the first reply.
    var records: JSONPath?
    /// The values to read from a record's enclosing objects, such as `@parent.id`.
    let surroundings: [String]
    /// The column names, if the records are arrays.
    let columns: RowColumns?
    var paging: PagingRule
    /// A total in the replies that the detected paging does not need, which it has to reach nevertheless.
    var statedTotal: ReplyPlace?
    /// A total in the replies that ends detected links and cursors without an end.
    var countedTotal: ReplyPlace?
    let format: Format
    /// How the rows of a table are read; nil if the records are in JSON.
    let table: TableRule?
    /// How a job of the API exports the listing; nil if requests list it.
    let export: ExportRule?
    /// The members of a record that the host reads; nil for all.
    let readFields: Set<String>?
    let responses: [ResponseRule]
    let metadata: [(name: String, place: ReplyPlace)]
    /// Members to add to each record from the reply's header fields.
    let headerFields: [(name: String, header: String)]
    /// Members to add to each record from the request's variables.
    let requestFields: [(name: String, value: String)]
    let incremental: IncrementalRule?
    /// The paths of the key in a record; see ``FetchRequest/keyPaths``.
    let keyPaths: [String]
    /// Whether a listing's validators are kept for conditional requests.
    let isConditional: Bool
    /// The indices of the request's filters that are sent.
    let pushed: [Int]
    /// Whether the request asks for only a part of the listing.
    let isPartial: Bool
    /// Whether the listing is complete, but may leave out objects that exist.
    let isBounded: Bool
    /// Whether the request is for one object.
    let readsOne: Bool
    /// Whether the request searches a listing for the object: its key is a condition, and not only a part of the path.
    let searchesByKey: Bool
    /// The entity's timeouts, or nil for the bridge's.
    let timing: BridgeOptions?
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
    init(_ request: FetchRequest, base: HTTPURL, parameters: BridgeOptions?, slice: Slice? = nil) throws {
        entity = request.entity
        pageSize = request.pageSize
        keyPaths = request.keyPaths
        let section = request.section
        preset = try Self.choice(section, "preset") ?? (section.has("graphql") ? .graphQL : nil)
        format = try Self.choice(section, "format") ?? (preset == .ndjson ? .ndjson : .automatic)
        let slice = try slice ?? Self.slices(request, parameters: parameters).first ?? Slice()
        var variables = TemplateVariables(
            parameters: [section.object("parameters"), parameters].compactMap(\.self), since: slice.since,
            until: slice.until, slice: slice.values, userInfo: request.userInfo, namesUserInfo: request.validates,
            parent: request.parent)
        if let notation = try Self.notation(section) {
            variables.fields = .some(try Self.selectedFields(notation, request, section, preset))
        }
        if section.has("split") { variables.sliceNames = SplitRule.names }
        self.variables = variables
        export = try ExportRule(section)
        if export != nil, request.parameters != nil {
            throw BridgeError(
                .unsupported, "a listing that a job exports takes no parameters with a request",
                remedy: "write them into export.create")
        }
        var body = try Self.body(section)
        let given =
            body?.take(request.parameters, below: preset == .graphQL ? ["variables"] : [])
            ?? GivenParameter.pairs(of: request.parameters)
        self.body = body
        method = section.string("method") ?? (body == nil ? "GET" : "POST")
        guard ["GET", "POST"].contains(method) else {
            throw BridgeError(.configuration, "method is \"\(method)\"", remedy: "use GET or POST")
        }
        let template = try PathTemplate(section.string("path") ?? "", option: "path")
        if !request.validates {
            try Self.requireValues(section, template, body, variables)
            try export?.create.requireValues(variables)
        }
        paging = try Self.paging(section, pageSize: request.pageSize, body: body, preset)
        if let name = paging.pathNames.first(where: { !template.names.contains($0) }) {
            throw BridgeError(
                .configuration, "paging.in is path, and path \"\(template)\" has no {\(name)}",
                remedy: "write {\(name)} where the path has it, such as /users/page/{\(name)}")
        }
        var first = variables
        first.slice.merge(paging.pathValues(at: paging.start) ?? [:]) { $1 }
        var address = ListingAddress(
            base: base, template: template, query: Self.query(section.object("query"), variables))
        let asked = try address.url(first)
        let filters = try FilterRule(section.object("filters")).push(request.filters, beside: asked.queryPairs)
        pushed = filters.pushed
        address.conditions = filters.query + given
        self.address = address
        url = asked.setting(query: filters.query).setting(query: given)
        headers = try Self.headers(section.object("headers"), variables, preset)
        let known = variables
        table = try TableRule(section, format, isExport: export != nil)
        readFields = request.fields
        records = try (table == nil ? section.string("records") ?? preset?.records : nil).map {
            try Self.records($0, known, parent: request.parent)
        }
        try table?.check(section, paging, preset)
        columns = try RowColumns(section)
        surroundings = columns == nil && preset?.shapesRecords != true ? request.surroundings : []
        guard columns == nil || preset?.shapesRecords != true else {
            throw BridgeError(
                .configuration, "columns cannot be combined with preset \(preset?.rawValue ?? "")",
                remedy: "remove one of them: columns is for records that are arrays")
        }
        if columns != nil, case .keyset = paging.style {
            throw BridgeError(
                .configuration, "columns cannot be combined with paging.style \(paging.name)",
                remedy:
                    "rows have no named field after which the next page could begin: use another style, such as offset"
            )
        }
        nextURL = try Self.nextURL(paging, base: base, variables)
        responses = try section.objects("responses").map(ResponseRule.init)
        let names = section.object("metadata")
        metadata = try (names?.names ?? []).map {
            (name: $0, place: try ReplyPlace(names?.string($0) ?? "", option: "metadata.\($0)"))
        }
        requestFields = Self.texts(section.object("request_fields"), variables)
        let fields = section.object("header_fields")
        headerFields = try (fields?.names ?? []).map { name in
            guard
                case .header(let header) = try ReplyPlace(
                    fields?.string(name) ?? "", option: "header_fields.\(name)")
            else {
                throw BridgeError(
                    .configuration, "header_fields.\(name) is a path into the body",
                    remedy: "name a header field, such as ETag")
            }
            return (name: name, header: header)
        }
        incremental =
            try IncrementalRule(section.object("incremental"), bodyPrefix: Self.bodyPrefix(body, preset))
            ?? (preset == .odata ? .odata : nil)
        isConditional = section.bool("conditional") ?? true
        let timed = ["timeout", "first_byte_timeout", "minimum_speed", "minimum_speed_time"]
        timing = timed.contains(where: section.has) ? section : nil
        // Report invalid timeouts before the first request.
        if let timing { _ = try HTTPTiming().replaced(by: timing) }
        isPartial = !filters.pushed.isEmpty || slice.isMoving || request.parameters != nil
        isBounded = slice.isBounded
        readsOne = request.readsOne
        searchesByKey = Self.searchesByKey(section, body)
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
    /// - Parameter now: The time at which the scan began, in microseconds, if it is resumed.
    /// - Throws: ``BridgeError`` for a fault of `since` or `each`.
    static func slices(_ request: FetchRequest, parameters: BridgeOptions?, now: Int64? = nil) throws -> [Slice] {
        let known = [request.section.object("parameters"), parameters].compactMap(\.self)
        let slices = try SliceRule(request.section, TemplateVariables(parameters: known))
            .slices(
                since: request.since, time: request.sinceTime, isName: request.validates, now: now ?? TimeText.now(),
                present: TimeText.now())
        guard slices.count > 1, request.newestFirst else { return slices }
        throw BridgeError(
            .configuration,
            "each, split and since.window make several listings, and a scan of the newest first would end in the first of them",
            remedy: "remove \"order: newest_first\", or give each listing an entity or source of its own")
    }

    private static func nextURL(
        _ paging: PagingRule, base: HTTPURL, _ variables: TemplateVariables
    ) throws -> HTTPURL? {
        guard let text = paging.nextPath else { return nil }
        let path = try PathTemplate(text, option: "paging.next_path").expand(variables)
        guard let path, !path.contains("://"), let url = base.appending(path: path) else {
            throw BridgeError(
                .configuration, "paging.next_path \"\(text)\" is not a path below url",
                remedy: "write only the path, such as /_search/scroll")
        }
        return url
    }

    /// Requires the values without which a request would mean something else.
    ///
    /// A parent whose value is null is skipped: without it, the request would return the children of all parents.
    ///
    /// - Throws: `SkippedParent`; ``BridgeError`` for a value of the user info that is missing.
    private static func requireValues(
        _ section: BridgeOptions, _ path: PathTemplate, _ body: RequestBody?, _ variables: TemplateVariables
    ) throws {
        try path.requireUserInfo(variables, option: "path")
        try path.requireParentValues(variables, option: "path")
        for option in ["query", "headers"] {
            let values = section.object(option)
            for name in values?.names ?? [] {
                for text in values?.strings(name) ?? [] { try variables.requireValues(in: text, option: option) }
            }
        }
        for text in body?.content.texts ?? [] {
            try variables.requireValues(in: text, option: section.has("graphql") ? "graphql" : "body")
        }
        if let next = section.object("paging")?.string("next_path") {
            try PathTemplate(next, option: "paging.next_path").requireParentValues(
                variables, option: "paging.next_path")
        }
    }

    /// Returns the path of the records, with variables replaced in the texts of filters.
    private static func records(
        _ text: String, _ variables: TemplateVariables, parent: BridgeOptions?
    ) throws -> JSONPath {
        try JSONPath(text, option: "records").replacingFilterValues { value throws in
            if let text = ValueTemplate.expand(value, variables) { return text }
            let name = value.firstMatch(of: /\{([^{}]*)\}/).map { String($0.output.1) } ?? "a variable"
            throw BridgeError(
                .configuration, "records \"\(text)\" needs a value for \(name), and there is none",
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

    private static func body(_ section: BridgeOptions) throws -> RequestBody? {
        guard let graphql = section.object("graphql") else { return try RequestBody(section) }
        guard let query = graphql.string("query") else {
            throw BridgeError(.configuration, "graphql.query is missing", remedy: "write the query's text there")
        }
        let variables = graphql.withValue("variables") { $0.map(JSONTree.init) } ?? .object([])
        var members: [(String, JSONTree)] = [("query", .text(query))]
        if let operation = graphql.string("operation") {
            members.append(("operationName", .text(operation)))
        }
        members.append(("variables", variables))
        return RequestBody(content: .object(members), format: .json)
    }

    static func query(
        _ options: BridgeOptions?, _ variables: TemplateVariables
    ) -> [(name: String, value: String)] {
        (options?.names ?? []).flatMap { name in
            (options?.strings(name) ?? []).compactMap { text in
                ValueTemplate.expand(text, variables).map { (name: name, value: $0) }
            }
        }
    }

    /// Returns texts with variables replaced.
    ///
    /// Leaves out those whose variable has no value.
    static func texts(
        _ options: BridgeOptions?, _ variables: TemplateVariables
    ) -> [(name: String, value: String)] {
        (options?.names ?? []).compactMap { name in
            ValueTemplate.expand(options?.string(name) ?? "", variables).map { (name: name, value: $0) }
        }
    }

    private static func headers(
        _ options: BridgeOptions?, _ variables: TemplateVariables, _ preset: Preset?
    ) throws -> [(name: String, value: String)] {
        var headers = texts(options, variables)
        for field in headers { try HTTPRequest.check(field) }
        func has(_ name: String) -> Bool { headers.contains { $0.name.isSameField(as: name) } }
        for field in preset?.headers ?? [] where !has(field.name) { headers.append(field) }
        return headers
    }
}
