internal import BridgeKit
internal import CCurl
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// An absolute http or https URL (RFC 3986), normalised by libcurl's own parser, so that checks apply to the URL in
/// use.
public struct HTTPURL: Sendable, Equatable, CustomStringConvertible {
    /// The whole URL, percent-encoded, without a fragment.
    public let text: String
    /// The scheme, host and port to which credentials belong (RFC 6454, section 4).
    public let origin: Origin

    /// Scheme, host and port of a URL.
    public struct Origin: Sendable, Hashable {
        let scheme: String
        let host: String
        let port: String
    }

    /// Parses an absolute URL; nil unless it is http or https and has a host.
    public init?(_ text: String) { self.init(text, relativeTo: nil) }

    /// Resolves a reference against a base (RFC 3986, section 5); an absolute one is taken as it is, and an empty one
    /// is refused.
    public init?(_ reference: String, relativeTo base: HTTPURL?) {
        // libcurl would take an empty one for the host's root.
        guard !reference.isEmpty, let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        if let base, curl_url_set(handle, CURLUPART_URL, base.text, 0) != CURLUE_OK { return nil }
        guard curl_url_set(handle, CURLUPART_URL, Self.encodeIllegal(reference), 0) == CURLUE_OK else { return nil }
        _ = curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, flags) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), scheme == "http" || scheme == "https",
            let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty,
            let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)), let text = part(CURLUPART_URL)
        else { return nil }
        self.text = text
        origin = Origin(scheme: scheme, host: host, port: port)
    }

    /// The whole URL; it may contain secrets.
    public var description: String { text }

    /// Whether the URL has a user or a password.
    public var hasUserInfo: Bool {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return false }
        let rest = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard rest.count == 3 else { return false }
        return rest[2].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.contains("@")
    }

    /// Returns the URL with a path below it, with exactly one slash between them; the queries of both are kept.
    public func appending(path: String) -> HTTPURL? {
        path.isEmpty ? self : HTTPURL(joined(with: path))
    }

    /// Returns the URL with a path below it and query parameters set, as
    /// `appending(path: path)?.setting(query: query)` does, but parsed once.
    public func appending(path: String, query: [(name: String, value: String)]) -> HTTPURL? {
        // A fragment in the path would take the query with it.
        guard !query.isEmpty, !path.utf8.contains(UInt8(ascii: "#")),
            let url = HTTPURL(Self.text(path.isEmpty ? text : joined(with: path), setting: query))
        else { return appending(path: path)?.setting(query: query) }
        return url
    }

    private func joined(with path: String) -> String {
        let own = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let more = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var joined = String(own[0])
        if !more[0].isEmpty {
            while joined.hasSuffix("/") { joined.removeLast() }
            joined += "/" + more[0].drop { $0 == "/" }
        }
        let queries = [own, more].filter { $0.count == 2 && !$0[1].isEmpty }.map { String($0[1]) }
        if !queries.isEmpty { joined += "?" + queries.joined(separator: "&") }
        return joined
    }

    /// Returns the URL with query parameters set; parameters of the same name are replaced.
    public func setting(query: [(name: String, value: String)]) -> HTTPURL {
        query.isEmpty ? self : HTTPURL(Self.text(text, setting: query)) ?? self
    }

    private static func text(_ text: String, setting query: [(name: String, value: String)]) -> String {
        let kept = Self.text(text, without: Set(query.map(\.name)))
        let added = query.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
        return kept + (kept.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + added
    }

    /// The decoded path, without host and query.
    package var path: String {
        let rest = text.prefix { $0 != "?" }.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return "/" + (rest.count > 3 ? PercentEncoding.decoded(rest[3]) : "")
    }

    /// Returns the URL without the query parameters of these names.
    public func removing(queryNames names: Set<String>) -> HTTPURL { HTTPURL(Self.text(text, without: names)) ?? self }

    /// Returns the text of a URL without the query parameters of these names.
    private static func text(_ text: String, without names: Set<String>) -> String {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return text }
        let kept = parts[1].split(separator: "&").filter { !names.contains(name(of: $0)) }
        let query = kept.joined(separator: "&")
        return query.isEmpty ? String(parts[0]) : parts[0] + "?" + query
    }

    /// Returns the first value of a query parameter, decoded.
    public func queryValue(_ name: String) -> String? {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        for pair in parts[1].split(separator: "&") where Self.name(of: pair) == name {
            return pair.firstIndex(of: "=").map { Self.decode(pair[pair.index(after: $0)...]) } ?? ""
        }
        return nil
    }

    /// The last non-empty segment of the path, decoded.
    public var lastPathSegment: String? {
        let path = text.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true).dropFirst(2)
        // In a path, unlike in a query, a + is literal.
        return path.last.map { PercentEncoding.decoded($0) }
    }

    /// Percent-encodes all characters except RFC 3986's unreserved ones.
    public static func encode(_ text: String) -> String { PercentEncoding.encoded(text) }

    /// Percent-encodes characters that are illegal in a URL, and keeps its structure.
    private static func encodeIllegal(_ text: String) -> String {
        PercentEncoding.encoded(text, keeping: isLegal)
    }

    private static func isLegal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    /// Decodes percent-encoding, and `+` as a space.
    public static func decode(_ text: String) -> String { decode(text[...]) }

    static func name(of pair: Substring) -> String { decode(pair.prefix { $0 != "=" }) }

    /// Decodes percent-encoding and `+` in a query.
    static func decode(_ text: Substring) -> String { PercentEncoding.decoded(text, plusIsSpace: true) }
}

extension HTTPURL {
    /// Returns the parameters of a query, decoded, in order; a parameter without `=` has an empty value.
    public static func pairs(_ query: String) -> [(name: String, value: String)] {
        PercentEncoding.pairs(query)
    }

    /// Returns the URL with its query in the order and encoding of "Create a canonical request" (AWS Signature Version
    /// 4).
    func withCanonicalQuery() -> HTTPURL {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return self }
        let pairs: [(name: String, value: String)] = queryPairs.map { pair in
            (name: Self.encode(pair.name), value: Self.encode(pair.value))
        }
        let query = pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
        return HTTPURL("\(parts[0])?\(query.joined(separator: "&"))") ?? self
    }

    /// The parameters of this URL's query, decoded, in order.
    public var queryPairs: [(name: String, value: String)] {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? Self.pairs(String(parts[1])) : []
    }

    /// The names of the query parameters, decoded, in order.
    public var queryNames: [String] {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[1].split(separator: "&").map { Self.name(of: $0) } : []
    }
}
