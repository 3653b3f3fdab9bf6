internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Sends one change to the remote and reads the reply.
///
/// Sends each request at most once. If it is unknown whether the remote made the change, the error has the code
/// `timeout` and is not retryable: the host re-checks the remote before it writes again. That of a delete, which may
/// always be sent again, is retryable, and says that the remote may have made the change.
struct RESTObjectWriter {
    let client: HTTPClient
    let base: HTTPURL
    let request: WriteRequest
    let rule: RESTWriteRule
    let variables: TemplateVariables
    /// The variables of paths, in which an object that is updated has the values that the remote knows it by.
    let address: TemplateVariables
    /// The bridge's `parameters`, for variables of paths.
    let parameters: BridgeOptions?
    let log: BridgeContext

    /// - Parameter parameters: The bridge's `parameters`, for variables of paths.
    init(
        client: HTTPClient, base: HTTPURL, request: WriteRequest, parameters: BridgeOptions?, log: BridgeContext
    ) throws {
        self.log = log
        self.client = client
        self.base = base
        self.request = request
        self.parameters = parameters
        rule = try RESTWriteRule(request)
        variables = TemplateVariables(
            parameters: [request.section.object("parameters"), parameters].compactMap(\.self),
            userInfo: request.userInfo,
            parent: request.parent, object: request.object, jsonNames: request.jsonNames, key: request.key)
        var address = variables
        address.object = request.remoteObject
        self.address = address
    }

    /// A description of the change, for messages.
    var asked: String {
        let key = request.key.names.compactMap { request.key.string($0) }.joined(separator: ", ")
        let what = key.isEmpty ? request.entity : "\(request.entity) \(key)"
        return "the \(request.operation.rawValue) of \(what)"
    }

    func run(into writer: RecordBatchWriter) throws {
        try requireUserInfo()
        let url = try target()
        var etag = rule.etagAttribute.flatMap { request.object.string($0) }
        if let name = rule.etagAttribute, request.operation != .create, etag?.isEmpty ?? true {
            // Without the ETag, concurrent changes would be overwritten. As after a 428 (RFC 6585, section 3), the host
            // reads the object, merges, and sends it with the new ETag.
            throw BridgeError(
                .conflict, "\(asked) was not sent: if_match: \(name) has no value",
                remedy: "let the listing (a member for the attribute \(name)), read_one (header_fields) "
                    + "or write.etag_field provide it, then read the object again")
        }
        let body: (bytes: [UInt8], mediaType: String)?
        switch (request.operation, rule.format) {
        case (.delete, _) where rule.isResource && rule.method != "DELETE": body = try resourceDocument(url)
        case (.delete, _): body = rule.hasOwnBody ? Body(rule, request, variables).encoded : nil
        case _ where rule.isResource: body = try resourceDocument(url)
        case (_, .full) where request.operation == .update:
            let current = try read(url)
            etag = etag ?? current.etag
            body = Body(rule, request, variables, base: current.object).encoded
        case (.update, _) where rule.sendsNestedWhole && request.nested != nil:
            body = Body(rule, request, variables, base: try wholeNested(url)).encoded
        case (.update, .jsonPatch): body = Body(rule, request, variables, base: try patched(url)).encoded
        default: body = Body(rule, request, variables).encoded
        }
        let (response, exchange) = try send(url, body, etag: etag)
        // For a mutation, these statuses mean that the endpoint does not exist.
        if request.operation == .delete, rule.mutation == nil, [404, 410].contains(response.status) {
            exchange.cancel()
            return
        }
        guard (200..<300).contains(response.status) else { throw try refusal(exchange, response) }
        let reply: [UInt8]
        let isAccepted: Bool
        if rule.mutation != nil {
            (reply, isAccepted) = try mutationReply(exchange, response)
        } else {
            reply = try self.reply(exchange, response)
            isAccepted = try self.isAccepted(reply, response)
        }
        if !isAccepted {
            try checkDisguise(reply, response, asked: asked)
            try checkChange(reply, response)
        }
        var record = keyed(reply) ?? record(in: reply)
        if record == nil, rule.mutation != nil { try checkPayload(reply, response) }
        if record == nil, request.operation == .create { record = created(response) }
        if let field = rule.etagField, let etag = response.header("etag") {
            var object = record ?? .object([])
            object.set(.text(etag), at: field[...])
            record = object
        }
        guard let record, !record.members.isEmpty else { return }
        guard let shaped = try shaped(record) else { return record.write(to: writer) }
        withExtendedLifetime(shaped) { writer.copy(shaped[0]) }
    }

