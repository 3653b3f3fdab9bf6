internal import BridgeKit
internal import RecordBatch
internal import TextFormats

extension TokenGrant {
    /// - Parameters:
    ///   - type: `oauth2`, `jwt` or `login`.
    ///   - base: The configured URL, against which relative URLs are resolved.
    init(_ options: BridgeOptions, type: String, base: HTTPURL?) throws {
        func missing(_ name: String) -> BridgeError {
            BridgeError(.configuration, "auth.\(name) is missing", remedy: "auth.type \(type) needs it")
        }
        func url(_ name: String) throws -> HTTPURL {
            guard let text = options.string(name) else { throw missing(name) }
            let whole = text.contains("://") ? HTTPURL(text) : base?.appending(path: text)
            // Nothing would be appended, and the secret sent to the API's first page.
            guard let whole, !whole.hasUserInfo, !text.isEmpty else {
                throw BridgeError(
                    .configuration, "auth.\(name) is not an http or https URL",
                    remedy: "write it as https://host/path, or /path")
            }
            return whole
        }
        switch type {
        case "jwt": self.init(kind: .signed(try WebToken(options)))
        case "login":
            let login = try Login(options)
            self.init(kind: .login(login))
            self.url = try url("path")
        default:
            switch options.string("grant") ?? (options.has("refresh_token") ? "refresh_token" : "client_credentials") {
            case "client_credentials":
                guard options.has("client_id") else { throw missing("client_id") }
                self.init(kind: .clientCredentials)
            case "refresh_token":
                guard let token = options.string("refresh_token") else { throw missing("refresh_token") }
                self.init(kind: .refreshToken(token))
            case "password":
                guard let user = options.string("user") else { throw missing("user") }
                self.init(kind: .password(user: user, password: options.string("password") ?? ""))
            case "jwt_bearer": self.init(kind: .assertion(try WebToken(options)))
            case let grant:
                throw BridgeError(
                    .configuration, "auth.grant is \"\(grant)\"",
                    remedy: "use one of: client_credentials, refresh_token, password, jwt_bearer")
            }
            self.url = try url("token_url")
            clientID = options.string("client_id")
            clientSecret = options.string("client_secret")
            if let text = options.string("client_auth") {
                guard let way = ClientAuthentication(rawValue: text) else {
                    throw BridgeError(
                        .configuration, "auth.client_auth is \"\(text)\"", remedy: "use one of: basic, body, none")
                }
                clientAuthentication = way
            }
            // In an assertion, scope and audience are claims.
            if case .assertion = kind {
            } else {
                scope = options.string("scope")
                audience = options.string("audience")
            }
            let further = options.object("parameters")
            parameters = (further?.names ?? []).flatMap { name in
                further?.strings(name).map { (name: name, value: $0) } ?? []
            }
        }
        header = options.string("header") ?? "Authorization"
        scheme = options.string("scheme") ?? (header.lowercased() == "authorization" ? "Bearer" : "")
        if type != "jwt" { lifetime = options.integer("lifetime") }
    }
}

extension TokenGrant.Login {
    init(_ options: BridgeOptions) throws {
        var pairs: [(name: String, json: String, text: String?)] = []
        if let body = options.object("body") {
            for name in body.names {
                pairs.append((name, body.withValue(name) { $0?.json ?? "null" }, body.string(name)))
            }
        } else {
            for (name, value) in [("username", options.string("user")), ("password", options.string("password"))] {
                guard let value else { continue }
                pairs.append((name, value.jsonQuoted, value))
            }
        }
        method = options.string("method") ?? "POST"
        headers = []
        tokenPath = options.string("token_path")
        guard tokenPath?.hasPrefix("$") ?? true else {
            throw BridgeError(
                .configuration, "auth.token_path does not begin with $", remedy: "write it as $.name, or $.data.token")
        }
        if options.string("body_format") == "form" {
            mediaType = "application/x-www-form-urlencoded"
            body = Array(
                pairs.map { HTTPURL.encode($0.name) + "=" + HTTPURL.encode($0.text ?? $0.json) }
                    .joined(separator: "&").utf8)
        } else {
            mediaType = "application/json"
            body = Array(("{" + pairs.map { $0.name.jsonQuoted + ":" + $0.json }.joined(separator: ",") + "}").utf8)
        }
    }
}
