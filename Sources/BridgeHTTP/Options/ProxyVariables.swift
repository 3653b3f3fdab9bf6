internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The proxies of the environment, which libcurl reads by itself.
enum ProxyVariables {
    private static let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    /// The passwords in them, and the users with them.
    static var secrets: [String] {
        names.flatMap { name in getenv(name).map { userInfo(of: String(cString: $0)) } ?? [] }
    }

    /// Returns the user and the password of a proxy's address together, and the password alone, as they stand there and
    /// decoded; none without a password, since a user alone may be any word.
    ///
    /// The address need not be a valid URL: libcurl quotes one that is not.
    static func userInfo(of address: String) -> [String] {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        guard let at = rest.lastIndex(of: "@") else { return [] }
        let pair = rest[..<at]
        guard let colon = pair.firstIndex(of: ":") else { return [] }
        let password = pair[pair.index(after: colon)...]
        guard !password.isEmpty else { return [] }
        return [pair, password].flatMap { [String($0), PercentEncoding.decoded($0)] }
    }
}