    /// Returns the reply to a mutation, whose result is in the body and not in the status, and whether a rule accepts
    /// it.
    private func mutationReply(
        _ exchange: HTTPExchange, _ response: HTTPResponse
    ) throws -> (reply: [UInt8], isAccepted: Bool) {
        let reply: [UInt8]
        let root: JSONTree
        do {
            reply = try exchange.body()
            root = try JSONTree(parsing: reply, what: "the reply")
        } catch var error as BridgeError {
            error.message = "\(asked): the mutation's reply cannot be read: \(error.message)"
            throw unknown(error)
        }
        // A field present in `data` was executed, even with errors inside or beside it.
        let isDone = root["data"]?.members.contains { $0.value != .null } ?? false
        // A rule accepts errors beside data; without data the mutation was refused, whatever the rules say.
        let isAccepted = try isAccepted(reply, response)
        if isAccepted, isDone { return (reply, isAccepted) }
        do {
            try GraphQLErrors.check(HTTPExchange.PaddedBody(reply), asked: asked, response: response)
        } catch let error as BridgeError {
            // A server that timed out or failed may have executed it before. Only a server that was too busy did nothing.
            throw isDone || error.isRetryable && error.code != .rateLimited ? unknown(error) : error
        }
        return (reply, isAccepted)
    }

    /// Refuses a reply with null in place of the mutation's object: the mutation failed, and any reason is beside it.
    private func checkPayload(_ reply: [UInt8], _ response: HTTPResponse) throws {
        guard request.operation != .delete, rule.hasOwnRecords, let place = rule.records.first,
            let root = try? JSONTree(parsing: reply, what: asked), place.values(in: root) == [.null]
        else { return }
        throw BridgeError(
            .remote, "\(asked): the mutation's reply has null at \(place)",
            remedy: "read the rest of the reply",
            location: response.location, remote: String(response.redactor.clean(root.json).prefix(500)))
    }

    // MARK: Target

    /// Requires the values of the user info: without a header that is left out, another tenant's object may be changed.
    private func requireUserInfo() throws {
        let what = "write.\(request.operation.rawValue)"
        // A write has an object, so none of its variables identifies the parent of a listing.
        func check(_ texts: [String], _ option: String) throws {
            for text in texts { try variables.requireValues(in: text, option: option) }
        }
        try (rule.path ?? rule.listing).requireUserInfo(variables, option: rule.path == nil ? "path" : "\(what).path")
        try check(rule.query.map(\.value), "\(what).query")
        try check(rule.headers.map(\.value), "\(what).headers")
        try check(rule.forced.texts, "\(what).forced")
        try check(rule.envelope.texts, rule.mutation == nil ? "\(what).envelope" : "\(what).graphql")
    }

    private func target() throws -> HTTPURL {
        let isItem = rule.isOfItem
        var text: String
        if let path = rule.path {
            // Without the key, an optional part would be left out and the path would become that of the listing.
            let isKeyless = isItem && path.names.contains { isOfKey($0) && value($0) == nil }
            guard !isKeyless, let expanded = try path.expand(value) else { throw unresolved(path) }
            text = expanded
        } else {
            guard let listing = try rule.listing.expand(value) else { throw unresolved(rule.listing) }
            text = listing
            if isItem, rule.mutation == nil {
                let key = try appendedKey()
                // Django and others end each path with a slash and do not accept paths without it.
                let end = (text.isEmpty ? base.text : text).hasSuffix("/") ? "/" : ""
                while text.hasSuffix("/") { text.removeLast() }
                text += "/" + HTTPURL.encode(key) + end
            }
        }
        guard !text.contains("://"), let url = base.appending(path: text) else {
            throw BridgeError(
                .configuration, "\(asked): its path \"\(text)\" is not a path below url",
                remedy: "write only the path, such as /users/{key}")
        }
        return url.setting(query: filled(rule.query))
    }

    /// Returns the key as the last segment of the path.
    private func appendedKey() throws -> String {
        guard request.key.names.count == 1 else {
            throw BridgeError(
                .configuration,
                "\(asked): its path cannot be derived from a key of \(request.key.names.count) parts",
                remedy: "set write.\(request.operation.rawValue).path, such as /users/{key.id}")
        }
        guard let key = value("key") else {
            throw BridgeError(
                .configuration,
                "\(asked): its key is empty, and a path without it is that of the whole listing: "
                    + "nothing was sent",
                remedy: "set write.\(request.operation.rawValue).path to one that needs no key, or leave the object out"
            )
        }
        try PathTemplate.check(segment: key, of: "\(asked): its key")
        return key
    }

    private func isOfKey(_ name: String) -> Bool { name == "key" || name.hasPrefix("key.") }

