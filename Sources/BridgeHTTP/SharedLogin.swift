internal import BridgeKit
internal import Glibc
internal import SystemCalls
internal import TextFormats

/// A login with a refresh token that all processes of a database share.
///
/// Many servers replace a refresh token with each use, and revoke all tokens of a login if an old one is used again. So only
/// the process that has the lock requests a token, and saves the new ones before it gives the lock back; the others then
/// read them.
///
/// What is saved is encrypted with the configured refresh token, and found under a name made of it and of the address of
/// the token endpoint: another token in the configuration begins another login. Another scope does not, since it is the
/// same refresh token that would be used again; it only has tokens for the API of its own.
final class SharedLogin: Sendable {
    private let grant: TokenGrant
    private let configured: String
    private let name: String
    /// The name under which earlier versions saved the login, one for each client and scope.
    private let formerName: String
    /// The name of the tokens for the API that requests with these options may use.
    private let use: String
    private let seal: TextSeal
    private let redactor: HTTPRedactor
    private let context: BridgeContext
    /// A login that could not be saved, and the text that it should have replaced.
    private let unsaved = Mutex<(text: String?, login: SavedLogin)?>(nil)

    private static let advice = "authorize bmo again, and put the new refresh token where auth.refresh_token is read"

    /// Creates the login; nil if the grant is of another kind, or the host keeps no texts.
    init?(_ grant: TokenGrant, redactor: HTTPRedactor, context: BridgeContext) {
        let url = grant.url?.text ?? ""
        let address = url.prefix { $0 != "?" }
        let (client, scope) = (grant.clientID ?? "", grant.scope ?? "")
        let further = grant.parameters.map { "\($0.name)=\($0.value)" }
        let uses = ([url, client, scope, grant.audience ?? ""] + further).joined(separator: "\n")
        // A replay makes no requests.
        guard case .refreshToken(let configured) = grant.kind, context.sharesTexts,
            context.exchange?.isReplaying != true, let seal = TextSeal(secret: configured),
            let name = seal.name(for: "the login at \(address)"),
            let formerName = seal.name(for: "\(url) \(client) \(scope)"), let use = seal.name(for: uses)
        else { return nil }
        self.grant = grant
        self.configured = configured
        self.name = name
        self.formerName = formerName
        self.use = use
        self.seal = seal
        self.redactor = redactor
        self.context = context
    }

    /// Returns the token of another process, or requests one.
    ///
    /// - Parameter stale: A credential that the remote has refused.
    func answer(
        replacing stale: Credential?, from request: TokenRequest, _ send: (HTTPRequest) -> HTTPExchange
    ) throws -> TokenAnswer {
        try context.withSharedText(name) { text in
            var login = try saved(in: &text)
            learn(login)
            if let known = usable(login, replacing: stale) { return known }
            let earlier = login.request
            login.request = Self.requester
            try save(login, in: &text)
            do {
                var answer = try ask(login.refreshToken, request, send)
                // The same one, if the server did not send another.
                answer.refreshToken = answer.refreshToken ?? login.refreshToken
                keep(answer, of: login, in: &text)
                return answer
            } catch let refusal as TokenRefusal {
                // The server answered, so no other answer has got lost since.
                login.request = earlier
                try save(login, in: &text)
                throw explained(refusal, earlier)
            } catch let error as BridgeError where error.code == .unreachable {
                login.request = earlier
                try save(login, in: &text)
                throw error
            }
        }
    }

    /// Requests a token; with the configured refresh token, if the server has forgotten the newest one.
    private func ask(
        _ refreshToken: String, _ request: TokenRequest, _ send: (HTTPRequest) -> HTTPExchange
    ) throws -> TokenAnswer {
        do {
            return try request.answer(send, refreshToken: refreshToken)
        } catch let refusal as TokenRefusal where refusal.isInvalidGrant && refreshToken != configured {
            guard let answer = try? request.answer(send, refreshToken: nil) else { throw refusal }
            return answer
        }
    }

    private func usable(_ login: SavedLogin, replacing stale: Credential?) -> TokenAnswer? {
        // A recording has to begin with a request for the token.
        guard let known = login.token(for: use), context.exchange == nil else { return nil }
        let credential = grant.credential(known.token)
        guard credential != stale else { return nil }
        let left = known.expiry.map { $0 - Self.now }
        if let left, left <= 1 { return nil }
        return TokenAnswer(credential, token: known.token, lifetime: left, refreshToken: login.refreshToken)
    }

    // MARK: - Saving

    private func saved(in text: inout SharedText) throws -> SavedLogin {
        let last = unsaved.withLock { $0 }
        if let last, last.text == text.value {
            // It stays in memory until it is saved: there is no other copy.
            try save(last.login, in: &text)
            unsaved.withLock { $0 = nil }
            return last.login
        }
        unsaved.withLock { $0 = nil }
        if let value = text.value { return opened(value) ?? SavedLogin(refreshToken: configured) }
        guard let former = try context.withSharedText(formerName, { $0.value.flatMap(opened) }) else {
            return SavedLogin(refreshToken: configured)
        }
        try save(former, in: &text)
        return former
    }

    private func opened(_ text: String) -> SavedLogin? { seal.open(text).flatMap { SavedLogin(json: $0) } }

    private func save(_ login: SavedLogin, in text: inout SharedText) throws {
        guard let sealed = seal.seal(login.json) else { throw BridgeError(.internal, "a login cannot be encrypted") }
        try text.save(sealed)
    }

    /// Saves an answer; if that fails, keeps it in memory until the next request for a token.
    private func keep(_ answer: TokenAnswer, of login: SavedLogin, in text: inout SharedText) {
        var login = login
        login.refreshToken = answer.refreshToken ?? login.refreshToken
        login.request = nil
        if let token = answer.token {
            let expiry = answer.lifetime.map { Self.now + $0 - TokenAnswer.margin($0) }
            login.keep(SavedLogin.Token(use: use, token: token, expiry: expiry))
        }
        learn(login)
        do {
            try save(login, in: &text)
        } catch {
            unsaved.withLock { $0 = (text.value, login) }
            let reason = (error as? BridgeError)?.message ?? "\(error)"
            context.log(
                .error,
                "the new refresh token is in memory only, because it cannot be saved: \(redactor.clean(reason)); if bmo ends now, \(Self.advice)"
            )
        }
    }

    private func learn(_ login: SavedLogin) {
        let secrets = [login.refreshToken] + login.tokens.map(\.token)
        redactor.learn(secrets)
        for secret in secrets { context.exchange?.hide(secret: secret) }
    }

    // MARK: - Messages

    private func explained(_ refusal: TokenRefusal, _ earlier: String?) -> BridgeError {
        var error = refusal.error
        guard error.code == .authentication, refusal.isInvalidGrant else { return error }
        error.message += ": the refresh token is not valid any more"
        if let earlier {
            error.message +=
                "; \(earlier) requested a new one, and ended before it could save the answer"
        }
        error.remedy = Self.advice
        return error
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// This process, and the time.
    private static var requester: String {
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return "process \(getpid()) on \(host) (\(Timestamp.text(microseconds: Int64(now * 1e6))))"
    }
}
