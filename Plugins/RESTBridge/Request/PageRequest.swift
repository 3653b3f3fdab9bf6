internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

extension RESTSection {
    /// Returns the request for a page.
    ///
    /// - Parameters:
    ///   - position: The page's position.
    ///   - page: The URL of the previous page, the base of relative references.
    ///   - delta: The remote's token from an earlier scan.
    /// - Throws: ``BridgeError`` if the remote's next URL is invalid.
    func request(
        at position: PagePosition, after page: HTTPURL?, delta: String?
    ) throws -> (request: HTTPRequest, url: HTTPURL) {
        var target = try url(at: position)
        var fields = headers
        var content = body
        func set(_ parameter: PagingRule.Parameter, _ value: JSONTree) {
            switch parameter {
            case .query(let name): target = target.setting(query: [(name: name, value: value.plainText ?? "")])
            case .header(let name):
                fields.removeAll { $0.name.isSameField(as: name) }
                fields.append((name: name, value: value.plainText ?? ""))
            case .path: break
            case .body(let names):
                var changed = content ?? RequestBody(content: .object([]), format: .json)
                changed.place(value, at: names)
                content = changed
            }
        }
        if let delta, let incremental {
            if let parameter = incremental.parameter {
                set(parameter, .text(delta))
            } else if case .only = position {
                guard let link = HTTPURL(delta, relativeTo: url), !link.hasUserInfo else {
                    throw BridgeError(
                        .malformed, "the stored delta link is not an http or https URL", remedy: "sync with --full")
                }
                target = link
            }
        }
        if let nextURL, position.isCursor {
            target = nextURL
            if method == "POST" {
                content = RequestBody(content: paging.nextBody ?? .object([]), format: content?.format ?? .json)
            }
        }
        if case .url(let text) = position {
            guard let next = HTTPURL(text, relativeTo: page ?? url), !next.hasUserInfo else {
                throw BridgeError(
                    .malformed, "the reply names a next page that is not an http or https URL",
                    remedy: "check paging.path", location: nil)
            }
            target = paging.keepsQuery ? next.adding(queryOf: target) : next
        }
        for (place, value) in paging.parameters(at: position) { set(place, value) }
        var request = HTTPRequest(method: method, url: target.text, headers: fields)
        if let content {
            let encoded = content.encode(variables)
            request.body = encoded.bytes
            request.setDefault("Content-Type", encoded.mediaType)
        }
        return (request, target)
    }

    /// Refuses a request that would send a secret to another origin named by a reply, in a page's URL or a delta link.
    ///
    /// Credentials and header fields are not sent to other origins anyway, but a body would be.
    func checkAbroad(_ request: HTTPRequest, _ target: HTTPURL, _ redactor: HTTPRedactor) throws {
        func refusal(_ what: String) -> BridgeError {
            BridgeError(
                .permission, "the next request is \(what), to another origin than that of url",
                remedy: "set that origin as the bridge's url if you trust it", remote: redactor.clean(url: target.text))
        }
        guard request.body == nil else { throw refusal("a \(request.method) with a body") }
        guard !redactor.holdsSecret(target, named: url) else { throw refusal("a URL with a credential in it") }
    }

    /// The variable with which a GraphQL query takes its cursor: `cursor` in `books(after: $cursor)`.
    var cursorVariable: String? {
        guard preset == .graphQL, let query = body?.content["query"]?.text else { return nil }
        var rest = query[...]
        while let found = rest.firstRange(of: "after") {
            let before = rest[..<found.lowerBound].last
            rest = rest[found.upperBound...]
            let value = rest.drop(while: \.isWhitespace)
            guard before != "$", value.first == ":" else { continue }
            let variable = value.dropFirst().drop(while: \.isWhitespace)
            guard variable.first == "$" else { continue }
            return String(variable.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        }
        return nil
    }

    /// The variables that a GraphQL query declares and the section gives no value: `page` in `query($page: Int)`.
    var openVariables: [String] {
        guard preset == .graphQL, let query = body?.content["query"]?.text else { return [] }
        let given = Set((body?.content["variables"]?.members ?? []).map(\.name))
        let head = query.prefix { $0 != "{" }
        return head.split(separator: "$", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            let name = String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            return name.isEmpty || given.contains(name) ? nil : name
        }
    }

    /// The parameters in a request besides paging, from which detection learns the API's own names.
    var givenParameters: Set<String> {
        var names = Set(url.queryNames)
        func collect(_ value: JSONTree) {
            for member in value.members {
                names.insert(member.name)
                collect(member.value)
            }
        }
        if let body { collect(body.content) }
        return names
    }

    /// The numbers in the request's JSON body, by their names in `paging`.
    ///
    /// Empty for a GraphQL query, whose connections have their own paging.
    var bodyNumbers: [(name: String, value: Int)] {
        guard let body, body.format == .json, preset != .graphQL else { return [] }
        var numbers: [(name: String, value: Int)] = []
        func collect(_ value: JSONTree, _ path: String) {
            for member in value.members {
                let name = path + member.name
                if case .number(let text) = member.value, let number = Int(text)?.clampedPosition {
                    numbers.append((name, number))
                }
                collect(member.value, name + ".")
            }
        }
        collect(body.content, "")
        return numbers
    }
}

extension HTTPRequest {
    /// Sets a header field unless the request already has it.
    mutating func setDefault(_ name: String, _ value: String) {
        guard !headers.contains(where: { $0.name.isSameField(as: name) }) else { return }
        headers.append((name: name, value: value))
    }
}

extension PagePosition {
    fileprivate var isCursor: Bool {
        switch self {
        case .cursor, .json: true
        case .only, .page, .offset, .url: false
        }
    }
}
