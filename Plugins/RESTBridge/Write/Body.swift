internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The body of a write.
struct Body {
    let value: JSONTree
    let format: RESTWriteRule.Format
    private let mediaType: String

    /// - Parameter base: The object to apply the changes to: the remote's object for ``RESTWriteRule/Format/full``, or the
    ///   nested objects to send whole.
    init(_ rule: RESTWriteRule, _ request: WriteRequest, _ variables: TemplateVariables, base: JSONTree? = nil) {
        let forced = rule.forcedValues(variables)
        let changes = Changes(request)
        format = rule.format
        mediaType = rule.mediaType
        if format == .jsonPatch {
            value = .array(changes.operations + Changes.operations(forced, at: ""))
            return
        }
        var wrapped = (format == .mergePatch ? changes.mergePatch : changes.made(in: base)).merging(forced)
        if format == .form, base != nil { wrapped = wrapped.withoutNulls(besides: changes.values) }
        for step in rule.wrap.reversed() { wrapped = step.around(wrapped) }
        if let around = rule.envelope.filled(variables), around != .object([]) { wrapped = around.enclosing(wrapped) }
        if let mutation = rule.mutation { wrapped.set(.text(mutation), at: ["query"]) }
        value = wrapped
    }

    var encoded: (bytes: [UInt8], mediaType: String) {
        let text = format == .form ? Self.form(value, "").joined(separator: "&") : value.json
        return (Array(text.utf8), mediaType)
    }

    /// Encodes nested members as `a[b]` and null as an empty value, by the common convention for forms.
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

extension RESTWriteRule {
    /// Returns the fixed values to add to each body.
    func forcedValues(_ variables: TemplateVariables) -> JSONTree { forced.filled(variables) ?? .object([]) }
}

extension JSONTree {
    /// Returns the value without null members, except those in `changes`; in a form they would become empty texts.
    fileprivate func withoutNulls(besides changes: JSONTree?) -> JSONTree {
        guard case .object(let own) = self else { return self }
        return .object(
            own.all.compactMap { name, value in
                let change = changes?[name]
                return value == .null && change == nil ? nil : (name, value.withoutNulls(besides: change))
            })
    }

    /// Returns the value with variables replaced, as in the body of a listing, or nil for a text whose variable has no
    /// value.
    fileprivate func filled(_ variables: TemplateVariables) -> JSONTree? {
        switch self {
        case .text(let text): ValueTemplate.expandJSON(text, variables)
        case .array(let elements): .array(elements.compactMap { $0.filled(variables) })
        case .object(let members):
            .object(members.all.compactMap { name, value in value.filled(variables).map { (name, $0) } })
        case .null, .bool, .number: self
        }
    }
}
