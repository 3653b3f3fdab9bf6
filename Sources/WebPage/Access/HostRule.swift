/// The host names that requests may use.
///
/// A page of another site can make its own name resolve to this machine (DNS rebinding). The browser then sends that name
/// in `Host`, which this rule refuses.
package struct HostRule: Sendable, Equatable {
    /// The host names that are allowed, in lower case; IPv6 addresses in brackets.
    package var names: Set<String>
    /// Whether any IP address is allowed: a browser that requests an address has not resolved a name.
    package var allowsAddresses: Bool

    /// The names by which a machine reaches itself.
    package static let loopback = HostRule(names: ["localhost", "127.0.0.1", "[::1]"], allowsAddresses: false)

    /// Creates a rule.
    package init(names: Set<String>, allowsAddresses: Bool) {
        self.names = Set(names.map { Self.withoutFinalDot($0.lowercased()) })
        self.allowsAddresses = allowsAddresses
    }

    /// Returns whether a `Host` header field has an allowed name.
    package func allows(_ host: String) -> Bool {
        guard let name = Self.name(in: host.lowercased()).map(Self.withoutFinalDot) else { return false }
        return names.contains(name) || allowsAddresses && Self.isAddress(name)
    }

    /// Returns a host name or an IP address as requests have it in `Host`, without a port; nil if a text is neither.
    ///
    /// A browser sends an international name in its ASCII form. A dot at the end, as of a name in DNS, does not count.
    package static func name(of text: String) -> String? {
        let name = withoutFinalDot(text.lowercased())
        if name.contains(":") {
            let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
            let address = isBracketed ? String(name.dropFirst().dropLast()) : name
            let isIPv6 = address.utf8.allSatisfy { Array("0123456789abcdef:.".utf8).contains($0) }
            return isIPv6 && address.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 ? "[\(address)]" : nil
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = Array("abcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { bytes.contains($0) } }) else { return nil }
        // A name does not end with a number (URL Standard, section 3.5).
        let isNumber = labels.last?.utf8.allSatisfy { (48...57).contains($0) } ?? false
        return isNumber && !isAddress(name) ? nil : name
    }

    private static func withoutFinalDot(_ name: String) -> String {
        name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Returns the name without the port; nil if the text is not `NAME` or `NAME:PORT`.
    private static func name(in host: String) -> String? {
        let end =
            host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
        guard host.first != "[" || end != nil else { return nil }
        let name = host[..<(end ?? host.endIndex)]
        let rest = host[name.endIndex...]
        let isPort = rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil
        return isPort && !name.isEmpty ? String(name) : nil
    }

    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("[") {
            return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
