/// What a reply that was not expected says, in short.
public enum RemoteWords {
    /// A web page's title, or its text; other text as it is; nil for nothing or for bytes that are no text.
    public static func make(_ bytes: [UInt8], mediaType: String?) -> String? {
        guard !bytes.contains(0) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let words = isPage(bytes, mediaType: mediaType) ? title(text) ?? strip(text) : text
        let short = words.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(300)
        return short.isEmpty ? nil : String(short)
    }

    /// Whether this is a web page, by its type or its first tag; what begins like JSON is none, whatever its type says.
    public static func isPage(_ bytes: [UInt8], mediaType: String?) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let words = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 <= 0x20 }
        if mediaType == "text/html" || mediaType == "application/xhtml+xml" {
            // Some servers call all that they send a web page, JSON too; no page begins so.
            return !words.isEmpty && words.first != UInt8(ascii: "{") && words.first != UInt8(ascii: "[")
        }
        let start = String(decoding: words.prefix(14), as: UTF8.self).lowercased()
        return start.hasPrefix("<!doctype html") || start.hasPrefix("<html")
    }

    private static func title(_ page: String) -> String? {
        let lower = page.lowercased()
        // Lower case may have another length than the original: take both ends from the same text.
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
