import BridgeKit
import TextFormats

/// A parsed URL of the form `smb://HOST[:PORT]/SHARE[/FOLDER]`.
///
/// Source of the form: draft-crhertel-smb-url; without user information, query or fragment.
struct ShareURL: Sendable, Equatable {
    let host: String
    let port: UInt16?
    let share: String
    /// The folder's components, below the share.
    let folder: [String]

    /// - Throws: ``BridgeError`` that names the invalid part; it omits the text if it may hold a password.
    init(_ text: String) throws {
        func refuse(_ why: String, remedy: String = "write it as smb://HOST[:PORT]/SHARE[/FOLDER]") -> BridgeError {
            BridgeError(.configuration, "url: \(why)", remedy: remedy)
        }
        guard text.lowercased().hasPrefix("smb://") else { throw refuse("it does not begin with smb://") }
        let rest = text.dropFirst("smb://".count)
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        let authority = parts.first ?? ""
        // An unencoded "/" in a password would move the "@" into the path: look for it everywhere.
        guard !rest.contains("@") else {
            throw refuse(
                "it holds a user or password, or an unencoded @",
                remedy: "use the options user and password; write an @ in a folder's name as %40")
        }
        guard !rest.contains("?"), !rest.contains("#") else {
            throw refuse("it has a query or fragment", remedy: "write # in a folder's name as %23")
        }
        (host, port) = try Self.hostAndPort(authority, refuse: { refuse($0) })
        var names: [String] = []
        for part in parts.dropFirst() where !part.isEmpty {
            guard let name = PercentEncoding.strictlyDecoded(part) else {
                throw refuse("\"\(part)\" is not percent-encoded UTF-8")
            }
            if let fault = Self.fault(inName: name) { throw refuse("\"\(name)\" \(fault)") }
            names.append(name)
        }
        guard let share = names.first else { throw refuse("it names no share") }
        self.share = share
        folder = Array(names.dropFirst())
    }

    private static func hostAndPort(
        _ authority: Substring, refuse: (String) -> BridgeError
    ) throws -> (String, UInt16?) {
        guard !authority.hasPrefix("[") else {
            throw refuse("libsmbclient takes no IPv6 address: use a host name that has one")
        }
        let colon = authority.firstIndex(of: ":")
        let host = authority[..<(colon ?? authority.endIndex)]
        var port: UInt16?
        if let colon {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
                throw refuse("its port is not a number from 1 to 65535")
            }
            port = number
        }
        guard !host.isEmpty else { throw refuse("it names no host") }
        let allowed = host.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed else { throw refuse("its host has a character that host names cannot have") }
        return (String(host), port)
    }

    /// Returns the reason why a server would refuse this name; nil for a valid name.
    ///
    /// The invalid characters are the separators and those that [MS-FSCC], section 2.1.5 forbids.
    static func fault(inName name: String) -> String? {
        if name == "." || name == ".." { return "is not a name" }
        if name.utf8.count > 255 { return "is longer than 255 bytes" }
        for byte in name.utf8 where byte < 0x20 || "\"*/:<>?\\|".utf8.contains(byte) {
            return "has a character that SMB names cannot have"
        }
        return nil
    }

    /// Returns the URL for libsmbclient; `path` is below the share.
    ///
    /// libsmbclient always decodes, so a `%` in a name must be encoded, too. The port is an option of the context.
    func encoded(_ path: [String]) -> String {
        "smb://\(host)/" + ([share] + path).map(Self.percentEncoded).joined(separator: "/")
    }

    /// Returns the URL for people; `path` is below the share.
    func location(path: [String]) -> String {
        "smb://\(host)" + (port.map { ":\($0)" } ?? "") + "/" + ([share] + path).joined(separator: "/")
    }

    /// Returns the URL for people; `path` is below the URL's folder.
    func location(_ path: [String]) -> String { location(path: folder + path) }

    /// Percent-encodes all characters of `name` except unreserved ones (RFC 3986, section 2.3), and the tilde, too, as
    /// stored resume points have it.
    static func percentEncoded(_ name: String) -> String {
        PercentEncoding.encoded(name) { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }
}
