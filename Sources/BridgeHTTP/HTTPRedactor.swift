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
        "session", "credential", "xamzsignature", "xamzcredential", "xamzsecuritytoken",
    ]
    private let secrets: [String]
    private let names: Set<String>

    /// A redactor that knows these secrets, and these further names of secret query parameters.
    public init(secrets: [String], queryNames: [String] = []) {
        // A secret of one or two characters would tear every text apart and is none anyway.
        let long = secrets.filter { $0.utf8.count > 2 }
        self.secrets = Set(long + long.map(HTTPURL.encode)).sorted { $0.utf8.count > $1.utf8.count }
        names = Self.secretNames.union(queryNames.map(Self.plain))
    }

    /// The text without known secrets.
    public func clean(_ text: String) -> String {
        var text = text
        for secret in secrets where text.contains(secret) { text.replace(secret, with: Self.mark) }
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
    public func holdsSecret(_ text: String) -> Bool { secrets.contains { text.contains($0) } }

    /// Whether the URL holds a known secret, user info, or a query parameter named like a secret.
    public func holdsSecret(url text: String) -> Bool { clean(url: text) != text }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
}
