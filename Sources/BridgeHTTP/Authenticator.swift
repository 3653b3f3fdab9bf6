internal import BridgeKit
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Obtains and caches a client's credential: one request fetches it, and all other requests wait for it.
///
/// Calls block until the credential is available; tokens live only in memory.
final class Authenticator: Sendable {
    private struct State {
        var credential: Credential?
        /// Monotonic seconds after which the credential is renewed.
        var expiry = Double.infinity
        var refreshToken: String?
        var isBusy = false
    }

    private let grant: TokenGrant
    private let redactor: HTTPRedactor
    private let state = Monitor(State())
    /// Seconds before its expiry from which a token counts as expired.
    private static let margin = 15.0

    private let tape: ExchangeTape?

    init(_ grant: TokenGrant, redactor: HTTPRedactor, tape: ExchangeTape? = nil) {
        self.tape = tape
        self.grant = grant
        self.redactor = redactor
    }

    /// Returns the credential, which is fetched if there is none, or if the present one equals `stale`.
    ///
    /// - Parameters:
    ///   - stale: A credential that the remote has refused.
    ///   - send: Makes a request without credentials.
    /// - Throws: ``BridgeError`` if the remote grants none.
    func credential(replacing stale: Credential? = nil, send: (HTTPRequest) -> HTTPExchange) throws -> Credential {
        let known = state.wait { state -> Credential?? in
            if state.isBusy { return nil }
            if let credential = state.credential, credential != stale, state.expiry > now {
                return .some(credential)
            }
            state.isBusy = true
            return .some(nil)
        }
        if let known { return known }
        do {
            let (credential, lifetime, refreshToken) = try get(send, refreshToken: state.withLock { $0.refreshToken })
            redactor.learn(
                credential.headers.flatMap { [$0.value, String($0.value.split(separator: " ").last ?? "")] })
            if let refreshToken { redactor.learn([refreshToken]) }
            state.withLock { state in
                state.isBusy = false
                state.credential = credential
                state.expiry = lifetime.map { now + max(1, $0 - min(Self.margin, $0 / 4)) } ?? .infinity
                state.refreshToken = refreshToken ?? state.refreshToken
            }
            state.signal()
            return credential
        } catch {
            state.withLock { state in
                state.isBusy = false
                state.credential = nil
                // A server that was only busy still takes the token, which may be the last of its chain.
                if (error as? BridgeError)?.code == .authentication { state.refreshToken = nil }
            }
            state.signal()
            throw error
        }
    }

    /// The current credential.
    var current: Credential? { state.withLock { $0.credential } }

    /// In a replay, the recording's time: tokens expire when they expired then.
    private var now: Double {
        tape?.seconds ?? MonotonicClock.seconds
    }

    private func get(
        _ send: (HTTPRequest) -> HTTPExchange, refreshToken: String?
    ) throws -> (Credential, lifetime: Double?, refreshToken: String?) {
        if case .signed(let token) = grant.kind {
            let text = try token.signed(now: Int(time(nil)), id: TokenGrant.randomID())
            // No reply holds this token, so the recording would not know that it is secret.
            tape?.hide(secret: text)
            return (credential(text), Double(token.lifetime), nil)
        }
        do {
            return try ask(send, refreshToken: refreshToken)
        } catch let error as BridgeError {
            // The refresh token has expired: start over with the configured credentials.
            guard refreshToken != nil, error.code == .authentication else { throw error }
            return try ask(send, refreshToken: nil)
        }
    }

    private func ask(
        _ send: (HTTPRequest) -> HTTPExchange, refreshToken: String?
    ) throws -> (Credential, lifetime: Double?, refreshToken: String?) {
        guard let request = try grant.request(refreshToken: refreshToken) else {
            throw BridgeError(.configuration, "auth has no URL to get a token from", remedy: "set auth.token_url")
        }
        let what = if case .login = grant.kind { "the login" } else { "the token request" }
        let exchange = send(request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            var error = try exchange.statusError(asked: what)
            if [400, 401, 403].contains(response.status) {
                error.code = .authentication
                error.isRetryable = false
                error.remedy = "check the option auth"
            }
            throw error
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
            return (Credential(headers: [cookie]), grant.lifetime.map(Double.init), nil)
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
        return (
            credential(token), lifetime ?? grant.lifetime.map(Double.init), document?.text(at: "$.refresh_token")
        )
    }

    private func credential(_ token: String) -> Credential {
        let value = grant.scheme.isEmpty ? token : "\(grant.scheme) \(token)"
        return Credential(headers: [Credential.Field(name: grant.header, value: value)])
    }
}
