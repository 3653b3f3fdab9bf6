internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// Removes secrets from text that people will read.
///
/// Known secrets are removed everywhere and in any spelling (see `SecretFinder`). In URLs, user info is removed, and so
/// are the values of query parameters with secret names.
public struct HTTPRedactor: Sendable {
    private static let mark = "***"
    private let known: SecretFinder
    /// Further names of query parameters that hold secrets, as ``SecretNames`` compares them.
    private let names: Set<String>
    private let learned = Learned()

    /// Secrets learned later, such as tokens; shared by copies of a redactor.
    private final class Learned: Sendable {
        let state = Mutex((secrets: [String](), sessions: [String](), finder: SecretFinder([])))
        /// The host's callback for redacting what it makes of records.
        let host = Mutex((tell: (@Sendable (String) -> Void)?.none, lasting: [String]()))

        func tellHost(_ secrets: [String]) {
            let (tell, lasting) = host.withLock { $0 }
            // The host forgets the oldest of many secrets: report the lasting ones again.
            for secret in lasting + secrets where secret.utf8.count > 3 { tell?(secret) }
        }
    }

    /// Reports these secrets, and all that are learned from now on, to the host.
    func tell(_ lasting: [String], _ host: @escaping @Sendable (String) -> Void) {
        learned.host.withLock { $0 = (host, lasting) }
        learned.tellHost([])
    }

    /// Creates a redactor with known secrets and additional names of secret query parameters.
    public init(secrets: [String], queryNames: [String] = []) {
        known = Self.finder(secrets)
        names = Set(queryNames.map { SecretNames.plain($0) })
    }

    private static func finder(_ secrets: [String]) -> SecretFinder {
        // Removing one or two characters would destroy every text, and they are not a secret.
        SecretFinder(Set(secrets).filter { $0.utf8.count > 2 }.map { ($0, mark) })
    }

    /// Adds known secrets.
    func learn(_ more: [String]) {
        learned.tellHost(more)
        learned.state.withLock { state in
            state.secrets = more + state.secrets.filter { !more.contains($0) }
            // Tokens are renewed for as long as a process lives; old ones are useless.
            if state.secrets.count > 64 { state.secrets.removeLast(state.secrets.count - 64) }
            state.finder = Self.finder(state.secrets + state.sessions)
        }
    }

    /// Adds a value of `session_header` as a known secret.
    ///
    /// It keeps the few previous values, which delayed replies may quote. They are stored separately: some servers send
    /// a value with each reply, and tokens live longer.
    func learn(session: String) {
        learned.tellHost([session])
        learned.state.withLock { state in
            state.sessions = [session] + state.sessions.filter { $0 != session }.prefix(7)
            state.finder = Self.finder(state.secrets + state.sessions)
        }
    }

    /// Returns a text for people without known secrets and their fragments.
    public func clean(_ text: String) -> String { SecretFinder.masking(text, finders) }

    private var finders: [SecretFinder] { [known, learned.state.withLock { $0.finder }] }

    /// Returns a part of a received text without secrets, including those cut by the range.
    public func excerpt(of text: [UInt8], _ range: Range<Int>) -> String {
        SecretFinder.excerpt(of: text, range.clamped(to: 0..<text.count), finders)
    }

    /// Returns a URL for people, without user info and secret query values.
    public func clean(url text: String) -> String { clean(withoutNamed(text)) }

    /// Returns the URL of a recorded request, without user info, secret query values and whole secrets.
    ///
    /// Fragments stay: the stand-ins for secrets in a replay have the same beginning, and so have many keys.
    func clean(recorded text: String) -> String {
        finders.reduce(withoutNamed(text)) { $1.replacing(in: $0) }
    }

    /// Returns a URL without user info and without the values of query parameters with secret names.
    private func withoutNamed(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }) else { return text }
        var text = text
        if text.utf8.contains(UInt8(ascii: "@")), let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") { text.removeSubrange(scheme.upperBound...at) }
        }
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
        let pairs = text.utf8[text.utf8.index(after: mark)...]
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { Substring($0) }
        guard pairs.contains(where: isNamedSecret) else { return text }
        let cleaned = pairs.map { isNamedSecret($0) ? $0.prefix { $0 != "=" } + "=" + Self.mark : $0 }
        return text[...mark] + cleaned.joined(separator: "&")
    }

    /// Whether a pair of a query has a name by which its value is a secret.
    private func isNamedSecret(_ pair: Substring) -> Bool {
        guard pair.utf8.contains(UInt8(ascii: "=")) else { return false }
        let name = HTTPURL.name(of: pair)
        return SecretNames.isParameter(name) || !names.isEmpty && names.contains(SecretNames.plain(name))
    }

    /// Whether the text holds a known secret.
    public func holdsSecret(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return finders.contains { !$0.matches(in: bytes).isEmpty }
    }

    /// Whether the URL holds a known secret, user info, or a query parameter named like a secret.
    public func holdsSecret(url text: String) -> Bool { withoutNamed(text) != text || holdsSecret(text) }

    /// Whether a URL named by a remote holds a known secret, or the value of a secret query parameter of the requested
    /// URL.
    ///
    /// Some servers copy a request's query into the URL of a redirect.
    public func holdsSecret(_ target: HTTPURL, named asked: HTTPURL) -> Bool {
        let own = asked.queryPairs.filter { Self.isSecret(queryName: $0.name) && !$0.value.isEmpty }.map(\.value)
        return holdsSecret(target.text) || target.queryPairs.contains { own.contains($0.value) }
    }

    /// Whether a query parameter of this name holds a secret by convention, and rarely anything else.
    public static func isSecret(queryName name: String) -> Bool {
        SecretNames.isParameter(name) && !SecretNames.ambiguousParameters.contains(SecretNames.plain(name))
    }
}
