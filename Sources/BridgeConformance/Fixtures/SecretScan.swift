internal import Foundation

/// Searches texts for secrets that must not be in a repository.
///
/// A recording redacts only known secrets, not those that a remote chose to send.
enum SecretScan {
    /// Each repetition has an upper bound; without it, the time would grow with the square of a line's length.
    private static let signs: [(what: String, pattern: String)] = [
        ("a JSON Web Token", #"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"#),
        ("a private key", #"-----BEGIN [A-Z ]*PRIVATE KEY"#),
        ("an access key of AWS", #"\b(AKIA|ASIA)[0-9A-Z]{16}\b"#),
        ("a token of GitHub", #"\bgh[pousr]_[A-Za-z0-9]{30,}"#),
        ("a token of GitLab", #"\bglpat-[A-Za-z0-9_-]{18,}"#),
        ("a token of Slack", #"\bxox[abprs]-[A-Za-z0-9-]{10,}"#),
        ("a key of Stripe", #"\b[sr]k_(live|test)_[A-Za-z0-9]{10,}"#),
        ("a bearer token", #"[Bb]earer [A-Za-z0-9._~+/-]{16,}"#),
        ("a URL with a password", #"[a-z]{2,12}://[^/\s:@"]{1,100}:[^/\s:@"*]{1,200}@"#),
        (
            "a URL with a secret",
            #"(?i)[?&#;](api_?-?key|access_?token|token|sig|signature|key|secret|password)=[^&\s"'{*<]{3,}"#
        ),
        (
            "a secret by its name",
            #"(?i)"[a-z_-]{0,40}(token|secret|password|passwd|api_?key|credential)s?"\s*:\s*"[^"*\s]{8,}""#
        ),
        (
            "a secret by its name",
            #"(?i)<([a-z0-9]{1,40}:)?[a-z_-]{0,40}(token|secret|password|passwd|apikey)[^>]{0,200}>[^<*\s]{8,}<"#
        ),
    ]

    /// Credentials in a configuration that should be `{env: NAME}`; excludes types, paths into a reply and the like.
    private static let literals: [(what: String, pattern: String)] = [
        (
            "a credential by its name",
            #"(?i)(^|[\s{,"'_-])(authorization|token|secret|password|passwd|api[_-]?key|credentials?|cookie)["']?\s*:\s*["']?"#
                + #"(?!(text|integer|real|boolean|number|timestamp|date|bytes|json|string|null|true|false)\b)"#
                + #"[^\s"'{}\[\],$*&#/][^"'{}\[\],$]{3,}"#
        ),
        ("a credential by its scheme", #"(?i):\s*["']?(bearer|basic|token|apikey|digest)\s+[A-Za-z0-9._~+/=-]{4,}"#),
    ]

    /// Returns warnings for a configuration, each with its line.
    static func warnings(ofConfiguration text: String, name: String) -> [String] {
        warnings(of: text, name: name, literals + signs)
    }

    /// Returns warnings for a text, each with its line.
    static func warnings(of text: String, name: String) -> [String] { warnings(of: text, name: name, signs) }

    private static func warnings(of text: String, name: String, _ signs: [(what: String, pattern: String)]) -> [String]
    {
        var warnings: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            for (what, pattern) in signs where line.range(of: pattern, options: .regularExpression) != nil {
                warnings.append("\(name):\(number + 1) looks like \(what): look at it before you commit the case")
                break
            }
        }
        return warnings
    }
}
