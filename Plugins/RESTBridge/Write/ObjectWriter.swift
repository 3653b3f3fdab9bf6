internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import CSimdJSON
internal import RecordBatch

/// Sends one change to the remote, and reads its answer.
///
/// Each request is sent at most once. Where nothing tells whether the remote did it, the error has the code `timeout`
/// and is not retryable: the host looks before it writes again.
struct ObjectWriter {
    private let client: HTTPClient
    private let base: HTTPURL
    private let request: WriteRequest
    private let rule: WriteRule
    private let variables: TemplateVariables

    /// - Parameter parameters: The bridge's own, for variables of paths.
    init(client: HTTPClient, base: HTTPURL, request: WriteRequest, parameters: BridgeOptions?) throws {
        self.client = client
        self.base = base
        self.request = request
        rule = try WriteRule(request)
        variables = TemplateVariables(
            parameters: [request.section.object("parameters"), parameters].compactMap(\.self), parent: request.parent,
            object: request.object, key: request.key)
    }

    /// The change in words, for messages.
    private var asked: String {
        let key = request.key.names.compactMap { request.key.string($0) }.joined(separator: ", ")
        let what = key.isEmpty ? request.entity : "\(request.entity) \(key)"
        return "the \(request.operation.rawValue) of \(what)"
    }

    func run(into writer: RecordBatchWriter) throws {
        let url = try target()
        var etag = rule.etagAttribute.flatMap { request.object.string($0) }
        if let name = rule.etagAttribute, request.operation != .create, etag?.isEmpty ?? true {
            // Without it nothing would guard what somebody else changed meanwhile. As after a 428 (RFC 6585, section 3)
            // the object is read, merged and sent with the ETag that came then.
            throw BridgeError(
                .conflict, "\(asked) was not sent: if_match: \(name) has no value",
                remedy: "let the listing (a member for the attribute \(name)), read_one (header_fields) "
                    + "or write.etag_field bring it, then read the object again")
        }
        let body: (bytes: [UInt8], mediaType: String)?
        switch (request.operation, rule.format) {
        case (.delete, _): body = rule.hasOwnBody ? Body(rule, request, variables).encoded : nil
        case (_, .full) where request.operation == .update:
            let current = try read(url)
            etag = etag ?? current.etag
            body = Body(rule, request, variables, current: current.object).encoded
        default: body = Body(rule, request, variables).encoded
        }
        let (response, exchange) = try send(url, body, etag: etag)
        // Of a mutation it says that the endpoint is not there.
        if request.operation == .delete, rule.mutation == nil, [404, 410].contains(response.status) {
            exchange.cancel()
            return
        }
        guard (200..<300).contains(response.status) else { throw try refusal(exchange, response) }
        let reply: [UInt8]
        if rule.mutation != nil {
            reply = try mutationReply(exchange, response)
        } else {
            // It is done: what cannot be read of the answer is no failure of the write.
            reply = (try? exchange.body()) ?? []
        }
        try checkDisguise(reply, response)
        var record = keyed(reply) ?? record(in: reply)
        if record == nil, rule.mutation != nil { try checkPayload(reply, response) }
        if record == nil, request.operation == .create { record = created(response) }
        if let field = rule.etagField, let etag = response.header("etag") {
            var object = record ?? .object([])
            object.set(.text(etag), at: field[...])
            record = object
        }
        if let record, !record.members.isEmpty { try write(record, to: writer) }
    }

    /// Writes the reply's object as a listing would hand it out.
    private func write(_ record: JSONTree, to writer: RecordBatchWriter) throws {
        guard let preset = rule.preset, RecordShaper.isNeeded(preset), preset != .odata else {
            return record.write(to: writer)
        }
        let scratch = RecordBatchWriter()
        record.write(to: scratch)
        let batch = try scratch.finish()
        defer { withExtendedLifetime(batch) {} }
        _ = try RecordShaper(preset, included: nil).write(batch[0], to: writer)
    }

