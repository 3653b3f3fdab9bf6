internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The body of a write.
struct Body {
    let value: JSONTree
    let format: RESTWriteRule.Format
    private let mediaType: String
    /// Whether a form has an empty value for an empty list and an empty object: a member that is not there would stay
    /// as it is on the remote.
    private let sendsEmpty: Bool

    /// - Parameter base: The object to apply the changes to: the remote's object for ``RESTWriteRule/Format/full`` and
    ///   ``RESTWriteRule/Format/jsonPatch``, or the nested objects to send whole.
    init(_ rule: RESTWriteRule, _ request: WriteRequest, _ variables: TemplateVariables, base: JSONTree? = nil) {
        let forced = rule.forcedValues(variables)
        let changes = Changes(request)
        format = rule.format
        mediaType = rule.mediaType
        sendsEmpty = request.operation == .update
        if format == .jsonPatch {
            value = .array(changes.operations(in: base) + Changes.operations(forced, at: ""))
            return
        }
        var wrapped = format == .mergePatch ? changes.mergePatch : changes.made(in: base)
        if format == .form, base != nil { wrapped = wrapped.withoutEmpty(besides: changes.values) }
        wrapped = wrapped.merging(forced)
        for step in rule.wrap.reversed() { wrapped = step.around(wrapped) }
        if let around = rule.envelope.filled(variables), around != .object([]) { wrapped = around.enclosing(wrapped) }
        if let mutation = rule.mutation { wrapped.set(.text(mutation), at: ["query"]) }
        value = wrapped
    }

    var encoded: (bytes: [UInt8], mediaType: String) {
        let text = format == .form ? form(value, "").joined(separator: "&") : value.json
        return (Array(text.utf8), mediaType)
    }

    /// Encodes nested members as `a[b]` and null as an empty value, by the common convention for forms.
    private func form(_ value: JSONTree, _ name: String) -> [String] {
        func pair(_ text: String) -> [String] { [HTTPURL.encode(name) + "=" + HTTPURL.encode(text)] }
        switch value {
        case .object(let members) where !members.isEmpty:
            return members.all.flatMap { form($0.value, name.isEmpty ? $0.name : "\(name)[\($0.name)]") }
        case .array(let elements) where !elements.isEmpty: return elements.flatMap { form($0, "\(name)[]") }
        case .array, .object: return sendsEmpty && !name.isEmpty ? pair("") : []
        case .null: return name.isEmpty ? [] : pair("")
        case .text(let text): return pair(text)
        case .bool, .number: return pair(value.json)
        }
    }
}

extension RESTWriteRule {
    /// Returns the fixed values to add to each body.
    func forcedValues(_ variables: TemplateVariables) -> JSONTree { forced.filled(variables) ?? .object([]) }
}

extension JSONTree {
    /// Whether the value is null, an empty list or an empty object.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        case .bool, .number, .text: false
        }
    }

    /// Returns the value without empty members, except those in `changes`; in a form they would become empty texts.
    fileprivate func withoutEmpty(besides changes: JSONTree?) -> JSONTree {
        guard case .object(let own) = self else { return self }
        return .object(
            own.all.compactMap { name, value in
                let change = changes?[name]
                let left = value.withoutEmpty(besides: change)
                return left.isEmpty && change == nil ? nil : (name, left)
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
