internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// A request of an export: `export.create` or `export.status`.
struct ExportRequest: Sendable {
    /// The option, for messages.
    let option: String
    private let method: String
    private let path: PathTemplate
    private let query: [ValueTemplate.Named]
    private let headers: [ValueTemplate.Named]
    private let body: RequestBody?

    /// - Parameter defaultMethod: The method of a request without a body.
    init(_ options: BridgeOptions, option: String, defaultMethod: String) throws {
        self.option = option
        path = try PathTemplate(options.string("path") ?? "", option: "\(option).path")
        query = ValueTemplate.lists(options.object("query"))
        headers = ValueTemplate.texts(options.object("headers"))
        do {
            body = try RequestBody(options)
        } catch var error as BridgeError {
            error.message = "\(option).\(error.message)"
            throw error
        }
        method = options.string("method") ?? (body == nil ? defaultMethod : "POST")
        for (name, text) in headers { try HTTPRequest.check((name: name, value: text)) }
    }

    /// Requires the values without which the job would mean something else; a parent whose value is null is skipped.
    func requireValues(_ variables: TemplateVariables) throws {
        try path.requireParentValues(variables, option: "\(option).path")
        try path.requireUserInfo(variables, option: "\(option).path")
        let texts = (query + headers).map(\.text) + (body?.content.texts ?? [])
        for text in texts { try variables.requireValues(in: text, option: option) }
    }

    /// Returns the request below `base`, or at a URL that the job's reply named.
    ///
    /// - Parameter shared: The section's header fields.
    func request(
        _ variables: TemplateVariables, base: HTTPURL, at given: HTTPURL? = nil,
        shared: [(name: String, value: String)]
    ) throws -> (request: HTTPRequest, url: HTTPURL) {
        let asked = ValueTemplate.expand(query, variables)
        let url = try (given ?? ListingAddress(base: base, template: path, query: []).url(variables)).setting(
            query: asked)
        var fields = ValueTemplate.expand(headers, variables)
        for field in shared where !fields.contains(where: { $0.name.isSameField(as: field.name) }) {
            fields.append(field)
        }
        var request = HTTPRequest(method: method, url: url.text, headers: fields)
        if let encoded = body?.encode(variables) {
            request.body = encoded.bytes
            request.setDefault("Content-Type", encoded.mediaType)
        }
        request.setDefault("Accept", "application/json")
        return (request, url)
    }
}
