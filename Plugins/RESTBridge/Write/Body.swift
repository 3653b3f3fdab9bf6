internal import BridgeHTTP
internal import BridgeKit

/// The body of a write.
struct Body {
    let value: JSONTree
    let format: WriteRule.Format
    private let mediaType: String

    /// - Parameter current: The remote's object, for ``WriteRule/Format/full``.
    init(_ rule: WriteRule, _ request: WriteRequest, _ variables: TemplateVariables, current: JSONTree? = nil) {
        let changes = JSONTree(request.values).merging(rule.forced.filled(variables) ?? .object([]))
        format = rule.format
        mediaType = rule.mediaType
        if format == .jsonPatch {
            value = .array(Self.operations(changes, at: ""))
            return
        }
        var wrapped = current.map { $0.merging(changes) } ?? changes
        for name in rule.wrap.reversed() { wrapped = .object([(name, wrapped)]) }
        if let around = rule.envelope.filled(variables), !around.members.isEmpty { wrapped = around.merging(wrapped) }
        if let mutation = rule.mutation { wrapped.set(.text(mutation), at: ["query"]) }
        value = wrapped
    }

    var encoded: (bytes: [UInt8], mediaType: String) {
        let text = format == .form ? Self.form(value, "").joined(separator: "&") : value.json
        return (Array(text.utf8), mediaType)
    }

    /// RFC 6902, section 4.1: `add` replaces a member that is there, where `replace` would want it to be there.
    private static func operations(_ value: JSONTree, at pointer: String) -> [JSONTree] {
        value.members.flatMap { name, value -> [JSONTree] in
            // RFC 6901, section 3.
            let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
            let place = "\(pointer)/\(escaped)"
            if value.isObject, !value.members.isEmpty { return operations(value, at: place) }
            return [["op": "add", "path": .text(place), "value": value]]
        }
    }

    /// Nested members as `a[b]`, null as an empty value: what forms have come to mean.
    private static func form(_ value: JSONTree, _ name: String) -> [String] {
        func pair(_ text: String) -> [String] { [HTTPURL.encode(name) + "=" + HTTPURL.encode(text)] }
        switch value {
        case .object(let members):
            return members.all.flatMap { form($0.value, name.isEmpty ? $0.name : "\(name)[\($0.name)]") }
        case .array(let elements): return elements.flatMap { form($0, "\(name)[]") }
        case .text(let text): return pair(text)
        case .null: return pair("")
        case .bool, .number: return pair(value.json)
        }
    }
}

extension JSONTree {
    /// The value with its variables' values, as in the body of a listing; nil where a text's variable has none.
    fileprivate func filled(_ variables: TemplateVariables) -> JSONTree? {
        switch self {
        case .text(let text):
            switch ValueTemplate.expandJSON(text, variables) {
            case .bool(let value): .bool(value)
            case .number(let characters): .number(characters)
            case .text(let text): .text(text)
            case .null, .array, .object, nil: nil
            }
        case .array(let elements): .array(elements.compactMap { $0.filled(variables) })
        case .object(let members):
            .object(members.all.compactMap { name, value in value.filled(variables).map { (name, $0) } })
        case .null, .bool, .number: self
        }
    }
}
