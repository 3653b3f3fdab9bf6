/// The names that secrets have by convention: the only list of them in the package.
///
/// Names are compared in lower case, without `-` and `_`: see ``plain(_:)``.
package enum SecretNames {
    /// Members, elements, parameters and header fields with these names hold a secret wherever they are.
    package static let certain: Set<String> = [
        "apikey", "xapikey", "hapikey", "appkey", "userkey", "subscriptionkey", "accesskey", "secretkey", "privatekey",
        "secretaccesskey", "sessionkey",
        "token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "apitoken", "sessiontoken", "privatetoken",
        "binarysecuritytoken", "jwt", "xamzsecuritytoken",
        "password", "passwd", "pwd", "passphrase", "secret", "clientsecret", "clientassertion", "assertion",
        "authorization", "proxyauthorization", "sessionid",
    ]
    /// Parameters of a URL or a form with these names hold a secret; elsewhere the names mean many things.
    package static let parameters: Set<String> = [
        "key", "auth", "signature", "sig", "code", "session", "credential", "appid", "xamzsignature", "xamzcredential",
    ]
    /// The parameters that often hold something else: a country's code, a session of a conference.
    package static let ambiguousParameters: Set<String> = ["code", "session", "assertion"]
    /// Parts of names that suggest a secret, such as in `db_password` and `X-Gitlab-Token`.
    private static let parts = [
        "password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "subscriptionkey", "privatekey",
        "credential",
    ]
    /// Parts of the names of header fields that suggest a secret.
    private static let headerParts = [
        "auth", "token", "secret", "password", "session", "signature", "credential", "cookie", "apikey", "accesskey",
        "subscriptionkey",
    ]

    /// The name as it is compared.
    package static func plain(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        for byte in String(name).utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// Whether a parameter of a URL or a form with this name holds a secret.
    package static func isParameter(_ name: some StringProtocol) -> Bool {
        let plain = plain(name)
        return certain.contains(plain) || parameters.contains(plain)
    }

    /// Whether a parameter of a URL with this name is a secret rather than anything else.
    package static func suggestsParameter(_ name: some StringProtocol) -> Bool {
        suggests(name) || isParameter(name) && !ambiguousParameters.contains(plain(name))
    }

    /// Whether a name suggests a secret by one of its parts.
    package static func suggests(_ name: some StringProtocol) -> Bool {
        let plain = plain(name)
        return certain.contains(plain) || parts.contains { plain.contains($0) }
    }

    /// Whether the name of a header field suggests a secret.
    package static func isHeader(_ name: some StringProtocol) -> Bool {
        let plain = plain(name)
        return certain.contains(plain) || headerParts.contains { plain.contains($0) }
    }
}
