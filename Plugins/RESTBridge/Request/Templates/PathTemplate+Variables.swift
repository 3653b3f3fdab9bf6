internal import BridgeHTTP
internal import BridgeKit

extension PathTemplate {
    /// Returns the path with variables replaced.
    ///
    /// - Returns: nil if a variable outside of groups has no value.
    /// - Throws: `BridgeError` if a value would leave its place in the path.
    func expand(_ variables: TemplateVariables) throws -> String? {
        try expand(placed: { name, isInQuery in variables.value(name, keepsEmpty: isInQuery) })
    }

    /// Returns the first variable outside of groups without a value, which makes ``expand(_:)-(TemplateVariables)``
    /// return nil.
    func missing(_ variables: TemplateVariables) -> String? {
        for case .expression(let sign, let names) in parts where sign == " " || sign == "+" {
            if let name = names.first(where: { variables.value($0) == nil }) { return name }
        }
        return nil
    }

    /// Requires values for the variables of the user info outside of groups.
    func requireUserInfo(_ variables: TemplateVariables, option: String) throws {
        for case .expression(_, let names) in parts {
            for name in names { try variables.requireUserInfo(name, option: option) }
        }
    }

    /// Requires values for the variables that identify the parent.
    ///
    /// - Throws: `SkippedParent` if one has no value, or `BridgeError` if the parent has no such attribute.
    func requireParentValues(_ variables: TemplateVariables, option: String) throws {
        var isInQuery = false
        for part in parts {
            switch part {
            case .literal(let text): isInQuery = isInQuery || text.contains("?")
            case .group: break
            case .expression(let sign, let names):
                isInQuery = isInQuery || sign == "?" || sign == "&"
                for name in names {
                    try variables.requireParentValue(name, option: option, takesEmpty: isInQuery)
                }
            }
        }
    }
}
