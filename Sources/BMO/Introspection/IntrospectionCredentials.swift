internal import Model
internal import TextFormats

/// Replaces credentials among a bridge's options by references to environment variables, so that no file holds them.
struct IntrospectionCredentials {
    private(set) var options: [(key: String, value: ConfigValue)]
    /// The variable that the user has to set for each replaced credential.
    private(set) var notes: [String] = []

    init(_ options: [(key: String, value: ConfigValue)]) {
        self.options = []
        self.options = references(in: options, parents: [])
    }

    /// Returns the options for reading a document at `place`, without `url`.
    ///
    /// A document may be on another host than the API that `url` names: the API's credentials do not go there.
    static func options(
        _ options: [(key: String, value: ConfigValue)], sentTo place: String
    ) -> [(key: String, value: ConfigValue)] {
        let url = options.first { $0.key == "url" }?.value.string
        let isElsewhere = url.map { origin(of: $0).lowercased() != origin(of: place).lowercased() } ?? false
        let dropped = isElsewhere ? ["url", "auth", "headers", "parameters", "tls"] : ["url"]
        return options.filter { !dropped.contains($0.key) }
    }

    /// Returns the scheme, host and port of a URL, as written; the text itself if it has no scheme.
    static func origin(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let host = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(url[..<scheme.upperBound]) + host
    }

    private mutating func references(
        in members: [(key: String, value: ConfigValue)], parents: [String]
    ) -> [(key: String, value: ConfigValue)] {
        members.map { name, value in
            if let inner = value.members { return (name, .object(references(in: inner, parents: parents + [name]))) }
            guard let text = value.string, !text.isEmpty else { return (name, value) }
            let key = Self.parameter(of: text)
            let isURL = text.contains("://")
            guard key != nil || !isURL && Self.isCredential(name, isOfAuth: parents.last == "auth") else {
                return (name, value)
            }
            let variable = String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            notes.append(
                "\((parents + [name]).joined(separator: ".")): put its value\(key.map { ", with its \($0)," } ?? "") into "
                    + "the environment variable \(variable)")
            return (name, .secret(.env(variable)))
        }
    }

    /// Returns the first parameter in a URL's query that is a credential; nil if there is none.
    private static func parameter(of url: String) -> String? {
        guard url.contains("://"), let mark = url.firstIndex(of: "?") else { return nil }
        let pairs = url[url.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&")
        for pair in pairs where pair.contains("=") && pair.last != "=" {
            let name = PercentEncoding.decoded(pair.prefix { $0 != "=" }, plusIsSpace: true)
            if SecretNames.suggestsParameter(name) { return name }
        }
        return nil
    }

    private static func isCredential(_ name: String, isOfAuth: Bool) -> Bool {
        if isOfAuth, name == "value" { return true }
        let lower = name.lowercased()
        return SecretNames.suggests(name) || ["cookie", "authorization"].contains { lower.contains($0) }
            || lower == "key" || lower.hasSuffix("-key") || lower.hasSuffix("_key")
    }
}
