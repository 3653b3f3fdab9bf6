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
    /// The request's own parameters, which are sent as they are; see ``take(_:below:)``.
    private(set) var given: [GivenParameter] = []
    /// The values of paging, which come from replies and are sent as they are.
    private var placed: [GivenParameter] = []

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

    /// Takes the parameters of one request, in place of the body's own members of the same names.
    ///
    /// - Parameter path: Where the body has parameters.
    /// - Returns: Those for the query, because the body has no members.
    mutating func take(_ parameters: BridgeOptions?, below path: [String]) -> [(name: String, value: String)] {
        guard case .object = content, format != .text else { return GivenParameter.pairs(of: parameters) }
        given = GivenParameter.all(of: parameters, below: path)
        return []
    }

    /// Sets a member to a value that is not a template: a cursor may have braces, which could name a secret.
    mutating func place(_ value: JSONTree, at path: [String]) {
        placed.append(GivenParameter(path: path, value: value))
    }

    /// Returns the bytes and the media type of the body.
    func encode(_ variables: TemplateVariables) -> (bytes: [UInt8], mediaType: String) {
        switch format {
        case .json:
            var filled = content.mapTexts { ValueTemplate.expandJSON($0, variables) } ?? .null
            // A text of theirs is not a template: its braces could name a secret.
            for parameter in placed + given { filled.set(parameter.value, at: parameter.path[...]) }
            return (Array(filled.json.utf8), "application/json")
        case .text:
            let text = content.plainText.flatMap { ValueTemplate.expand($0, variables) } ?? ""
            return (Array(text.utf8), "text/plain; charset=utf-8")
        case .form:
            var fields = content.members.map { (name: $0.name, value: $0.value, isTemplate: true) }
            for parameter in placed {
                guard parameter.path.count == 1, let name = parameter.path.last else { continue }
                let index = fields.firstIndex { $0.name == name } ?? fields.count
                fields.replaceSubrange(
                    index..<min(index + 1, fields.count), with: [(name, parameter.value, isTemplate: false)])
            }
            fields.removeAll { field in given.contains { $0.path == [field.name] } }
            for parameter in given {
                if let name = parameter.path.last { fields.append((name, parameter.value, isTemplate: false)) }
            }
            var pairs: [String] = []
            func add(_ name: String, _ value: JSONTree, isTemplate: Bool) {
                if isTemplate, case .array(let values) = value {
                    for value in values { add(name, value, isTemplate: true) }
                } else if let text = value.plainText.flatMap({ isTemplate ? ValueTemplate.expand($0, variables) : $0 })
                {
                    pairs.append(HTTPURL.encode(name) + "=" + HTTPURL.encode(text))
                }
            }
            for field in fields { add(field.name, field.value, isTemplate: field.isTemplate) }
            return (Array(pairs.joined(separator: "&").utf8), "application/x-www-form-urlencoded")
        }
    }
}
