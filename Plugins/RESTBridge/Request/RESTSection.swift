internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// An entity's section of the config, with the values that a fetch brings.
struct RESTSection: Sendable {
    let entity: String
    let method: String
    let url: HTTPURL
    /// Where pages after the first are asked for by their cursor alone, as `paging.next_path` says.
    let nextURL: HTTPURL?
    let headers: [(name: String, value: String)]
    let body: RequestBody?
    let variables: TemplateVariables
    let preset: Preset?
    /// Nil where the config names none: then the first reply tells.
    var records: JSONPath?
    /// What the values of records are called that are arrays.
    let columns: RowColumns?
    var paging: PagingRule
    let format: Format
    let responses: [ResponseRule]
    let metadata: [(name: String, place: ReplyPlace)]
    /// Members that each record gets from the reply's head.
    let headerFields: [(name: String, header: String)]
    /// Members that each record gets from the request's variables.
    let requestFields: [(name: String, value: String)]
    let incremental: IncrementalRule?
    /// Whether validators of a listing of one page are kept for a conditional request.
    let isConditional: Bool
    /// Which of the request's filters go along.
    let pushed: [Int]
    /// Whether the request asks for less than the whole listing.
    let isPartial: Bool
    let pageSize: Int?

    enum Format: String, CaseIterable, Sendable {
        case automatic = "auto"
        case json
        case ndjson
    }

    /// - Parameters:
    ///   - base: The bridge's url.
    ///   - parameters: The bridge's option of that name.
    init(_ request: FetchRequest, base: HTTPURL, parameters: BridgeOptions?) throws {
        entity = request.entity
        pageSize = request.pageSize
        let section = request.section
        preset = try Self.choice(section, "preset") ?? (section.has("graphql") ? .graphQL : nil)
        format = try Self.choice(section, "format") ?? (preset == .ndjson ? .ndjson : .automatic)
        variables = TemplateVariables(
            parameters: [section.object("parameters"), parameters].compactMap(\.self), since: request.since,
            parent: request.parent)
        body = try Self.body(section)
        method = section.string("method") ?? (body == nil ? "GET" : "POST")
        guard ["GET", "POST"].contains(method) else {
            throw BridgeError(.configuration, "method is \"\(method)\"", remedy: "use GET or POST")
        }
        let template = try PathTemplate(section.string("path") ?? "", option: "path")
        guard let path = try template.expand(variables) else {
            let name = template.missing(variables) ?? "a variable"
            throw BridgeError(
                .configuration, "path \"\(template)\" needs a value for \(name), and there is none",
                remedy: Self.remedy(for: name, parent: request.parent))
        }
        guard !path.contains("://"), let joined = base.appending(path: path) else {
            throw BridgeError(
                .configuration, "path \"\(path)\" does not fit below url",
                remedy: "write the path alone, such as /users; another host needs a bridge of its own")
        }
        let filters = try FilterRule(section.object("filters")).push(request.filters)
        pushed = filters.pushed
        url = joined.setting(query: Self.query(section.object("query"), variables)).setting(query: filters.query)
        headers = try Self.headers(section.object("headers"), variables, preset)
        records = try (section.string("records") ?? preset?.records).map { try JSONPath($0, option: "records") }
        columns = try RowColumns(section)
        guard columns == nil || !RecordShaper.isNeeded(preset) else {
            throw BridgeError(
                .configuration, "columns does not go with preset \(preset?.rawValue ?? "")",
                remedy: "remove one of them: columns is for records that are arrays")
        }
        let bodyPrefix: [String]? =
            preset == .graphQL ? ["variables"] : body?.format == .json ? [] : nil
        if section.string("paging") == "none" {
            paging = PagingRule()
        } else if let options = section.object("paging") {
            paging = try PagingRule(options, pageSize: request.pageSize, bodyPrefix: bodyPrefix)
        } else {
            guard [nil, "auto"].contains(section.string("paging")) else {
                throw BridgeError(
                    .configuration, "paging is \"\(section.string("paging") ?? "")\"",
                    remedy: "write auto, none, or an object with a style")
            }
            paging = .automatic
        }
        if columns != nil, case .keyset = paging.style {
            throw BridgeError(
                .configuration, "columns does not go with paging.style \(paging.name)",
                remedy:
                    "rows have no field by its name that the next page could begin after: use another style, such as offset"
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
        incremental = try IncrementalRule(section.object("incremental")) ?? (preset == .odata ? .odata : nil)
        isConditional = section.bool("conditional") ?? true
        isPartial = !filters.pushed.isEmpty
        try checkPaths()
    }

    private static func nextURL(
        _ paging: PagingRule, base: HTTPURL, _ variables: TemplateVariables
    ) throws -> HTTPURL? {
        guard let text = paging.nextPath else { return nil }
        let path = try PathTemplate(text, option: "paging.next_path").expand(variables)
        guard let path, !path.contains("://"), let url = base.appending(path: path) else {
            throw BridgeError(
                .configuration, "paging.next_path \"\(text)\" does not fit below url",
                remedy: "write the path alone, such as /_search/scroll")
        }
        return url
    }

    private static func remedy(for variable: String, parent: BridgeOptions?) -> String {
        guard variable.hasPrefix("parent.") else {
            return "set it under parameters, or put it in ( ) where it is optional"
        }
        guard let parent, !parent.has(String(variable.dropFirst("parent.".count))) else {
            return "name the relationship to the parent under the entity's parent"
        }
        return "the parent has: \(NearestName.list(parent.names, to: String(variable.dropFirst("parent.".count))))"
    }

    /// Whether a rule under `responses` looks at this path: then nothing else judges by it.
    func judges(_ path: String) -> Bool { responses.contains { $0.path?.description == path } }

    /// Checks that one forward pass can read all that is wanted.
    func checkPaths() throws {
        guard let records, !records.segments.isEmpty else { return }
        let wanted = paging.paths + metadata.compactMap(\.place.path) + [incremental?.token.path].compactMap(\.self)
        for path in wanted where records.isPrefix(of: path) {
            // One forward pass cannot both copy a value and look into it. The root array has no members to point at.
            throw BridgeError(
                .configuration, "the paging path \(path) lies inside the records at \(records)",
                remedy: "point it at what stands beside the records")
        }
    }

    private static func choice<Choice: CaseIterable & RawRepresentable<String>>(
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

    private static func query(
        _ options: BridgeOptions?, _ variables: TemplateVariables
    ) -> [(name: String, value: String)] {
        (options?.names ?? []).flatMap { name in
            (options?.strings(name) ?? []).compactMap { text in
                ValueTemplate.expand(text, variables).map { (name: name, value: $0) }
            }
        }
    }

    /// Texts with the values of their variables; one whose variable has none is left out.
    private static func texts(
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
        func has(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name.lowercased() } }
        for field in preset?.headers ?? [] where !has(field.name) { headers.append(field) }
        return headers
    }
}
