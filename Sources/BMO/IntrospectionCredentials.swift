internal import Model

/// Replaces credentials among a bridge's options by references to environment variables: a file is no place for them.
struct IntrospectionCredentials {
    private(set) var options: [(key: String, value: ConfigValue)]
    /// What the user has to set, for each credential that was replaced.
    private(set) var notes: [String] = []

    private static let words = [
        "authorization", "token", "secret", "password", "passwd", "cookie", "credential", "apikey", "accesskey",
    ]

    init(_ options: [(key: String, value: ConfigValue)]) {
        self.options = []
        self.options = references(in: options, parents: [])
    }

    private mutating func references(
        in members: [(key: String, value: ConfigValue)], parents: [String]
    ) -> [(key: String, value: ConfigValue)] {
        members.map { name, value in
            if let inner = value.members { return (name, .object(references(in: inner, parents: parents + [name]))) }
            guard let text = value.string, !text.isEmpty, !text.contains("://"),
                Self.isCredential(name, isOfAuth: parents.last == "auth")
            else { return (name, value) }
            let variable = String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            notes.append(
                "\((parents + [name]).joined(separator: ".")): put its value into the environment variable \(variable)")
            return (name, .secret(.env(variable)))
        }
    }

    private static func isCredential(_ name: String, isOfAuth: Bool) -> Bool {
        if isOfAuth, name == "value" { return true }
        let lower = name.lowercased()
        let plain = lower.filter { $0.isLetter || $0.isNumber }
        return words.contains(where: plain.contains) || lower == "key" || lower.hasSuffix("-key")
            || lower.hasSuffix("_key")
    }
}
