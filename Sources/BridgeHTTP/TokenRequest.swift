internal import BridgeKit

/// What a token endpoint, or a login, has granted.
struct TokenAnswer: Sendable {
    var credential: Credential
    /// The token in the credential; nil if cookies are the credential.
    var token: String?
    /// Seconds for which the credential is valid; nil if the server does not say.
    var lifetime: Double?
    /// The refresh token for the next request, if the server sent another one.
    var refreshToken: String?

    init(_ credential: Credential, token: String? = nil, lifetime: Double? = nil, refreshToken: String? = nil) {
        self.credential = credential
        self.token = token
        self.lifetime = lifetime
        self.refreshToken = refreshToken
    }

    /// Returns how many seconds before its end a credential of a lifetime counts as expired.
    static func margin(_ lifetime: Double) -> Double { min(15, lifetime / 4) }
}

/// An answer of a token endpoint that grants nothing.
struct TokenRefusal: Error {
    let error: BridgeError
    /// Whether the refresh token, or the code or password, is invalid, expired or revoked (RFC 6749, section 5.2).
    let isInvalidGrant: Bool
}

/// Requests a token.
struct TokenRequest: Sendable {
    let grant: TokenGrant
    let redactor: HTTPRedactor

    /// Makes the request and reads the reply.
    ///
    /// - Parameters:
    ///   - send: Makes a request without credentials.
    ///   - refreshToken: The refresh token of an earlier answer; nil to begin with the configured credentials.
    /// - Throws: ``TokenRefusal`` for a complete reply that grants nothing; ``BridgeError`` without one.
    func answer(_ send: (HTTPRequest) -> HTTPExchange, refreshToken: String?) throws -> TokenAnswer {
        guard let request = try grant.request(refreshToken: refreshToken) else {
            throw BridgeError(.configuration, "auth has no URL to get a token from", remedy: "set auth.token_url")
        }
        let what = if case .login = grant.kind { "the login" } else { "the token request" }
        let exchange = send(request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            let body = exchange.bodyPrefix(RemoteMessage.longest + RemoteMessage.margin)
            var error = HTTPStatusError.make(response, bodyPrefix: body, asked: what)
            if [400, 401, 403].contains(response.status) {
                error.code = .authentication
                error.isRetryable = false
                error.remedy = "check the option auth"
            }
            throw TokenRefusal(
                error: error, isInvalidGrant: JSONDocument(body)?.text(at: "$.error") == "invalid_grant")
        }
        let body = exchange.bodyPrefix(1 << 20)
        if case .login(let login) = grant.kind, login.tokenPath == nil {
            let cookies = response.all("set-cookie").compactMap { $0.split(separator: ";").first.map(String.init) }
            guard !cookies.isEmpty else {
                throw BridgeError(
                    .authentication, "the login sets no cookie",
                    remedy: "set auth.token_path if it answers with a token",
                    location: response.location)
            }
            redactor.learn(cookies.compactMap { $0.split(separator: "=", maxSplits: 1).last.map(String.init) })
            let cookie = Credential.Field(name: "Cookie", value: cookies.joined(separator: "; "))
            return TokenAnswer(Credential(headers: [cookie]), lifetime: grant.lifetime.map(Double.init))
        }
        var path = "$.access_token"
        if case .login(let login) = grant.kind, let own = login.tokenPath { path = own }
        let document = JSONDocument(body)
        guard let token = document?.text(at: path), !token.isEmpty else {
            let words = document?.text(at: "$.error_description") ?? document?.text(at: "$.error")
            throw BridgeError(
                words == nil ? .malformed : .authentication, "\(what): the reply has no token at \(path)",
                remedy: "check the option auth", location: response.location, remote: words.map(redactor.clean(_:)))
        }
        let lifetime = document?.text(at: "$.expires_in").flatMap { Double($0) }
        return TokenAnswer(
            grant.credential(token), token: token, lifetime: lifetime ?? grant.lifetime.map(Double.init),
            refreshToken: SavedLogin.refreshToken(in: document))
    }
}
