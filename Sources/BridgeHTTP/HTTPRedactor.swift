internal import Synchronization

/// Takes secrets out of text that people will read.
///
/// Known secrets are removed wherever they stand, also percent-encoded; in URLs, user info goes and so do the values of
/// query parameters whose name says that they are secret.
public struct HTTPRedactor: Sendable {
    private static let mark = "***"
    /// Query parameters that hold secrets by convention; compared in lower case, without `-` and `_`.
    private static let secretNames: Set<String> = [
        "apikey", "key", "token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "auth", "authorization",
        "password", "passwd", "pwd", "secret", "clientsecret", "signature", "sig", "assertion", "code", "sessionid",
        "session", "credential", "appid", "appkey", "apitoken", "subscriptionkey", "userkey", "xapikey",
        "xamzsignature", "xamzcredential", "xamzsecuritytoken",
    ]
    private let secrets: [String]
    private let names: Set<String>
    private let learned = Learned()

    /// Secrets that came later, such as tokens; copies of a redactor share them.
    private final class Learned: Sendable {
        let secrets = Mutex<[String]>([])
    }

    /// A redactor that knows these secrets, and these further names of secret query parameters.
    public init(secrets: [String], queryNames: [String] = []) {
        // A secret of one or two characters would tear every text apart and is none anyway.
        let long = secrets.filter { $0.utf8.count > 2 }
        self.secrets = Self.forms(long)
        names = Self.secretNames.union(queryNames.map(Self.plain))
    }

    /// Takes these secrets out from now on, too.
    func learn(_ more: [String]) {
        let forms = Self.forms(more.filter { $0.utf8.count > 2 })
        learned.secrets.withLock { known in
            known = forms + known.filter { !forms.contains($0) }
            // Tokens come anew for as long as a process lives; the old ones are good for nothing.
            if known.count > 64 { known.removeLast(known.count - 64) }
        }
    }

    private var all: [String] { secrets + learned.secrets.withLock { $0 } }

    private static func forms(_ secrets: [String]) -> [String] {
        Set(secrets + secrets.map(HTTPURL.encode)).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// The text without known secrets.
    public func clean(_ text: String) -> String {
        var text = text
        for secret in all where text.contains(secret) { text.replace(secret, with: Self.mark) }
        return text
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
    public func holdsSecret(_ text: String) -> Bool { all.contains { text.contains($0) } }

    /// Whether the URL holds a known secret, user info, or a query parameter named like a secret.
    public func holdsSecret(url text: String) -> Bool { clean(url: text) != text }

    /// Whether a query parameter of this name holds a secret by convention, and hardly anything else.
    public static func isSecret(queryName name: String) -> Bool {
        secretNames.contains(plain(name)) && !["code", "session", "assertion"].contains(plain(name))
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
}
