/// Formats one XML text; nil for any other text.
///
/// White space is added only between elements whose parent holds nothing but elements and white space; elsewhere it is
/// content.
struct XMLLayout {
    private indirect enum Node {
        case text(Substring)
        /// A comment, a processing instruction, a CDATA section or a DOCTYPE.
        case other(Substring)
        case element(start: String, name: Substring, children: [Node], end: Substring)
    }

    private let replace: ExchangeText.Replacement
    private var rest: Substring
    private static let maxDepth = 200

    static func text(_ text: String, replace: ExchangeText.Replacement) -> String? {
        guard text.first(where: { !$0.isWhitespace && $0 != "\u{FEFF}" }) == "<" else { return nil }
        return withoutActuallyEscaping(replace) { replace in
            // A parser normalises line ends in the same way (XML 1.0, section 2.11).
            var layout = XMLLayout(
                replace: replace, rest: text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")[...])
            guard let nodes = layout.nodes(of: nil, depth: 0), layout.rest.isEmpty else { return nil }
            var isDocument = false
            for case .element(_, let name, _, _) in nodes where name.lowercased() != "html" { isDocument = true }
            guard isDocument else { return nil }
            var out = ""
            for node in nodes {
                if case .text = node { continue }
                layout.write(node, depth: 0, to: &out)
                out += "\n"
            }
            return String(out.dropLast())
        }
    }

    private init(replace: @escaping ExchangeText.Replacement, rest: Substring) {
        self.replace = replace
        self.rest = rest
    }

    /// Parses the nodes up to the end tag of `name`, which stays unread.
    private mutating func nodes(of name: Substring?, depth: Int) -> [Node]? {
        guard depth < Self.maxDepth else { return nil }
        var nodes: [Node] = []
        while let first = rest.first {
            guard first == "<" else {
                let text = rest.prefix { $0 != "<" }
                rest = rest[text.endIndex...]
                nodes.append(.text(text))
                continue
            }
            if rest.hasPrefix("</") { return name == nil ? nil : nodes }
            if let other = other() {
                nodes.append(.other(other))
                continue
            }
            guard let node = element(depth: depth) else { return nil }
            nodes.append(node)
        }
        return name == nil ? nodes : nil
    }

    private mutating func other() -> Substring? {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", ">")]
        where rest.hasPrefix(start) {
            guard let range = rest.firstRange(of: end) else { return nil }
            defer { rest = rest[range.upperBound...] }
            return rest[..<range.upperBound]
        }
        return nil
    }

    private mutating func element(depth: Int) -> Node? {
        guard let start = tag() else { return nil }
        let name = start.dropFirst().prefix { !$0.isWhitespace && $0 != "/" && $0 != ">" }
        guard !name.isEmpty, !name.hasPrefix("!") else { return nil }
        if start.hasSuffix("/>") { return .element(start: cleaned(start), name: name, children: [], end: "") }
        guard let children = nodes(of: name, depth: depth + 1), let end = tag(),
            end.dropFirst(2).prefix(while: { !$0.isWhitespace && $0 != ">" }) == name
        else { return nil }
        return .element(start: cleaned(start), name: name, children: children, end: end)
    }

    /// Reads a tag; a `>` in an attribute's value does not end it.
    private mutating func tag() -> Substring? {
        var quote: Character?
        for index in rest.indices {
            let character = rest[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == ">" {
                let after = rest.index(after: index)
                defer { rest = rest[after...] }
                return rest[..<after]
            }
        }
        return nil
    }

    private func write(_ node: Node, depth: Int, to out: inout String) {
        let indentation = String(repeating: "  ", count: depth)
        guard case .element(let start, let name, let children, let end) = node else {
            if case .other(let text) = node { out += indentation + text }
            return
        }
        out += indentation + start
        let isStructure =
            children.contains { if case .element = $0 { true } else { false } }
            && children.allSatisfy { node in
                if case .text(let text) = node { return text.allSatisfy(\.isWhitespace) }
                if case .other(let text) = node { return text.hasPrefix("<!--") }
                return true
            }
        if isStructure {
            for child in children {
                if case .text = child { continue }
                out += "\n"
                write(child, depth: depth + 1, to: &out)
            }
            out += "\n" + indentation
        } else {
            for child in children { writeInline(child, of: name, to: &out) }
        }
        out += end
    }

    private func writeInline(_ node: Node, of parent: Substring, to out: inout String) {
        switch node {
        case .text(let text):
            // White space is not a secret.
            if !text.allSatisfy(\.isWhitespace), let other = replace(String(parent), String(text), false) {
                out += other
            } else {
                out += text
            }
        case .other(let text):
            if text.hasPrefix("<![CDATA["),
                let other = replace(String(parent), String(text.dropFirst(9).dropLast(3)), false)
            {
                out += other
            } else {
                out += text
            }
        case .element(let start, let name, let children, let end):
            out += start
            for child in children { writeInline(child, of: name, to: &out) }
            out += end
        }
    }

    /// Returns a start tag with replaced attribute values.
    private func cleaned(_ tag: Substring) -> String {
        var out = ""
        var rest = tag
        while let equals = rest.firstIndex(of: "="),
            let open = rest[equals...].dropFirst().first(where: { !$0.isWhitespace }),
            open == "\"" || open == "'", let start = rest[equals...].firstIndex(of: open),
            let end = rest[rest.index(after: start)...].firstIndex(of: open)
        {
            let name = rest[..<equals].split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
            let value = rest[rest.index(after: start)..<end]
            out += rest[...start]
            out += replace(name, String(value), false).map { $0[...] } ?? value
            out.append(open)
            rest = rest[rest.index(after: end)...]
        }
        return out + rest
    }
}
