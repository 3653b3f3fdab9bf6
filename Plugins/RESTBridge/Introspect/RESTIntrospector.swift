internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RESTIntrospection
internal import RecordBatch

/// The input of `discover`: the option `introspect`, which configs never contain, or else the usual locations of an
/// OpenAPI document.
///
/// `{document: URL}` returns the text of a document. `{openapi: TEXT, location: URL}` and
/// `{samples: [URL], body: TEXT}` return entities and, as a separate record, suggested options for the bridge.
struct RESTIntrospector {
    let client: HTTPClient
    let base: HTTPURL

    private static let places = [
        "openapi.json", "swagger.json", "v3/api-docs", "swagger/v1/swagger.json", "api-docs", "api/openapi.json",
    ]

    func run(_ options: BridgeOptions?, into writer: RecordBatchWriter) throws {
        if let options, let url = options.string("document") {
            let (body, response) = try get(url, accept: "application/json, application/yaml;q=0.9, */*;q=0.8")
            return writer.object {
                writer.member("document", String(decoding: body, as: UTF8.self))
                writer.member("location", response.url)
            }
        }
        if let options, let text = options.string("openapi") {
            let root = try JSONTree(parsing: Array(text.utf8), what: "the document", limit: DocumentLimit.bytes)
            return try write(OpenAPIDocument(root, location: options.string("location")), into: writer)
        }
        if let options, !options.strings("samples").isEmpty {
            return try write(options.strings("samples"), body: options.string("body"), into: writer)
        }
        for place in Self.places {
            guard let url = base.appending(path: place)?.text,
                let (body, response) = try? get(url, accept: "application/json"),
                let root = try? JSONTree(parsing: body, what: place, limit: DocumentLimit.bytes),
                let document = try? OpenAPIDocument(root, location: response.url)
            else { continue }
            return try write(document, into: writer)
        }
        throw BridgeError(
            .notFound, "the API has no OpenAPI document at \(Self.places.joined(separator: ", "))",
            remedy: "give its address, or a sample reply: bmo introspect rest --openapi URL | --sample URL",
            location: client.redactor.clean(url: base.text))
    }

    private func write(_ document: OpenAPIDocument, into writer: RecordBatchWriter) throws {
        let reader = OpenAPIReader(document) { [client] in client.sendsHeader($0) }
        let (offers, notes, parts) = reader.offers()
        guard !offers.isEmpty else {
            let foreign = reader.foreignReplies().map { "; \($0)" }.joined()
            throw BridgeError(
                .notFound, "the document describes no request whose reply is a list of objects\(foreign)",
                remedy: "try --sample with the URL of a listing", location: document.location)
        }
        let security = reader.security
        write(options: .object(security.options), notes: security.notes + notes, title: document.title, into: writer)
        for part in parts {
            write(options: .object(part.options), notes: part.notes, title: nil, part: part.name, into: writer)
        }
        for offer in offers { offer.description.write(to: writer) }
    }

    /// - Parameter sent: The body of a POST, or nil for a GET.
    private func write(_ urls: [String], body sent: String?, into writer: RecordBatchWriter) throws {
        let sent = try sent.map { try JSONTree(parsing: Array($0.utf8), what: "the body") }
        let samples = try urls.map { text -> SampleReply in
            let (body, response) = try get(
                text, accept: "application/json, */*;q=0.5", sending: sent.map { Array($0.json.utf8) })
            guard let url = HTTPURL(text) else { throw BridgeError(.configuration, "a sample is not a URL") }
            do {
                return try SampleParser.parse(body, response, of: url, requestBody: sent)
            } catch var error as BridgeError {
                error.location = error.location ?? response.location
                if SampleReader.subject(of: url).lowercased() == "graphql" { error.remedy = Self.graphQLWords }
                throw error
            }
        }
        let reader = SampleReader(samples)
        let (offers, notes) = reader.offers()
        guard !offers.isEmpty else {
            throw BridgeError(
                .notFound, notes.first ?? "no sample holds a list of objects", remedy: "give the URL of a listing",
                location: client.redactor.clean(url: urls.first ?? ""))
        }
        write(options: reader.options, notes: reader.notes + notes, title: base.text, into: writer)
        for offer in offers { offer.description.write(to: writer) }
    }

    private static let graphQLWords =
        "GraphQL only answers queries: write graphql: {query: ...} into the entity's section, see docs/rest.md"

    private func write(
        options: JSONTree, notes: [String], title: String?, part: String? = nil, into writer: RecordBatchWriter
    ) {
        var description = ServiceDescription(
            title: title, options: BridgeOptions { writer in options.writeMembers(to: writer) }, notes: notes)
        description.part = part
        description.write(to: writer)
    }

    private func get(
        _ text: String, accept: String, sending body: [UInt8]? = nil
    ) throws -> ([UInt8], HTTPResponse) {
        guard let url = HTTPURL(text) else {
            throw BridgeError(.configuration, "\"\(client.redactor.clean(text))\" is not an http or https URL")
        }
        var request = HTTPRequest(url: url.text)
        if !client.sendsHeader("accept") { request.headers = [(name: "Accept", value: accept)] }
        if let body {
            request.method = "POST"
            request.body = body
            request.headers.append((name: "Content-Type", value: "application/json"))
        }
        request.sendsCredentials = url.origin == base.origin
        let exchange = client.start(request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            var error = try exchange.statusError(asked: "the introspection")
            if [401, 403].contains(response.status) {
                error.remedy =
                    "give credentials: --auth bearer:VARIABLE, basic:USER:PASSWORD, header:FIELD:VARIABLE or "
                    + "query:PARAMETER:VARIABLE, by the names of environment variables"
            }
            if SampleReader.subject(of: url).lowercased() == "graphql" { error.remedy = Self.graphQLWords }
            throw error
        }
        return (try exchange.body(), response)
    }
}
