internal import BridgeKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The way to obtain a token: an OAuth 2.0 grant (RFC 6749, RFC 7523), a token that we sign ourselves, or a login
/// request.
struct TokenGrant: Sendable {
    enum Kind: Sendable {
        case clientCredentials
        case refreshToken(String)
        case password(user: String, password: String)
        /// RFC 7523, section 2.1: a signed assertion instead of a secret.
        case assertion(WebToken)
        /// The signed token is the credential itself.
        case signed(WebToken)
        case login(Login)
    }

    /// A request whose reply holds a token, or sets cookies.
    struct Login: Sendable {
        var method: String
        var headers: [(name: String, value: String)]
        var body: [UInt8]
        var mediaType: String
        /// The path of the token in the reply; nil: the session's cookies are the credential.
        var tokenPath: String?

        /// Whether cookies are the credential: many a form leads to the page behind the login, and sets them with the
        /// redirect.
        var keepsCookies: Bool { tokenPath == nil }
    }

    enum ClientAuthentication: String, CaseIterable, Sendable {
        case basic, body, none
    }

    var kind: Kind
    /// The token endpoint; nil for tokens that we sign.
    var url: HTTPURL?
    var clientID: String?
    var clientSecret: String?
    var clientAuthentication = ClientAuthentication.basic
    var scope: String?
    var audience: String?
    /// Further form fields.
    var parameters: [(name: String, value: String)] = []
    /// The header that carries the token, and the prefix of its value.
    var header = "Authorization"
    var scheme = "Bearer"
    /// Seconds after which a token is renewed if the reply does not say.
    var lifetime: Int?

    /// Returns the request for a token; nil if none is needed.
    func request(refreshToken: String?) throws -> HTTPRequest? {
        guard let url else { return nil }
        if case .login(let login) = kind {
            var request = HTTPRequest(method: login.method, url: url.text, headers: login.headers)
            request.keepsCookies = login.keepsCookies
            if login.method != "GET" {
                request.body = login.body
                request.headers.append((name: "Content-Type", value: login.mediaType))
            }
            request.headers.append((name: "Accept", value: "application/json, */*"))
            return request
        }
        var form: [(String, String)] = []
        switch kind {
        case _ where refreshToken != nil:
            form = [("grant_type", "refresh_token"), ("refresh_token", refreshToken ?? "")]
        case .clientCredentials: form = [("grant_type", "client_credentials")]
        case .refreshToken(let token): form = [("grant_type", "refresh_token"), ("refresh_token", token)]
        case .password(let user, let password):
            form = [("grant_type", "password"), ("username", user), ("password", password)]
        case .assertion(let token):
            form = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", try token.signed(now: Int(time(nil)), id: Self.randomID(), audience: url.text)),
            ]
        case .signed, .login: return nil
        }
        if let scope { form.append(("scope", scope)) }
        if let audience { form.append(("audience", audience)) }
        form += parameters.map { ($0.name, $0.value) }
        var request = HTTPRequest(method: "POST", url: url.text)
        request.headers = [
            (name: "Content-Type", value: "application/x-www-form-urlencoded"),
            (name: "Accept", value: "application/json"),
        ]
        if let clientID {
            switch clientAuthentication {
            case .basic where clientSecret != nil:
                // RFC 6749, section 2.3.1: both are form-encoded before they are joined.
                let pair = HTTPURL.encode(clientID) + ":" + HTTPURL.encode(clientSecret ?? "")
                request.headers.append((name: "Authorization", value: HTTPAuthentication.basicValue(pair)))
            case .basic, .none: form.append(("client_id", clientID))
            case .body:
                form.append(("client_id", clientID))
                if let clientSecret { form.append(("client_secret", clientSecret)) }
            }
        }
        request.body = Array(form.map { HTTPURL.encode($0.0) + "=" + HTTPURL.encode($0.1) }.joined(separator: "&").utf8)
        return request
    }

    /// All secrets of the grant.
    var secrets: [String] {
        var secrets = [clientSecret].compactMap(\.self)
        switch kind {
        case .refreshToken(let token): secrets.append(token)
        case .password(_, let password): secrets.append(password)
        case .assertion(let token), .signed(let token): secrets.append(token.key)
        case .login, .clientCredentials: break
        }
        return secrets
    }

    /// Returns the credential that a token makes.
    func credential(_ token: String) -> Credential {
        let value = scheme.isEmpty ? token : "\(scheme) \(token)"
        return Credential(headers: [Credential.Field(name: header, value: value)])
    }

    static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
    }
}
