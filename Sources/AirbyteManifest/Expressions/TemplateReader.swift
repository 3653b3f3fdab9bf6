/// Splits a Jinja text into its texts, expressions and statements.
struct TemplateReader {
    indirect enum Node {
        case text(String)
        case output(Expression)
        case set(String, Expression)
        case condition([(test: Expression?, nodes: [Node])])
        case loop(String, Expression, [Node])
    }

    private var rest: Substring
    private let source: String
    private var depth = 0

    init(_ text: String) {
        source = text
        rest = text[...]
    }

    /// - Throws: ``Untranslatable`` for statements that are not understood.
    mutating func nodes() throws -> [Node] {
        let (nodes, end) = try block(until: [])
        guard end.isEmpty else { throw Untranslatable("the statement \(end) has no beginning in \(source)") }
        return nodes
    }

    private mutating func block(until ends: [String]) throws -> (nodes: [Node], end: String) {
        depth += 1
        defer { depth -= 1 }
        guard depth < 50 else { throw Untranslatable("statements are nested too deeply") }
        var nodes: [Node] = []
        while let open = rest.firstRange(of: "{") {
            let mark = rest[open.lowerBound...].prefix(2)
            guard ["{{", "{%", "{#"].contains(mark) else {
                nodes.append(.text(String(rest[..<open.upperBound])))
                rest = rest[open.upperBound...]
                continue
            }
            nodes.append(.text(String(rest[..<open.lowerBound])))
            let close = mark == "{{" ? "}}" : mark == "{%" ? "%}" : "#}"
            rest = rest[open.lowerBound...].dropFirst(2)
            guard let end = rest.firstRange(of: close) else {
                throw Untranslatable("\(source) lacks \(close)")
            }
            var range = end
            // A dictionary may end right before the closing braces: {{ {'a': 1}}}.
            while mark == "{{", range.upperBound < rest.endIndex, rest[range.upperBound] == "}" {
                range = rest.index(after: range.lowerBound)..<rest.index(after: range.upperBound)
            }
            let inner = Self.trimmed(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
            if mark == "{#" { continue }
            if mark == "{{" {
                nodes.append(.output(try ExpressionParser.parse(inner[...])))
                continue
            }
            let word = String(inner.prefix { !$0.isWhitespace })
            if ends.contains(word) { return (nodes, inner) }
            nodes.append(try statement(word, inner.dropFirst(word.count)))
        }
        nodes.append(.text(String(rest)))
        rest = rest[rest.endIndex...]
        guard ends.isEmpty else { throw Untranslatable("\(source) lacks \(ends.last ?? "")") }
        return (nodes, "")
    }

    private mutating func statement(_ word: String, _ text: Substring) throws -> Node {
        switch word {
        case "set":
            guard let sign = text.firstIndex(of: "=") else { break }
            return .set(
                Self.trimmed(text[..<sign]), try ExpressionParser.parse(text[text.index(after: sign)...]))
        case "if":
            var branches: [(test: Expression?, nodes: [Node])] = []
            var test: Expression? = try ExpressionParser.parse(text)
            while true {
                let (nodes, end) = try block(until: ["elif", "else", "endif"])
                branches.append((test, nodes))
                if end.hasPrefix("endif") { return .condition(branches) }
                test = end.hasPrefix("elif") ? try ExpressionParser.parse(end.dropFirst(4)) : nil
            }
        case "for":
            guard let mark = text.firstRange(of: " in ") else { break }
            var list = Self.trimmed(text[mark.upperBound...])
            if list.hasSuffix(":") { list.removeLast() }
            let (nodes, _) = try block(until: ["endfor"])
            return .loop(Self.trimmed(text[..<mark.lowerBound]), try ExpressionParser.parse(list[...]), nodes)
        default: break
        }
        throw Untranslatable("the statement {% \(word)\(text) %} is not understood")
    }

    private static func trimmed(_ text: Substring) -> String {
        Functions.trimmed(
            text.first == "-" ? String(text.dropFirst()) : String(text.last == "-" ? text.dropLast() : text))
    }
}
