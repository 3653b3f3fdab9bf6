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
/// Calls block until the credential is available. Tokens live only in memory, except for those of a ``SharedLogin``.
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
    private let tape: ExchangeTape?
    /// The login that all processes of a database share; nil if this process has one of its own.
    private let login: SharedLogin?

    init(_ grant: TokenGrant, redactor: HTTPRedactor, context: BridgeContext = BridgeContext()) {
        tape = context.exchange
        self.grant = grant
        self.redactor = redactor
        login = SharedLogin(grant, redactor: redactor, context: context)
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
            let answer = try get(send, replacing: stale)
            redactor.learn(
                answer.credential.headers.flatMap { [$0.value, String($0.value.split(separator: " ").last ?? "")] })
            if let refreshToken = answer.refreshToken { redactor.learn([refreshToken]) }
            state.withLock { state in
                state.isBusy = false
                state.credential = answer.credential
                state.expiry = answer.lifetime.map { now + max(1, $0 - TokenAnswer.margin($0)) } ?? .infinity
                state.refreshToken = answer.refreshToken ?? state.refreshToken
            }
            state.signal()
            return answer.credential
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

    private func get(_ send: (HTTPRequest) -> HTTPExchange, replacing stale: Credential?) throws -> TokenAnswer {
        if case .signed(let token) = grant.kind {
            let text = try token.signed(now: Int(time(nil)), id: TokenGrant.randomID())
            // No reply holds this token, so the recording would not know that it is secret.
            tape?.hide(secret: text)
            return TokenAnswer(grant.credential(text), lifetime: Double(token.lifetime))
        }
        let request = TokenRequest(grant: grant, redactor: redactor)
        do {
            if let login { return try login.answer(replacing: stale, from: request, send) }
            let refreshToken = state.withLock { $0.refreshToken }
            do {
                return try request.answer(send, refreshToken: refreshToken)
            } catch let refusal as TokenRefusal where refreshToken != nil && refusal.error.code == .authentication {
                // The refresh token has expired: start over with the configured credentials.
                return try request.answer(send, refreshToken: nil)
            }
        } catch let refusal as TokenRefusal {
            throw refusal.error
        }
    }
}
