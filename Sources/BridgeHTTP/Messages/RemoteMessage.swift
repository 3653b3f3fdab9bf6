/// Summarises an unexpected reply.
public enum RemoteMessage {
    /// The number of body bytes summarised.
    static let longest = 16 << 10
    /// The number of further bytes read, so that a secret at the end of the summarised part is found as a whole.
    static let margin = 16 << 10

    /// Returns a web page's title or text, or any other text as it is; nil for an empty body or bytes that are not
    /// text.
    ///
    /// Secrets are removed before anything is cut: the remaining part of a cut secret would not be recognised.
    public static func make(_ bytes: [UInt8], mediaType: String?, redactor: HTTPRedactor) -> String? {
        guard !bytes.contains(0) else { return nil }
        // The bytes after the end of this part may be a secret's second half.
        let text = redactor.excerpt(of: bytes, 0..<min(bytes.count, longest))
        let words = isPage(bytes, mediaType: mediaType) ? title(text) ?? strip(text) : text
        let short = words.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(300)
        return short.isEmpty ? nil : String(short)
    }

    /// Whether this is a web page, by its type or its first tag; a body that begins like JSON is not, whatever its
    /// type.
    public static func isPage(_ bytes: [UInt8], mediaType: String?) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let words = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 <= 0x20 }
        if mediaType == "text/html" || mediaType == "application/xhtml+xml" {
            // Some servers label every reply as a web page, including JSON; no page begins like this.
            return !words.isEmpty && words.first != UInt8(ascii: "{") && words.first != UInt8(ascii: "[")
        }
        let start = String(decoding: words.prefix(14), as: UTF8.self).lowercased()
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    }

    private static func title(_ page: String) -> String? {
        let lower = page.lowercased()
        // Lower-casing may change the length: take both ends from the same text.
        guard let open = lower.firstRange(of: "<title"), let start = lower[open.upperBound...].firstIndex(of: ">"),
            let end = lower[start...].firstRange(of: "</title")
        else { return nil }
        let from = lower.distance(from: lower.startIndex, to: lower.index(after: start))
        let to = lower.distance(from: lower.startIndex, to: end.lowerBound)
        let title = page.dropFirst(from).prefix(to - from)
        return title.allSatisfy(\.isWhitespace) ? nil : String(title)
    }

    private static func strip(_ page: String) -> String {
        var out = ""
        var isTag = false
        for character in page {
            if character == "<" {
                isTag = true
                out += " "
            } else if character == ">" {
                isTag = false
            } else if !isTag {
                out.append(character)
            }
        }
        return out
    }
}
