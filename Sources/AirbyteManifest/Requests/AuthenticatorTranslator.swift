internal import Model

/// Translates an authenticator into the options of a bridge.
struct AuthenticatorTranslator {
    let bridge: BridgeDraft
    let inputs: Inputs

    func apply(_ component: ConfigValue?, _ scope: Scope) throws {
        guard let component, component != .null else { return }
        let scope = scope.with(component)
        switch component.type {
        case "NoAuth", nil: return
        case "BearerAuthenticator":
            set("bearer", [("token", try credential(component["api_token"], secret: "token", scope))])
        case "BasicHttpAuthenticator":
            set(
                "basic",
                [
                    ("user", try credential(component["username"], scope)),
                    ("password", try credential(component["password"] ?? "", secret: "password", scope)),
                ])
        case "ApiKeyAuthenticator": try key(component, scope)
        case "OAuthAuthenticator": try oauth(component, scope)
        case "SelectiveAuthenticator": try select(component, scope)
        case "JwtAuthenticator": try jwt(component, scope)
        case "SessionTokenAuthenticator": try session(component, scope)
        default:
            let name = component["class_name"]?.string ?? component.type ?? ""
            throw Untranslatable("it authenticates with \(name), which is custom Python")
        }
    }

    private func set(_ type: String, _ members: [(key: String, value: ConfigValue)]) {
        bridge.auth = [("type", .string(type))] + members
    }

    /// Returns the value of a credential: a reference to the environment, or a known text.
    ///
    /// - Parameter secret: The environment variable's name for a secret, which a configuration must not contain.
    private func credential(_ value: ConfigValue?, secret: String? = nil, _ scope: Scope) throws -> ConfigValue {
        let template = try Template(value?.printed ?? "", scope)
        if case .input(let input)? = template.expression { return bridge.reference(to: input) }
        if let secret, let known = template.known, known != .null, known != "" {
            let reference = bridge.reference(toLiteral: known.printed, ["authentication", secret])
            bridge.note("the connector has the \(secret) of its authentication itself: give it in this variable")
            return reference
        }
        if let known = template.known { return .string(known == .null ? "" : known.printed) }
        if case .conditional(_, let yes, _)? = template.expression, case .input(let input) = yes {
            return bridge.reference(to: input)
        }
        let shown = secret == nil ? value?.printed ?? "" : secret ?? ""
        throw Untranslatable("only Python can compute its credential \(shown)")
    }

    /// Returns a text that contains parameters of the bridge.
    private func text(_ value: ConfigValue?, _ scope: Scope) throws -> String {
        let text = SliceText(draft: EntityDraft(stream: ""), bridge: bridge)
        return try text.text(try Template(value?.printed ?? "", scope), in: .header)
    }

    private func key(_ component: ConfigValue, _ scope: Scope) throws {
        let place =
            try component["inject_into"].map { try RequestPlace($0, scope) }
            ?? .header(try Template(component["header"]?.printed ?? "", scope).known?.printed ?? "")
        let template = try Template(component["api_token"]?.printed ?? "", scope)
        let parts = template.parts
        // `Token {{ config.key }}` is a scheme and a key.
        if case .header(let header) = place, parts.count == 2, case .text(let prefix) = parts[0],
            case .expression(.input(let input)) = parts[1], prefix.hasSuffix(" "),
            !prefix.dropLast().contains(" ")
        {
            set(
                "api_key",
                [
                    ("header", .string(header)), ("scheme", .string(String(prefix.dropLast()))),
                    ("value", bridge.reference(to: input)),
                ])
            return
        }
        let value = try? credential(component["api_token"], secret: "api_key", scope)
        switch (place, value) {
        case (.header(let name), let value?): set("api_key", [("header", .string(name)), ("value", value)])
        case (.query(let name), let value?): set("api_key", [("query", .string(name)), ("value", value)])
        default:
            guard let known = template.known, known != .null, known != "" else {
                bridge.injections.append((place, try text(component["api_token"], scope)))
                return
            }
            let path = ["authentication", "api_key"]
            let name = bridge.parameter(forLiteral: known.printed, path, or: path)
            bridge.injections.append((place, "{\(name)}"))
        }
    }

    private func select(_ component: ConfigValue, _ scope: Scope) throws {
        let path = (component["authenticator_selection_path"]?.array ?? []).map(\.printed)
        let options = component["authenticators"]?.members ?? []
        var chosen = options.first
        if case .known(let value)? = inputs.value(at: path),
            let found = options.first(where: { $0.key == value.printed })
        {
            chosen = found
        }
        guard let chosen else { throw Untranslatable("it names no authenticator") }
        let others = options.filter { $0.key != chosen.key }.map(\.key)
        if !others.isEmpty {
            bridge.note(
                "authentication \(chosen.key); others by --set \(path.joined(separator: "."))=\(others.joined(separator: " or "))"
            )
        }
        try apply(chosen.value, scope)
    }

