internal import RecordBatch
internal import Synchronization

/// Takes secrets out of text that people will read.
///
/// Known secrets are removed wherever they stand and however they are spelled (see `SecretFinder`); in URLs, user info goes and
/// so do the values of query parameters whose name says that they are secret.
public struct HTTPRedactor: Sendable {
    private static let mark = "***"
    /// Query parameters that hold secrets by convention; compared in lower case, without `-` and `_`.
    private static let secretNames: Set<String> = [
        "apikey", "key", "token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "auth", "authorization",
        "password", "passwd", "pwd", "secret", "clientsecret", "signature", "sig", "assertion", "code", "sessionid",
        "session", "credential", "appid", "appkey", "apitoken", "subscriptionkey", "userkey", "xapikey",
        "xamzsignature", "xamzcredential", "xamzsecuritytoken",
    ]
    private let known: SecretFinder
    private let names: Set<String>
    private let learned = Learned()

    /// Secrets that came later, such as tokens; copies of a redactor share them.
    private final class Learned: Sendable {
        let state = Mutex((secrets: [String](), sessions: [String](), finder: SecretFinder([])))
    }

    /// A redactor that knows these secrets, and these further names of secret query parameters.
    public init(secrets: [String], queryNames: [String] = []) {
        known = Self.finder(secrets)
        names = Self.secretNames.union(queryNames.map(Self.plain))
    }

    private static func finder(_ secrets: [String]) -> SecretFinder {
        // One of one or two characters would tear every text apart and is none anyway.
        SecretFinder(Set(secrets).filter { $0.utf8.count > 2 }.map { ($0, mark) })
    }

    /// Takes these secrets out from now on, too.
    func learn(_ more: [String]) {
        learned.state.withLock { state in
            state.secrets = more + state.secrets.filter { !more.contains($0) }
            // Tokens come anew for as long as a process lives; the old ones are good for nothing.
            if state.secrets.count > 64 { state.secrets.removeLast(state.secrets.count - 64) }
            state.finder = Self.finder(state.secrets + state.sessions)
        }
    }

    /// Takes this value of `session_header` out from now on, too, and the few before it that replies still on their way may
    /// quote: in a place of their own, as some servers hand out one with each reply, and tokens live longer.
    func learn(session: String) {
        learned.state.withLock { state in
            state.sessions = [session] + state.sessions.filter { $0 != session }.prefix(7)
            state.finder = Self.finder(state.secrets + state.sessions)
        }
    }

    /// The text without known secrets.
    public func clean(_ text: String) -> String {
        learned.state.withLock { $0.finder }.replacing(in: known.replacing(in: text))
    }

    /// A URL without user info and secret query values.
    public func clean(url text: String) -> String {
        var text = text
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") { text.removeSubrange(scheme.upperBound...at) }
        }
        if let mark = text.firstIndex(of: "?") {
            let query = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
            let cleaned = query.map { pair -> String in
                guard let equals = pair.firstIndex(of: "="), names.contains(Self.plain(HTTPURL.name(of: pair))) else {
                    return String(pair)
                }
                return pair[...equals] + Self.mark
            }
            text = text[...mark] + cleaned.joined(separator: "&")
        }
        return clean(text)
    }

    /// Whether the text holds a known secret.
    public func holdsSecret(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return !known.matches(in: bytes).isEmpty || !learned.state.withLock { $0.finder }.matches(in: bytes).isEmpty
    }

    /// Whether the URL holds a known secret, user info, or a query parameter named like a secret.
    public func holdsSecret(url text: String) -> Bool { clean(url: text) != text }

    /// Whether a URL that a remote named holds a known secret, or one that the query of what was asked for holds by its name.
    ///
    /// Some servers copy the query of a request into the URL that they send on to.
    public func holdsSecret(_ target: HTTPURL, named asked: HTTPURL) -> Bool {
        let own = asked.queryPairs.filter { Self.isSecret(queryName: $0.name) && !$0.value.isEmpty }.map(\.value)
        return holdsSecret(target.text) || target.queryPairs.contains { own.contains($0.value) }
    }

    /// Whether a query parameter of this name holds a secret by convention, and hardly anything else.
    public static func isSecret(queryName name: String) -> Bool {
        secretNames.contains(plain(name)) && !["code", "session", "assertion"].contains(plain(name))
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
}
