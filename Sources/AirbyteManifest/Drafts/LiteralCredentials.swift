internal import Model
internal import TextFormats

/// Puts parameters, whose values come from the environment, in place of credentials that a document holds literally.
enum LiteralCredentials {
    /// Whether the value of a query's parameter is a credential.
    static func isParameter(_ name: String) -> Bool { SecretNames.suggestsParameter(name) }

    /// A value for a comment; a credential may have its literal beside an expression.
    static func shown(_ value: ConfigValue, _ name: String) -> String {
        SecretNames.isHeader(name) || isParameter(name) ? "..." : value.printed
    }

    /// Returns the variable of a request in place of a credential, and adds a comment to the entity.
    ///
    /// - Parameters:
    ///   - name: The name of the credential: that of a parameter, of a header field or of a member.
    ///   - place: Where it was, for the comment: `the query`.
    static func variable(
        _ name: String, _ value: String, in place: String, of draft: EntityDraft, _ bridge: BridgeDraft
    ) -> String {
        draft.note("\(name) in \(place) looks like a credential: its value comes from the environment")
        let further = ["request", draft.stream, name]
        return "{\(bridge.parameter(forLiteral: value, ["request", name], or: further))}"
    }

    /// Returns a body, or the variables of a GraphQL query, without the credentials in it.
    static func body(
        _ value: ConfigValue, named name: String = "", of draft: EntityDraft, _ bridge: BridgeDraft
    ) -> ConfigValue {
        switch value {
        case .object(let members):
            return .object(members.map { ($0.key, body($0.value, named: $0.key, of: draft, bridge)) })
        case .array(let elements): return .array(elements.map { body($0, named: name, of: draft, bridge) })
        // A text with a variable is none of the document's.
        case .string(let text)
        where SecretNames.suggests(name) && !text.isEmpty && !(text.contains("{") && text.contains("}")):
            return .string(variable(name, text, in: "the body", of: draft, bridge))
        // A number of `max_tokens` is none, that of `password` is one.
        case .int(let number) where SecretNames.certain.contains(SecretNames.plain(name)):
            return .string(variable(name, String(number), in: "the body", of: draft, bridge))
        default: return value
        }
    }

    /// Returns a path without the credentials in its query.
    static func path(_ path: String, of draft: EntityDraft, _ bridge: BridgeDraft) -> String {
        guard let mark = path.firstIndex(of: "?") else { return path }
        return path[...mark] + query(String(path[path.index(after: mark)...]), in: "the path", of: draft, bridge)
    }

    /// Returns parameters such as `a=1&b=2` without the credentials among them.
    static func query(_ query: String, in place: String, of draft: EntityDraft, _ bridge: BridgeDraft) -> String {
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2, isParameter(halves[0]), !halves[1].contains("{") else { return String(pair) }
            return halves[0] + "=" + variable(halves[0], halves[1], in: place, of: draft, bridge)
        }
        return pairs.joined(separator: "&")
    }

    /// Returns a URL without the user and the password that RFC 3986, section 3.2.1, allows before the host, and these.
    static func parts(_ url: String) -> (url: String, user: String?) {
        guard let scheme = url.firstRange(of: "://") else { return (url, nil) }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return (url, nil) }
        return (
            String(url[..<scheme.upperBound]) + url[url.index(after: at)...], String(url[scheme.upperBound..<at])
        )
    }
}

extension BridgeDraft {
    /// Takes the user and the password that a document's URL holds from the environment, unless requests authenticate
    /// otherwise.
    func authenticate(asURL user: String?) {
        guard let user, auth.isEmpty else { return }
        auth = [
            ("type", "basic"), ("user", reference(toLiteral: user, ["url", "username"], isSecret: false)),
            ("password", reference(toLiteral: user, ["url", "password"])),
        ]
        note("the url had a user and a password: they come from the environment")
    }
}
