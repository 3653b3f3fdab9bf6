public import BridgeJSON
internal import TextFormats

extension PagingRule {
    /// Returns what a request for a page says, and where: its position, and the number of records if that is limited.
    ///
    /// ```swift
    /// for (place, value) in rule.parameters(at: position) {
    ///     guard case .query(let name) = place else { throw BridgeError(.unsupported, "paging outside of the query") }
    ///     url = url.setting(query: [(name, value.plainText ?? "")])
    /// }
    /// ```
    ///
    /// - Parameter position: The page's position. One that is a URL says everything itself and has no parameters.
    /// - Returns: The places and values, in the order of the request. A value is a text or a number, or in a body any
    ///   JSON.
    public func parameters(at position: PagePosition) -> [(place: Parameter, value: JSONTree)] {
        var parameters: [(place: Parameter, value: JSONTree)] = []
        var hasSize = true
        switch position {
        case .url: return []
        case .only: break
        case .page(let number), .offset(let number): parameters.append((parameter, value(.number(String(number)))))
        case .cursor(let text) where isByMembers:
            parameters = PercentEncoding.pairs(text).map { (place(of: $0.name), .text($0.value)) }
        case .cursor(let text):
            parameters.append((parameter, value(.text(text))))
            hasSize = nextPath == nil
        case .json(let text):
            parameters.append((parameter, value(Self.tree(of: text))))
            hasSize = nextPath == nil
        }
        if hasSize, let size, let sizeParameter { parameters.append((sizeParameter, .number(String(size)))) }
        return parameters
    }

    /// Returns the value of a JSON text, or null if it is invalid.
    private static func tree(of text: String) -> JSONTree {
        // A number keeps its digits.
        if let first = text.first, first == "-" || first.isNumber { return .number(text) }
        // The parser only accepts objects and lists of objects.
        let tree = try? JSONTree(parsing: Array("{\"value\":\(text)}".utf8), what: "the cursor")
        return tree?["value"] ?? .null
    }
}
