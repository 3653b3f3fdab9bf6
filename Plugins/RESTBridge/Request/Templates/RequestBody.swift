internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The body of a request before variables are replaced.
struct RequestBody: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case json, form, text
    }

    var content: JSONTree
    var format: Format

    /// - Returns: nil if the section has no body.
    init?(_ section: BridgeOptions) throws {
        let given = section.withValue("body") { $0.map(JSONTree.init) }
        guard let content = given, content != .null else { return nil }
        self.content = content
        if let text = section.string("body_format") {
            guard let format = Format(rawValue: text) else {
                throw BridgeError(
                    .configuration, "body_format is \"\(text)\"",
                    remedy: "use one of: \(Format.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.format = format
        } else if case .text = content {
            format = .text
        } else {
            format = .json
        }
        switch (format, content) {
        case (.form, .object), (.text, .text), (.json, _): break
        default:
            throw BridgeError(
                .configuration, "body does not fit body_format \(format.rawValue)",
                remedy: "json takes any value, form an object of plain values, text a text")
        }
    }

    init(content: JSONTree, format: Format) {
        self.content = content
        self.format = format
    }

    /// Returns the bytes and the media type of the body.
    func encode(_ variables: TemplateVariables) -> (bytes: [UInt8], mediaType: String) {
        switch format {
        case .json:
            let filled = content.mapTexts { ValueTemplate.expandJSON($0, variables) } ?? .null
            return (Array(filled.json.utf8), "application/json")
        case .text:
            let text = content.plainText.flatMap { ValueTemplate.expand($0, variables) } ?? ""
            return (Array(text.utf8), "text/plain; charset=utf-8")
        case .form:
            var pairs: [String] = []
            func add(_ name: String, _ value: JSONTree) {
                if case .array(let values) = value {
                    for value in values { add(name, value) }
                } else if let text = value.plainText.flatMap({ ValueTemplate.expand($0, variables) }) {
                    pairs.append(HTTPURL.encode(name) + "=" + HTTPURL.encode(text))
                }
            }
            for member in content.members { add(member.name, member.value) }
            return (Array(pairs.joined(separator: "&").utf8), "application/x-www-form-urlencoded")
        }
    }
}