    private func oauth(_ component: ConfigValue, _ scope: Scope) throws {
        let grant = try Template(component["grant_type"]?.printed ?? "refresh_token", scope).known?.printed
        var members: [(key: String, value: ConfigValue)] = []
        guard let endpoint = component["token_refresh_endpoint"] else {
            guard let token = component["access_token_value"] else {
                throw Untranslatable("its OAuth has no token_refresh_endpoint")
            }
            set("bearer", [("token", try credential(token, secret: "token", scope))])
            return
        }
        guard let url = try Template(endpoint.printed, scope).known?.printed else {
            throw Untranslatable("the address \(endpoint.printed) needs --set")
        }
        guard url.contains("://") else {
            throw Untranslatable("its token_refresh_endpoint \(endpoint.printed) is not a URL")
        }
        members.append(("token_url", .string(url)))
        members.append(("client_id", try credential(component["client_id"], scope)))
        members.append(("client_secret", try credential(component["client_secret"], secret: "client_secret", scope)))
        if let token = component["refresh_token"], grant != "client_credentials" {
            members.append(("grant", "refresh_token"))
            members.append(("refresh_token", try credential(token, secret: "refresh_token", scope)))
        } else if let grant, !["client_credentials", "refresh_token"].contains(grant) {
            throw Untranslatable("bmo does not support the OAuth grant \(grant)")
        }
        let headers = component["refresh_request_headers"]?.members ?? []
        let isBasic = headers.contains { $0.key.lowercased() == "authorization" }
        members.append(("client_auth", isBasic ? "basic" : "body"))
        let scopes = (component["scopes"]?.array ?? []).map(\.printed)
        var extra: [(key: String, value: ConfigValue)] = []
        // Airbyte does not send them as `scope`.
        if !scopes.isEmpty {
            extra.append(("scopes", scopes.count == 1 ? .string(scopes[0]) : .array(scopes.map { .string($0) })))
        }
        for (name, value) in component["refresh_request_body"]?.members ?? [] {
            let known = try Template(value.printed, scope)
            if name == "grant_type" || name == "scopes" && !scopes.isEmpty { continue }
            guard let text = known.known?.printed else {
                throw Untranslatable("the member \(name) of the token request is known only to Python")
            }
            let isSecret = LiteralCredentials.isParameter(name)
            extra.append((name, isSecret ? try credential(value, secret: name, scope) : .string(text)))
        }
        if !extra.isEmpty { members.append(("parameters", .object(extra))) }
        for (name, value) in headers
        where !["authorization", "content-type", "accept"].contains(name.lowercased()) {
            let shown = LiteralCredentials.shown(value, name)
            bridge.doubt("authentication: the token request does not send the header \(name): \(shown)")
        }
        try checkToken(component)
        set("oauth2", members)
    }

    /// Refuses a token request that bmo cannot send: without its token, no request would be accepted.
    private func checkToken(_ component: ConfigValue) throws {
        let names = [
            "access_token_name", "client_id_name", "client_secret_name", "refresh_token_name", "grant_type_name",
        ]
        for name in names {
            if let value = component[name]?.printed, value != String(name.dropLast("_name".count)) {
                throw Untranslatable(
                    "bmo cannot use another name for a member of the token request or its reply: \(name) is \(value)")
            }
        }
        for name in ["send_refresh_request_as_query_params", "profile_assertion"]
        where component[name]?.isTruthy == true {
            throw Untranslatable("bmo's token request has no counterpart of \(name)")
        }
        if let value = component["expires_in_name"]?.printed, value != "expires_in" {
            bridge.doubt("authentication: bmo reads the token's lifetime from expires_in, Airbyte from \(value)")
        }
        if component["refresh_token_updater"]?.isTruthy == true {
            bridge.doubt(
                "authentication: each token request replaces the refresh token, and Airbyte stores the new one; keep the variable up to date"
            )
        }
    }