    /// Returns query parameters or header fields with variables replaced.
    ///
    /// Leaves out those whose variable has no value.
    private func filled(_ pairs: [(name: String, value: String)]) -> [(name: String, value: String)] {
        pairs.compactMap { name, text in ValueTemplate.expand(text, variables).map { (name: name, value: $0) } }
    }

    /// Returns the value of a path's variable.
    ///
    /// `key` alone stands for a key of one part. A listing's `since` has no value here.
    private func value(_ name: String) -> String? {
        if name == "key" {
            guard request.key.names.count == 1, let only = request.key.names.first else { return nil }
            return request.key.string(only).flatMap { $0.isEmpty ? nil : $0 }
        }
        return address.value(name)
    }

    private func unresolved(_ path: PathTemplate) -> BridgeError {
        let missing =
            path.names.first { isOfKey($0) && value($0) == nil } ?? path.names.first { value($0) == nil } ?? ""
        return BridgeError(
            .configuration, "\(asked): {\(missing)} of the path \(path) has no value",
            remedy: "use {key}, {key.NAME}, {object.NAME} or {parent.NAME}")
    }

    // MARK: Exchange

    private func send(
        _ url: HTTPURL, _ body: (bytes: [UInt8], mediaType: String)?, etag: String?
    ) throws -> (HTTPResponse, HTTPExchange) {
        var http = HTTPRequest(method: rule.method, url: url.text, headers: filled(rule.headers), body: body?.bytes)
        func set(_ name: String, _ value: String) {
            if !http.headers.contains(where: { $0.name.isSameField(as: name) }) {
                http.headers.append((name: name, value: value))
            }
        }
        if let body, !client.sendsHeader("content-type") { set("Content-Type", body.mediaType) }
        if !client.sendsHeader("accept") { set("Accept", rule.accept) }
        if request.operation != .create, let etag, !etag.isEmpty { set("If-Match", etag) }
        if let header = rule.idempotencyHeader, let key = request.idempotencyKey { set(header, key) }
        http.isSentOnce = true
        let exchange = client.start(http)
        do {
            return (try exchange.response(), exchange)
        } catch var error as BridgeError {
            error.message = "\(asked): \(error.message)"
            // A configuration error after sending is a redirect to another path, so the server made no change.
            throw exchange.wasSent && error.code != .configuration ? unknown(error) : error
        }
    }

    /// Returns the error for a change that the remote may have made.
    func unknown(_ error: BridgeError) -> BridgeError {
        if rule.isIdempotent {
            var error = error
            error.isRetryable = true
            error.mayHaveArrived = true
            return error
        }
        return unsettled(error)
    }

    /// Returns the error for a change whose outcome the object shows: the host reads it.
    func unsettled(_ error: BridgeError) -> BridgeError {
        BridgeError(
            .timeout, "\(error.message); the request was sent, but it is unknown whether the remote carried it out",
            remedy: "check the remote before it is sent again", location: error.location, remote: error.remote)
    }

    /// Returns the error for a status other than success.
    ///
    /// A server that did not begin made no change. A gateway does not know whether the change was made.
    private func refusal(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> BridgeError {
        var error = try exchange.statusError(asked: asked)
        if HTTPStatusError.leavesOpen(response.status) { return unknown(error) }
        if HTTPStatusError.deniesStart(response.status) { return error }
        switch response.status {
        case 428:
            error.code = .conflict
            error.remedy = "set write.if_match to the attribute that holds the object's ETag"
        case 400 where rule.sendsNestedWhole, 422 where rule.sendsNestedWhole:
            error.isRetryable = false
            if let names = request.nested?.names.joined(separator: ", ") {
                error.remedy =
                    (error.remedy.map { "\($0); " } ?? "")
                    + "\(names) was sent whole, since many remotes replace what they "
                    + "get; if this one merges and refuses that, set write.update.nested: part"
            }
        default: error.isRetryable = rule.isIdempotent && error.isRetryable
        }
        return error
    }
}

extension JSONPath {
    /// Returns the values that the path selects.
    func values(in root: JSONTree) -> [JSONTree] {
        segments.reduce([root]) { values, segment in
            values.flatMap { value -> [JSONTree] in
                switch segment {
                case .name(let name): value[name].map { [$0] } ?? []
                case .wildcard: value.elements ?? value.members.map(\.value)
                case .index(let index):
                    value.elements.flatMap {
                        $0.indices.contains(Int(clamping: index)) ? [$0[Int(clamping: index)]] : []
                    } ?? []
                case .filter(let name, let wanted): (value.elements ?? []).filter { $0[name]?.text == wanted }
                }
            }
        }
    }
}
