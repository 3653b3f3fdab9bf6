internal import BridgeKit
internal import TextFormats

/// The location of a WSDL or schema document: an absolute path or an http(s) URL.
struct DocumentLocation: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`; empty for a file.
    let scheme: String
    /// Host and port as written; empty for a file.
    let authority: String
    /// The absolute path.
    let path: String
    /// The query with its question mark; empty for none.
    let query: String

    var isFile: Bool { scheme.isEmpty }
    var description: String { isFile ? path : "\(scheme)://\(authority)\(path)\(query)" }

    /// Parses an absolute path or an http(s) URL; returns nil for others (also for `file:`, which a path replaces).
    init?(_ text: String) {
        if text.hasPrefix("/") {
            self.init(scheme: "", authority: "", path: Self.normalized(text), query: "")
            return
        }
        let reference = Reference(text)
        guard let scheme = reference.scheme, scheme == "http" || scheme == "https", let authority = reference.authority,
            !authority.isEmpty
        else { return nil }
        self.init(
            scheme: scheme, authority: authority.lowercased(),
            path: reference.path.isEmpty ? "/" : Self.normalized(reference.path), query: reference.query)
    }

    private init(scheme: String, authority: String, path: String, query: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
    }

    /// Resolves a reference (RFC 3986, section 5.2); returns nil if it leads to another host, scheme or kind.
    func resolving(_ text: String) -> DocumentLocation? {
        let reference = Reference(text)
        if reference.scheme != nil || reference.authority != nil {
            let full = reference.scheme == nil ? "\(scheme):\(text)" : text
            guard !isFile, let other = DocumentLocation(full), other.scheme == scheme, other.authority == authority
            else {
                return nil
            }
            return other
        }
        // A file's path has no query; a question mark in a file name is not supported.
        if reference.path.isEmpty {
            return DocumentLocation(
                scheme: scheme, authority: authority, path: path,
                query: reference.query.isEmpty ? query : reference.query)
        }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        let joined = reference.path.hasPrefix("/") ? reference.path : folder + reference.path
        return DocumentLocation(
            scheme: scheme, authority: authority, path: Self.normalized(joined), query: isFile ? "" : reference.query)
    }

    /// Resolves a reference to any host; returns nil unless the result is an http(s) URL.
    func resolvingAnywhere(_ text: String) -> DocumentLocation? {
        if let near = resolving(text) { return near }
        let reference = Reference(text)
        guard reference.authority != nil else { return nil }
        return DocumentLocation(reference.scheme == nil ? "\(scheme.isEmpty ? "http" : scheme):\(text)" : text)
    }

    /// Returns the same path and query on the server of `other`; nil for a file.
    func moved(to other: DocumentLocation) -> DocumentLocation? {
        guard !isFile, !other.isFile else { return nil }
        return DocumentLocation(scheme: other.scheme, authority: other.authority, path: path, query: query)
    }

    /// The host of an http(s) URL, in lower case, without a port; empty for a file.
    var host: String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
        return String(authority.prefix { $0 != ":" })
    }

    /// The location with its path percent-decoded.
    var percentDecoded: DocumentLocation {
        DocumentLocation(
            scheme: scheme, authority: authority,
            path: Self.normalized(PercentEncoding.decoded(path, keepsZero: true)), query: query)
    }

    /// Removes the segments `.` and `..` (RFC 3986, section 5.2.4).
    private static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in all.enumerated() {
            let isLast = index == all.count - 1
            switch part {
            case ".": if isLast { parts.append("") }
            case "..":
                if !parts.isEmpty { parts.removeLast() }
                if isLast { parts.append("") }
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// A URI reference, split into components (RFC 3986, appendix B) without its fragment.
    private struct Reference {
        var scheme: String?
        var authority: String?
        var path = ""
        var query = ""

        init(_ text: String) {
            var rest = Substring(text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? "")
            if let mark = rest.firstIndex(of: "?") {
                query = String(rest[mark...])
                rest = rest[..<mark]
            }
            if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/"),
                rest[..<colon].first?.isLetter == true
            {
                scheme = rest[..<colon].lowercased()
                rest = rest[rest.index(after: colon)...]
            }
            if rest.hasPrefix("//") {
                rest = rest.dropFirst(2)
                let end = rest.firstIndex(of: "/") ?? rest.endIndex
                authority = String(rest[..<end])
                rest = rest[end...]
            }
            path = String(rest)
        }
    }
}
