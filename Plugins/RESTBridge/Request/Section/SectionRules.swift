internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging

/// What a section says whatever values a fetch has: parsed once for the scans of all parents.
final class SectionRules: Sendable {
    let preset: Preset?
    let format: RESTSection.Format
    let method: String
    let path: PathTemplate
    let query: [ValueTemplate.Named]
    let headers: [ValueTemplate.Named]
    /// The body before a request's own parameters are in it.
    let body: RequestBody?
    /// The option that has the body.
    private let bodyOption: String
    /// How a job of the API exports the listing; nil if requests list it.
    let export: ExportRule?
    let paging: PagingRule
    /// The path for requesting later pages by cursor alone.
    let nextPath: PathTemplate?
    let filters: FilterRule
    /// How the rows of a table are read; nil if the records are in JSON.
    let table: TableRule?
    /// The path of the records, with variables in the texts of filters; nil to detect it in the first reply.
    let records: JSONPath?
    /// The column names, if the records are arrays.
    let columns: RowColumns?
    let responses: [ResponseRule]
    let metadata: [(name: String, place: ReplyPlace)]
    /// Members to add to each record from the reply's header fields.
    let headerFields: [(name: String, header: String)]
    /// Members to add to each record from the request's variables.
    let requestFields: [ValueTemplate.Named]
    let incremental: IncrementalRule?
    /// Whether a listing's validators are kept for conditional requests.
    let isConditional: Bool
    /// The entity's timeouts, or nil for the bridge's.
    let timing: BridgeOptions?

    /// - Parameters:
    ///   - section: The entity's section.
    ///   - pageSize: See ``FetchRequest/pageSize``.
    init(_ section: BridgeOptions, pageSize: Int?) throws {
        preset = try RESTSection.choice(section, "preset") ?? (section.has("graphql") ? .graphQL : nil)
        format = try RESTSection.choice(section, "format") ?? (preset == .ndjson ? .ndjson : .automatic)
        export = try ExportRule(section)
        body = try Self.body(section)
        bodyOption = section.has("graphql") ? "graphql" : "body"
        method = section.string("method") ?? (body == nil ? "GET" : "POST")
        guard ["GET", "POST"].contains(method) else {
            throw BridgeError(.configuration, "method is \"\(method)\"", remedy: "use GET or POST")
        }
        let path = try PathTemplate(section.string("path") ?? "", option: "path")
        self.path = path
        paging = try RESTSection.paging(section, pageSize: pageSize, body: body, preset)
        if let name = paging.pathNames.first(where: { !path.names.contains($0) }) {
            throw BridgeError(
                .configuration, "paging.in is path, and path \"\(path)\" has no {\(name)}",
                remedy: "write {\(name)} where the path has it, such as /users/page/{\(name)}")
        }
        query = ValueTemplate.lists(section.object("query"))
        filters = try FilterRule(section.object("filters"))
        headers = ValueTemplate.texts(section.object("headers"))
        table = try TableRule(section, format, isExport: export != nil)
        records = try (table == nil ? section.string("records") ?? preset?.records : nil).map {
            try JSONPath($0, option: "records")
        }
        try table?.check(section, paging, preset)
        columns = try RowColumns(section)
        nextPath = try paging.nextPath.map { try PathTemplate($0, option: "paging.next_path") }
        responses = try section.objects("responses").map(ResponseRule.init)
        metadata = try Self.metadata(section.object("metadata"))
        requestFields = ValueTemplate.texts(section.object("request_fields"))
        headerFields = try Self.headerFields(section.object("header_fields"))
        incremental =
            try IncrementalRule(
                section.object("incremental"), bodyPrefix: RESTSection.bodyPrefix(body, preset))
            ?? (preset == .odata ? .odata : nil)
        isConditional = section.bool("conditional") ?? true
        let timed = ["timeout", "first_byte_timeout", "minimum_speed", "minimum_speed_time"]
        timing = timed.contains(where: section.has) ? section : nil
        // Report invalid timeouts before the first request.
        if let timing { _ = try HTTPTiming().replaced(by: timing) }
        try checkColumns()
    }

    private func checkColumns() throws {
        guard columns != nil else { return }
        guard preset?.shapesRecords != true else {
            throw BridgeError(
                .configuration, "columns cannot be combined with preset \(preset?.rawValue ?? "")",
                remedy: "remove one of them: columns is for records that are arrays")
        }
        guard case .keyset = paging.style else { return }
        throw BridgeError(
            .configuration, "columns cannot be combined with paging.style \(paging.name)",
            remedy:
                "rows have no named field after which the next page could begin: use another style, such as offset"
        )
    }

    /// Requires the values without which a request would mean something else.
    ///
    /// A parent whose value is null is skipped: without it, the request would return the children of all parents.
    ///
    /// - Throws: `SkippedParent`; ``BridgeError`` for a value of the user info that is missing.
    func requireValues(_ variables: TemplateVariables) throws {
        try path.requireUserInfo(variables, option: "path")
        try path.requireParentValues(variables, option: "path")
        for (_, text) in query { try variables.requireValues(in: text, option: "query") }
        for (_, text) in headers { try variables.requireValues(in: text, option: "headers") }
        for text in body?.content.texts ?? [] { try variables.requireValues(in: text, option: bodyOption) }
        try nextPath?.requireParentValues(variables, option: "paging.next_path")
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

    private static func metadata(_ options: BridgeOptions?) throws -> [(name: String, place: ReplyPlace)] {
        try (options?.names ?? []).map { name in
            (name: name, place: try ReplyPlace(options?.string(name) ?? "", option: "metadata.\(name)"))
        }
    }

    private static func headerFields(_ options: BridgeOptions?) throws -> [(name: String, header: String)] {
        try (options?.names ?? []).map { name in
            let place = try ReplyPlace(options?.string(name) ?? "", option: "header_fields.\(name)")
            guard case .header(let header) = place else {
                throw BridgeError(
                    .configuration, "header_fields.\(name) is a path into the body",
                    remedy: "name a header field, such as ETag")
            }
            return (name: name, header: header)
        }
    }
}

extension RESTSection {
    var preset: Preset? { rules.preset }
    var format: Format { rules.format }
    var method: String { rules.method }
    var export: ExportRule? { rules.export }
    var table: TableRule? { rules.table }
    var columns: RowColumns? { rules.columns }
    var responses: [ResponseRule] { rules.responses }
    var metadata: [(name: String, place: ReplyPlace)] { rules.metadata }
    var headerFields: [(name: String, header: String)] { rules.headerFields }
    var incremental: IncrementalRule? { rules.incremental }
    var isConditional: Bool { rules.isConditional }
    var timing: BridgeOptions? { rules.timing }
}