    private func jwt(_ component: ConfigValue, _ scope: Scope) throws {
        let algorithm = component["algorithm"]?.printed ?? "HS256"
        guard ["RS256", "HS256", "ES256"].contains(algorithm) else {
            throw Untranslatable("it signs tokens with \(algorithm); bmo has RS256, HS256 and ES256")
        }
        if component["base64_encode_secret_key"]?.isTruthy == true {
            throw Untranslatable("it signs tokens with the base64 form of a secret")
        }
        var members: [(key: String, value: ConfigValue)] = [("algorithm", .string(algorithm))]
        members.append(
            (
                algorithm == "HS256" ? "secret" : "private_key",
                try credential(component["secret_key"], secret: "secret_key", scope)
            ))
        func add(_ name: String, _ value: ConfigValue?) throws {
            guard let value, value != .null else { return }
            guard let known = try Template(value.printed, scope).known else {
                throw Untranslatable("the \(name) of its tokens, \(value.printed), needs --set")
            }
            if known.isTruthy { members.append((name, .string(known.printed))) }
        }
        try add("key_id", component["jwt_headers"]?["kid"])
        try add("issuer", component["jwt_payload"]?["iss"])
        try add("subject", component["jwt_payload"]?["sub"])
        try add("audience", component["jwt_payload"]?["aud"])
        if let seconds = component["token_duration"]?.int { members.append(("lifetime", .int(seconds))) }
        var claims: [(key: String, value: ConfigValue)] = []
        for (name, value) in component["additional_jwt_payload"]?.members ?? [] {
            if let known = try Template(value.printed, scope).known {
                claims.append((name, known))
            } else {
                throw Untranslatable("the claim \(name) of its tokens, \(value.printed), needs --set")
            }
        }
        if !claims.isEmpty { members.append(("claims", .object(claims))) }
        if let prefix = component["header_prefix"]?.string,
            Functions.trimmed(try Template(prefix, scope).known?.printed ?? prefix) != "Bearer"
        {
            throw Untranslatable("its tokens have the prefix \(prefix); bmo sends Bearer")
        }
        for name in ["additional_jwt_headers", "passphrase", "request_option"] where component[name]?.isTruthy == true {
            throw Untranslatable("bmo's signed tokens have no counterpart of \(name)")
        }
        for (name, value) in component["jwt_headers"]?.members ?? []
        where !["kid", "typ", "alg", "type", Parameters.member].contains(name) && value.isTruthy {
            bridge.doubt("authentication: the header \(name) of its tokens is not sent")
        }
        set("jwt", members)
    }

    private func session(_ component: ConfigValue, _ scope: Scope) throws {
        guard let login = component["login_requester"] else { throw Untranslatable("it has no login_requester") }
        let inner = scope.with(login)
        let address = try RequestAddress(login, inner, inputs)
        guard let path = address.below(bridge.url) else {
            throw Untranslatable("it logs in at \(address.base), which is not below \(bridge.url)")
        }
        let parameters = path.drop { $0 != "?" }.dropFirst().split(separator: "&")
        if parameters.contains(where: { LiteralCredentials.isParameter(String($0.prefix { $0 != "=" })) }) {
            throw Untranslatable("its login sends a credential in the query; bmo's login sends a body only")
        }
        if address.user != nil {
            throw Untranslatable("its login is authorized itself (by its URL); bmo's login sends a body only")
        }
        var members: [(key: String, value: ConfigValue)] = [
            ("path", .string(path)), ("method", .string(login["http_method"]?.printed ?? "POST")),
        ]
        let names = (component["session_token_path"]?.array ?? []).map(\.printed)
        members.append(("token_path", .string(RecordsPath.text(names))))
        let isForm = login["request_body_data"] != nil
        let given = (login["request_body_json"] ?? login["request_body_data"] ?? login["request_body"]?["value"])?
            .members
        if let given {
            let body = try given.map { name, value in
                guard value.members == nil, value.array == nil else {
                    throw Untranslatable("\(name) in the body of its login is an object or a list")
                }
                let isSecret = LiteralCredentials.isParameter(name)
                return (name, try credential(value, secret: isSecret ? name : nil, inner))
            }
            members.append(("body", .object(body)))
            members.append(("body_format", isForm ? "form" : "json"))
        }
        if let type = login["authenticator"]?.type, type != "NoAuth" {
            throw Untranslatable("its login is authorized itself (\(type)); bmo's login sends a body only")
        }
        for member in ["request_headers", "request_parameters"] where login[member]?.isTruthy == true {
            throw Untranslatable("its login sends \(member); bmo's login sends a body only")
        }
        if let duration = component["expiration_duration"]?.string, let seconds = ISODuration.seconds(duration) {
            members.append(("lifetime", .int(seconds)))
        }
        let request = component["request_authentication"]
        if request?.type == "ApiKey", let option = request?["inject_into"] {
            guard case .header(let name) = try RequestPlace(option, scope) else {
                throw Untranslatable("its session token goes into the query or the body")
            }
            members.append(("header", .string(name)))
            let token = request?["api_token"]?.string ?? ""
            let scheme = token.split(separator: "{").first.map { Functions.trimmed(String($0)) } ?? ""
            members.append(("scheme", .string(scheme)))
        }
        set("login", members)
    }
}
