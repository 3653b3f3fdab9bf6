internal import TextFormats

/// A YAML document from elsewhere, such as an OpenAPI document, rather than a configuration.
package enum YAMLDocument {
    /// An error for a text that cannot be read, with its line and column.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private static let maxNodes = 5_000_000

    /// Returns the document as JSON text.
    ///
    /// Unlike in a configuration, keys may be numbers, and duplicates are allowed.
    ///
    /// - Throws: ``Failure`` for a text that is not YAML, is deeper than 64 levels, or has more than five million
    ///   values.
    package static func json(_ text: String) throws(Failure) -> String {
        let (root, faults) = YAMLParser.parse(text, nodeLimit: maxNodes)
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
            // A text such as a version or a postal code is written like a number.
            switch node.writtenScalar {
            case .null: out += "null"
            case .bool(let value): out += value ? "true" : "false"
            case .int(let number): out += String(number)
            case .decimal(let number): out += number
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
