internal import TextFormats

/// An address that a page may link to: a path of this site, or a web address.
package struct WebLink: Sendable, Equatable {
    /// The address, percent-encoded.
    package let text: String

    private init(text: String) { self.text = text }

    /// Creates a link to a path of this site.
    ///
    /// - Parameters:
    ///   - path: The parts of the path, not encoded.
    ///   - query: The names and values of the query.
    ///   - fragment: The id of an element on the page.
    package init(
        _ path: [String], query: [(name: String, value: String)] = [], fragment: StaticString? = nil
    ) {
        var text = "/" + path.map { Self.part($0) }.joined(separator: "/")
        if !query.isEmpty {
            text += "?" + query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
        }
        self.init(text: text + (fragment.map { "#\($0)" } ?? ""))
    }

    /// Creates a link to a path of this site.
    package init(_ path: String...) { self.init(path) }

    /// Creates a link to an address that came from a remote; nil unless its scheme is http, https or mailto.
    ///
    /// A browser would run the code in a `javascript:` address, and open other programs for other schemes.
    package init?(remote address: String) {
        let isPlain = address.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        let start = address.prefix(8).lowercased()
        guard isPlain, ["http://", "https://", "mailto:"].contains(where: start.hasPrefix) else { return nil }
        self.init(text: address)
    }

    private static func encoded(_ text: String) -> String { PercentEncoding.encoded(text) }

    /// Returns a part of a path, as ``WebRequest/path`` reads it.
    ///
    /// A browser removes the parts `.` and `..`, however they are encoded (URL Standard, section 4.1), and an empty part at
    /// the end would not be read.
    private static func part(_ text: String) -> String {
        ["", ".", ".."].contains(text) ? "=" + text : encoded(text)
    }
}
