internal import Foundation

/// Searches texts for secrets that must not be in a repository.
///
/// A recording redacts only known secrets, not those that a remote chose to send.
enum SecretScan {
    /// What a secret looks like.
    private struct Sign {
        let what: String
        let pattern: String
        /// Texts without which a line cannot match: one of each group, in lower case; no groups if any line may.
        ///
        /// Most lines have none of them, and a regular expression takes a hundred times as long.
        var needs: [[String]] = []
    }

    private static let names = ["token", "secret", "password", "passwd", "apikey", "api_key", "credential"]

    /// Each repetition has an upper bound; without it, the time would grow with the square of a line's length.
    private static let signs: [Sign] = [
        Sign(what: "a JSON Web Token", pattern: #"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"#, needs: [[".eyj"]]),
        Sign(what: "a private key", pattern: #"-----BEGIN [A-Z ]*PRIVATE KEY"#, needs: [["private key"]]),
        Sign(what: "an access key of AWS", pattern: #"\b(AKIA|ASIA)[0-9A-Z]{16}\b"#, needs: [["akia", "asia"]]),
        Sign(
            what: "a token of GitHub", pattern: #"\bgh[pousr]_[A-Za-z0-9]{30,}"#,
            needs: [["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]]),
        Sign(what: "a token of GitLab", pattern: #"\bglpat-[A-Za-z0-9_-]{18,}"#, needs: [["glpat-"]]),
        Sign(what: "a token of Slack", pattern: #"\bxox[abprs]-[A-Za-z0-9-]{10,}"#, needs: [["xox"]]),
        Sign(
            what: "a key of Stripe", pattern: #"\b[sr]k_(live|test)_[A-Za-z0-9]{10,}"#,
            needs: [["k_live_", "k_test_"]]),
        Sign(what: "a bearer token", pattern: #"[Bb]earer [A-Za-z0-9._~+/-]{16,}"#, needs: [["bearer "]]),
        Sign(
            what: "a URL with a password", pattern: #"[a-z]{2,12}://[^/\s:@"]{1,100}:[^/\s:@"*]{1,200}@"#,
            needs: [["://"], ["@"]]),
        Sign(
            what: "a URL with a secret",
            pattern:
                #"(?i)[?&#;](api_?-?key|access_?token|token|sig|signature|key|secret|password)=[^&\s"'{*<]{3,}"#,
            needs: [["key=", "token=", "sig=", "signature=", "secret=", "password="]]),
        Sign(
            what: "a secret by its name",
            pattern:
                #"(?i)"[a-z_-]{0,40}(token|secret|password|passwd|api_?key|credential)s?"\s*:\s*"[^"*\s]{8,}""#,
            needs: [names]),
        Sign(
            what: "a secret by its name",
            pattern:
                #"(?i)<([a-z0-9]{1,40}:)?[a-z_-]{0,40}(token|secret|password|passwd|apikey)[^>]{0,200}>[^<*\s]{8,}<"#,
            needs: [["<"], names]),
    ]

    /// Credentials in a configuration that should be `{env: NAME}`; excludes types, paths into a reply and the like.
    private static let literals: [Sign] = [
        Sign(
            what: "a credential by its name",
            pattern:
                #"(?i)(^|[\s{,"'_-])(authorization|token|secret|password|passwd|api[_-]?key|credentials?|cookie)["']?\s*:\s*["']?"#
                + #"(?!(text|integer|real|boolean|number|timestamp|date|bytes|json|string|null|true|false)\b)"#
                + #"[^\s"'{}\[\],$*&#/][^"'{}\[\],$]{3,}"#),
        Sign(
            what: "a credential by its scheme",
            pattern: #"(?i):\s*["']?(bearer|basic|token|apikey|digest)\s+[A-Za-z0-9._~+/=-]{4,}"#),
    ]

    /// Returns warnings for a configuration, each with its line.
    static func warnings(ofConfiguration text: String, name: String) -> [String] {
        warnings(of: text, name: name, literals + signs)
    }

    /// Returns warnings for a text, each with its line.
    static func warnings(of text: String, name: String) -> [String] { warnings(of: text, name: name, signs) }

    private static func warnings(of text: String, name: String, _ signs: [Sign]) -> [String] {
        var warnings: [String] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let found = finder.texts(in: line)
            for sign in signs where mayMatch(sign, found) {
                guard line.range(of: sign.pattern, options: .regularExpression) != nil else { continue }
                warnings.append("\(name):\(number + 1) looks like \(sign.what): look at it before you commit the case")
                break
            }
        }
        return warnings
    }

    /// - Parameter found: The needed texts that a line has; nil for a line that must be searched for all signs.
    private static func mayMatch(_ sign: Sign, _ found: Set<String>?) -> Bool {
        guard let found else { return true }
        return !sign.needs.contains { $0.allSatisfy { !found.contains($0) } }
    }

    private static let finder = NeededTexts(signs.flatMap { $0.needs.joined() })
}

/// Finds which of a few texts a line has, in any case of its letters, in one pass over its bytes.
private struct NeededTexts {
    /// The texts by their first byte.
    private var byFirst = [[(bytes: [UInt8], text: String)]](repeating: [], count: 256)

    /// Characters other than letters of ASCII that match these in some case: `ſ` is an `S`, and `ß` two of them.
    private static let folded: Set<Unicode.Scalar> = [
        "\u{DF}", "\u{130}", "\u{131}", "\u{149}", "\u{17F}", "\u{1F0}", "\u{1E96}", "\u{1E97}", "\u{1E98}", "\u{1E99}",
        "\u{1E9A}", "\u{1E9E}", "\u{212A}", "\u{FB00}", "\u{FB01}", "\u{FB02}", "\u{FB03}", "\u{FB04}",
        "\u{FB05}", "\u{FB06}",
    ]

    init(_ texts: [String]) {
        for text in Set(texts) {
            let bytes = Array(text.utf8)
            byFirst[Int(bytes[0])].append((bytes, text))
        }
    }

    /// Returns the texts that a line has; nil if it has characters that regular expressions may take for letters.
    func texts(in line: Substring) -> Set<String>? {
        var isASCII = true
        let bytes = line.utf8.map { byte -> UInt8 in
            if byte >= 0x80 { isASCII = false }
            return 0x41...0x5A ~= byte ? byte | 0x20 : byte
        }
        if !isASCII, line.unicodeScalars.contains(where: Self.folded.contains) { return nil }
        var found: Set<String> = []
        for start in bytes.indices {
            for candidate in byFirst[Int(bytes[start])]
            where bytes[start...].starts(with: candidate.bytes) && !found.contains(candidate.text) {
                found.insert(candidate.text)
            }
        }
        return found
    }
}
