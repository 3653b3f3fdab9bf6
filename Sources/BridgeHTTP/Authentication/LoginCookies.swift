internal import CCurl

/// The cookies that the reply to a login sets (RFC 6265, section 5.2).
struct LoginCookies {
    private var names: [String] = []
    private var values: [String: String] = [:]

    /// When the years begin in which a cookie may end that is to be kept.
    ///
    /// Servers delete cookies by an end long ago; the time now would make a replay differ from its recording.
    private static let firstEnd = 946_684_800

    /// - Parameter fields: The values of Set-Cookie: of several cookies of one name, the last one counts.
    init(_ fields: [String]) {
        for field in fields {
            let parts = field.split(separator: ";", omittingEmptySubsequences: false)
            let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            let (name, value) = (Self.trimmed(pair[0]), Self.trimmed(pair[1]))
            if !names.contains(name) { names.append(name) }
            values[name] = value.isEmpty || Self.isOver(parts.dropFirst()) ? nil : value
        }
        names.removeAll { [values] in values[$0] == nil }
    }

    /// Whether no cookie is left.
    var isEmpty: Bool { names.isEmpty }

    /// The value of the header field Cookie.
    var field: String { names.map { "\($0)=\(values[$0] ?? "")" }.joined(separator: "; ") }

    /// What the cookies hold.
    var secrets: [String] { names.compactMap { values[$0] } }

    /// Whether a cookie's attributes say that it has ended; Max-Age takes precedence over Expires.
    private static func isOver(_ attributes: ArraySlice<Substring>) -> Bool {
        var (age, end): (Int?, Int?) = (nil, nil)
        for attribute in attributes {
            let pair = attribute.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            switch trimmed(pair[0]).lowercased() {
            case "max-age": age = Int(trimmed(pair[1])) ?? age
            case "expires":
                let date = Int(curl_getdate(trimmed(pair[1]), nil))
                if date >= 0 { end = date }
            default: break
            }
        }
        if let age { return age <= 0 }
        return end.map { $0 < firstEnd } ?? false
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimming { $0 == " " || $0 == "\t" }
    }
}
