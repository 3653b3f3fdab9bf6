internal import BridgeHTTP
internal import BridgeJSON

/// The address of an API's server without the credentials that its document has in it.
struct ServerAddress: Sendable {
    /// Without user info and credentials in the query; a variable that is a credential stays in braces.
    let url: String
    /// Whether the address had a user, with or without a password (RFC 3986, section 3.2.1).
    let hadUser: Bool
    /// The names of the query's credentials.
    let parameters: [String]

    /// - Parameter text: The URL, in which variables that are credentials are in braces.
    init(_ text: String) {
        var url = text
        var hadUser = false
        if let scheme = url.firstRange(of: "://") {
            let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
            if let at = authority.lastIndex(of: "@") {
                url.removeSubrange(scheme.upperBound...at)
                hadUser = true
            }
        }
        var parameters: [String] = []
        if let mark = url.firstIndex(of: "?") {
            let pairs = url[url.index(after: mark)...].split(separator: "&").map(String.init)
            var kept: [String] = []
            for pair in pairs {
                let name = HTTPURL.decode(String(pair.prefix { $0 != "=" }))
                if SecretGuess.isParameter(name) {
                    if !parameters.contains(name) { parameters.append(name) }
                } else {
                    kept.append(pair)
                }
            }
            let path = String(url[..<mark])
            url = kept.isEmpty ? path.trimmingSlash : path + "?" + kept.joined(separator: "&")
        }
        self.url = url
        self.hadUser = hadUser
        self.parameters = parameters
    }

    /// The variables of the URL that are credentials.
    var variables: [String] { OpenAPIReader.variables(url).filter(SecretGuess.isParameter) }

    /// The option `url`, which the environment has where part of it is a credential.
    ///
    /// - Parameter prefix: What the names of environment variables begin with.
    func option(_ prefix: String) -> JSONTree {
        variables.isEmpty ? .text(url) : ["env": .text("\(prefix)_URL")]
    }

    /// A server's address for a comment.
    static func shown(_ text: String) -> String { HTTPRedactor(secrets: []).clean(url: text) }
}