    /// The reply to a mutation: its status says nothing, only its body tells what became of the change.
    private func mutationReply(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> [UInt8] {
        let reply: [UInt8]
        let root: JSONTree
        do {
            reply = try exchange.body()
            root = try JSONTree(parsing: reply, what: "the reply")
        } catch var error as BridgeError {
            error.message = "\(asked): the mutation's reply cannot be read: \(error.message)"
            throw unknown(error)
        }
        do {
            try GraphQLErrors.check(HTTPExchange.PaddedBody(reply), asked: asked, response: response)
        } catch let error as BridgeError {
            // A field of `data` that is there was carried out, whatever failed in it or beside it; a server that ran out of
            // time, or broke, may have done it before. Only one that was too busy did nothing.
            let isDone = root["data"]?.members.contains { $0.value != .null } ?? false
            throw isDone || error.isRetryable && error.code != .rateLimited ? unknown(error) : error
        }
        return reply
    }

    /// A mutation that answers with null where its object should be did not do it, and says why beside that, if at all.
    private func checkPayload(_ reply: [UInt8], _ response: HTTPResponse) throws {
        guard request.operation != .delete, rule.hasOwnRecords, let place = rule.records.first,
            let root = try? JSONTree(parsing: reply, what: asked), place.values(in: root) == [.null]
        else { return }
        throw BridgeError(
            .remote, "\(asked): the mutation's reply has null at \(place)",
            remedy: "read what the reply says beside it",
            location: response.location, remote: String(response.redactor.clean(root.json).prefix(500)))
    }

    // MARK: where

    private func target() throws -> HTTPURL {
        let isItem = request.operation != .create || rule.method == "PUT"
        var text: String
        if let path = rule.path {
            // Without its key an optional part would go, and the path be that of the listing.
            let isKeyless = isItem && path.names.contains { isOfKey($0) && value($0) == nil }
            guard !isKeyless, let expanded = try path.expand(value) else { throw unresolved(path) }
            text = expanded
        } else {
            guard let listing = try rule.listing.expand(value) else { throw unresolved(rule.listing) }
            text = listing
            if isItem, rule.mutation == nil {
                let key = try appendedKey()
                // Django and others have a slash at the end of each path, and know none without.
                let end = (text.isEmpty ? base.text : text).hasSuffix("/") ? "/" : ""
                while text.hasSuffix("/") { text.removeLast() }
                text += "/" + HTTPURL.encode(key) + end
            }
        }
        guard !text.contains("://"), let url = base.appending(path: text) else {
            throw BridgeError(
                .configuration, "\(asked): its path \"\(text)\" does not fit below url", remedy: "write the path alone")
        }
        return url.setting(query: filled(rule.query))
    }

    /// The key where it becomes the path's last segment.
    private func appendedKey() throws -> String {
        guard request.key.names.count == 1 else {
            throw BridgeError(
                .configuration,
                "\(asked): its path does not follow from a key of \(request.key.names.count) parts",
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

    /// Query parameters or header fields with the values of their variables; one whose variable has none is left out.
    private func filled(_ pairs: [(name: String, value: String)]) -> [(name: String, value: String)] {
        pairs.compactMap { name, text in ValueTemplate.expand(text, variables).map { (name: name, value: $0) } }
    }

    /// `key` alone is the key where it has one part; what the listing's path takes from `since` has no value here.
    private func value(_ name: String) -> String? {
        if name == "key" {
            guard request.key.names.count == 1, let only = request.key.names.first else { return nil }
            return request.key.string(only).flatMap { $0.isEmpty ? nil : $0 }
        }
        return variables.value(name)
    }

    private func unresolved(_ path: PathTemplate) -> BridgeError {
        let missing =
            path.names.first { isOfKey($0) && value($0) == nil } ?? path.names.first { value($0) == nil } ?? ""
        return BridgeError(
            .configuration, "\(asked): {\(missing)} of the path \(path) has no value",
            remedy: "use {key}, {key.NAME}, {object.NAME} or {parent.NAME}")
    }

    // MARK: exchange

    private func send(
        _ url: HTTPURL, _ body: (bytes: [UInt8], mediaType: String)?, etag: String?
    ) throws -> (HTTPResponse, HTTPExchange) {
        var http = HTTPRequest(method: rule.method, url: url.text, headers: filled(rule.headers), body: body?.bytes)
        func set(_ name: String, _ value: String) {
            if !http.headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
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
            // A path that leads nowhere was carried out by nobody.
            throw exchange.wasSent && error.code != .configuration ? unknown(error) : error
        }
    }

    /// What to say where the remote may have done it.
    private func unknown(_ error: BridgeError) -> BridgeError {
        if rule.isIdempotent {
            var error = error
            error.isRetryable = true
            return error
        }
        return BridgeError(
            .timeout, "\(error.message); the request was sent, and nothing tells whether the remote carried it out",
            remedy: "look at the remote before it is sent again", location: error.location, remote: error.remote)
    }

    /// A status that is no success.
    ///
    /// A server that was too busy did nothing; a gateway does not know what was done.
    private func refusal(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> BridgeError {
        var error = try exchange.statusError(asked: asked)
        switch response.status {
        case 408, 502, 504: return unknown(error)
        case 425, 429, 503: break
        case 428:
            error.code = .conflict
            error.remedy = "set write.if_match to the attribute that holds the object's ETag"
        default: error.isRetryable = rule.isIdempotent && error.isRetryable
        }
        return error
    }

    /// The object as the remote has it now, and its ETag.
    private func read(_ url: HTTPURL) throws -> (object: JSONTree, etag: String?) {
        let http = HTTPRequest(url: url.text, headers: [(name: "Accept", value: rule.accept)])
        let exchange = client.start(http)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            throw try exchange.statusError(asked: "reading before \(asked)")
        }
        guard let object = record(in: try exchange.body()) else {
            throw BridgeError(
                .malformed, "reading before \(asked): the reply holds no object",
                remedy: "set write.update.records, or format: json to send what changed alone",
                location: response.location)
        }
        return (object, response.header("etag"))
    }

    // MARK: answer

    /// Some say with status 200 that nothing was done.
    private func checkDisguise(_ reply: [UInt8], _ response: HTTPResponse) throws {
        let body = HTTPExchange.PaddedBody(reply)
        guard !reply.isEmpty, let survey = ReplySurvey(body), !survey.isArray,
            let failure = DisguisedFailure(survey, isSingleObject: true)
        else { return }
        let rules = try request.section.objects("responses").map(ResponseRule.init)
        guard !rules.contains(where: { $0.path?.description == failure.path }) else { return }
        throw failure.error(asked: asked, response: response, body: body, isWrite: true)
    }

    /// The one object of a reply; nil where there is none.
    private func record(in body: [UInt8]) -> JSONTree? {
        guard !body.isEmpty, let root = try? JSONTree(parsing: body, what: asked) else { return nil }
        for path in rule.records {
            var found = path.values(in: root)
            if found.count == 1, case .array(let elements) = found[0] { found = elements }
            if found.count == 1, found[0].isObject { return found[0] }
        }
        return nil
    }

    /// A record with nothing but the key that a reply tells at `reply_key`.
    private func keyed(_ reply: [UInt8]) -> JSONTree? {
        guard request.operation == .create, let path = rule.replyKey, let field = rule.keyField,
            let root = try? JSONTree(parsing: reply, what: asked), let key = path.values(in: root).first
        else { return nil }
        switch key {
        case .text, .number:
            var record = JSONTree.object([])
            record.set(key, at: field[...])
            return record
        case .null, .bool, .array, .object: return nil
        }
    }

    /// What Location says of a new object: its key, or the object that it leads to.
    private func created(_ response: HTTPResponse) -> JSONTree? {
        guard let location = response.header("location"), let sent = HTTPURL(response.url),
            let url = HTTPURL(location, relativeTo: sent)
        else { return nil }
        if let field = rule.keyField {
            guard let last = url.lastPathSegment else { return nil }
            var record = JSONTree.object([])
            record.set(Int64(last).map { String($0) == last } == true ? .number(last) : .text(last), at: field[...])
            return record
        }
        var http = HTTPRequest(url: url.text, headers: [(name: "Accept", value: rule.accept)])
        http.sendsCredentials = url.origin == base.origin
        let exchange = client.start(http)
        guard let reply = try? exchange.response(), (200..<300).contains(reply.status) else { return nil }
        return (try? exchange.body()).flatMap(record(in:))
    }
}

extension JSONPath {
    /// What the path leads to in a value.
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
