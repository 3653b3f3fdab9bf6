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
        let login: TokenGrant.Login? = if case .login(let own) = grant.kind { own } else { nil }
        let keepsCookies = login?.keepsCookies == true
        let what = login == nil ? "the token request" : "the login"
        let exchange = send(request)
        let response = try Self.response(of: exchange)
        // The page to which a login leads may be missing.
        let isMissing = response.status == 404 && response.url != request.url
        let isAnswer =
            (302...303).contains(response.status)
            || isMissing && !LoginCookies(response.all("set-cookie")).isEmpty
        if keepsCookies, isAnswer { return try cookieAnswer(response) }
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
        if keepsCookies { return try cookieAnswer(response) }
        let path = login?.tokenPath ?? "$.access_token"
        let document = JSONDocument(body)
        guard let token = document?.text(at: path)?[...].trimming(\.isWhitespace), !token.isEmpty else {
            let words = document?.text(at: "$.error_description") ?? document?.text(at: "$.error")
            let isForm = response.mediaType == "application/x-www-form-urlencoded"
            throw BridgeError(
                words == nil ? .malformed : .authentication, "\(what): the reply has no token at \(path)",
                remedy: isForm
                    ? "the reply is form-encoded, and bmo reads tokens from JSON alone: have the server answer in JSON"
                    : "check the option auth",
                location: response.location, remote: words.map(redactor.clean(_:)))
        }
        if let unfit = HTTPRequest.unfit(in: token) {
            throw BridgeError(
                .malformed, "\(what): the token contains \(unfit)", remedy: "have the server of the token checked",
                location: response.location)
        }
        let lifetime = document?.text(at: "$.expires_in").flatMap { Double($0) }
        return TokenAnswer(
            grant.credential(token), token: token, lifetime: lifetime ?? grant.lifetime.map(Double.init),
            refreshToken: SavedLogin.refreshToken(in: document))
    }

    /// Returns the head of the reply.
    ///
    /// - Throws: ``BridgeError``; one of a proxy says nothing of the token, unlike one of the server.
    private static func response(of exchange: HTTPExchange) throws -> HTTPResponse {
        do {
            return try exchange.response()
        } catch var error as BridgeError where !exchange.wasSent {
            if [.authentication, .permission].contains(error.code) { error.code = .unreachable }
            throw error
        }
    }

    /// Returns the answer of a login whose cookies are the credential.
    private func cookieAnswer(_ response: HTTPResponse) throws -> TokenAnswer {
        let cookies = LoginCookies(response.all("set-cookie"))
        guard !cookies.isEmpty else {
            let isRedirect = (300..<400).contains(response.status) || response.url != grant.url?.text
            throw BridgeError(
                .authentication,
                isRedirect ? "the login redirects and sets no cookie" : "the login sets no cookie",
                remedy: isRedirect
                    ? "check the user and the password, and the names of their fields (auth.body)"
                    : "set auth.token_path if it answers with a token",
                location: response.location,
                remote: isRedirect ? response.header("location").map(redactor.clean(url:)) : nil)
        }
        redactor.learn(cookies.secrets)
        let cookie = Credential.Field(name: "Cookie", value: cookies.field)
        return TokenAnswer(Credential(headers: [cookie]), lifetime: grant.lifetime.map(Double.init))
    }
}
