/// The address of a database on a server: `postgresql://user:{env:NAME}@host/database?option=value`.
package enum DatabaseURI {
    /// Returns whether text has the scheme of such addresses, in capitals or not.
    package static func isURI(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        let isKnown = ["postgresql", "postgres"].contains(scheme.lowercased())
        return isKnown && text.dropFirst(scheme.count).hasPrefix("://")
    }

    /// Returns whether an address contains a password, and not a reference to one.
    package static func hasLiteralPassword(_ uri: String) -> Bool {
        // The path of a {file:} may contain the characters that end the authority.
        var isReferring = false
        let authority = uri.drop { $0 != "/" }.dropFirst(2).prefix { character in
            if character == "{" || character == "}" { isReferring = character == "{" }
            return isReferring || !"/?#".contains(character)
        }
        if let at = authority.lastIndex(of: "@") {
            var user = authority[..<at]
            if user.hasPrefix("{") { user = user.drop { $0 != "}" } }
            let password = user.drop { $0 != ":" }.dropFirst()
            if !password.isEmpty, !isReference(password) { return true }
        }
        let options = uri.split(separator: "?", maxSplits: 1).dropFirst().joined().split(separator: "&")
        return options.contains { option in
            ["password=", "sslpassword=", "scram_client_key=", "scram_server_key=", "oauth_client_secret="].contains {
                name in
                option.hasPrefix(name) && !isReference(option.dropFirst(name.count))
            }
        }
    }

    private static func isReference(_ text: Substring) -> Bool {
        (text.hasPrefix("{env:") || text.hasPrefix("{file:")) && text.firstIndex(of: "}") == text.indices.last
    }

    /// Returns the address with the paths of its `{file:PATH}` made absolute.
    static func absolute(_ uri: String, relativeTo folder: String) -> String {
        var result = ""
        var rest = uri[...]
        while let range = rest.firstRange(of: "{file:"), let end = rest[range.upperBound...].firstIndex(of: "}") {
            let path = rest[range.upperBound..<end].drop { $0 == " " }
            result += rest[..<range.upperBound] + FilePath.absolute(String(path), relativeTo: folder)
            rest = rest[end...]
        }
        return result + rest
    }
}
