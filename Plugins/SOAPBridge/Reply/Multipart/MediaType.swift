internal import BridgeKit
internal import TextFormats

/// The value of a Content-Type field: a type and its parameters (RFC 9110, section 8.3.1).
struct MediaType: Equatable {
    /// The type, in lower case.
    var name: String
    /// The values without their quotes, by parameter name in lower case.
    var parameters: [String: String] = [:]

    init(_ text: String) {
        var rest = Substring(text)
        name = String(rest.prefix { $0 != ";" }).trimmingWhiteSpace.lowercased()
        rest = rest.dropFirst(rest.prefix { $0 != ";" }.count)
        while rest.first == ";" {
            rest = rest.dropFirst()
            let key = String(rest.prefix { $0 != "=" && $0 != ";" })
            rest = rest.dropFirst(key.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " }
            var value = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    value.append(character == "\\" ? rest.popFirst() ?? character : character)
                }
                rest = rest.drop { $0 != ";" }
            } else {
                value = String(rest.prefix { $0 != ";" })
                rest = rest.dropFirst(value.count)
            }
            parameters[key.trimmingWhiteSpace.lowercased()] = value.trimmingWhiteSpace
        }
    }

    /// Whether the type is XML or may be.
    var isXML: Bool {
        ["text/xml", "application/xml", ""].contains(name)
            || name.hasSuffix("+xml") && name != "application/xhtml+xml"
    }
}

/// Names of attachments, as written in references and header fields.
enum AttachmentName {
    /// Returns `a@b` for `cid:a%40b` (RFC 2392); returns a location unchanged.
    static func decoded(_ href: String) -> String {
        guard href.lowercased().hasPrefix("cid:") else { return href }
        return PercentEncoding.decoded(href.dropFirst(4))
    }

    /// Returns the names by which a reply can refer to a part.
    static func names(_ fields: [String: String]) -> [String] {
        var names: [String] = []
        if let id = fields["content-id"] {
            names.append(id.hasPrefix("<") && id.hasSuffix(">") ? String(id.dropFirst().dropLast()) : id)
        }
        if let location = fields["content-location"] { names.append(location) }
        return names
    }
}
