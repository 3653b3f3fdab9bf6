/// A YAML document of somebody else, such as an OpenAPI document: no configuration of ours.
package enum YAMLDocument {
    /// What keeps a text from being read, with its line and column.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private static let mostNodes = 5_000_000

    /// The document as JSON text.
    ///
    /// Unlike in a configuration, keys may be numbers, and what comes twice does no harm.
    ///
    /// - Throws: ``Failure`` for a text that is not YAML, deeper than 64 levels, or that has over five million values.
    package static func json(_ text: String) throws(Failure) -> String {
        let (root, faults) = YAMLParser.parse(text, nodeLimit: mostNodes)
        guard let root else {
            let fault = faults.last
            throw Failure(
                description: fault.map { "line \($0.mark.line), column \($0.mark.column): \($0.message)" }
                    ?? "it is empty")
        }
        var out = ""
        write(root, to: &out)
        return out
    }

    private static func write(_ node: YAMLNode, to out: inout String) {
        switch node.content {
        case .scalar(let text, _):
            switch node.scalar {
            case .null: out += "null"
            case .bool(let value): out += value ? "true" : "false"
            case .int(let number): out += String(number)
            case .double(let number) where number.isFinite: out += "\(number)"
            default: out.appendJSONString(text)
            }
        case .sequence(let elements):
            out += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { out += "," }
                write(element, to: &out)
            }
            out += "]"
        case .mapping(let pairs):
            out += "{"
            var isFirst = true
            for pair in pairs {
                guard let name = pair.key.scalarText else { continue }
                if !isFirst { out += "," }
                isFirst = false
                out.appendJSONString(name)
                out += ":"
                write(pair.value, to: &out)
            }
            out += "}"
        }
    }
}
