internal import Model

/// Parses the subset of Jinja expressions that manifests use.
struct ExpressionParser {
    private var tokens: ArraySlice<ExpressionLexer.Token>
    private let source: Substring
    private var depth = 0
    private var links = 0
    /// The maximum number of operators and suffixes of one expression: each makes its tree deeper.
    private static let maxLinks = 300

    /// - Throws: ``Untranslatable`` for a text that is not such an expression.
    static func parse(_ text: Substring) throws -> Expression {
        var parser = ExpressionParser(tokens: try ExpressionLexer.tokens(text)[...], source: text)
        let expression = try parser.conditional()
        guard parser.tokens.isEmpty else { throw parser.fault() }
        return expression
    }

    private init(tokens: ArraySlice<ExpressionLexer.Token>, source: Substring) {
        self.tokens = tokens
        self.source = source
    }

    private func fault() -> Untranslatable { Untranslatable("the expression \(source) is not understood") }

    private mutating func take(_ sign: String) -> Bool {
        guard tokens.first == .sign(sign) else { return false }
        tokens.removeFirst()
        return true
    }

    private mutating func word(_ name: String) -> Bool {
        guard tokens.first == .name(name) else { return false }
        tokens.removeFirst()
        return true
    }

    private mutating func link() throws {
        links += 1
        guard links < Self.maxLinks else { throw Untranslatable("an expression has too many operators") }
    }

    private mutating func need(_ sign: String) throws {
        guard take(sign) else { throw fault() }
    }

    private mutating func conditional() throws -> Expression {
        depth += 1
        defer { depth -= 1 }
        guard depth < 50 else { throw fault() }
        let value = try either()
        guard word("if") else { return value }
        let test = try either()
        let other = word("else") ? try conditional() : .literal(.string(""))
        return .conditional(test, value, other)
    }

    private mutating func either() throws -> Expression {
        var left = try both()
        while word("or") {
            try link()
            left = .binary("or", left, try both())
        }
        return left
    }

    private mutating func both() throws -> Expression {
        var left = try negated()
        while word("and") {
            try link()
            left = .binary("and", left, try negated())
        }
        return left
    }

    private mutating func negated() throws -> Expression {
        guard word("not") else { return try comparison() }
        try link()
        return .not(try negated())
    }

    private mutating func comparison() throws -> Expression {
        var left = try sum()
        /// The value that the comparison before ended with: `1 < x < 5` is `1 < x and x < 5`.
        var middle: Expression?
        func chain(_ make: (Expression, Expression) -> Expression, _ right: Expression) {
            left = middle.map { .binary("and", left, make($0, right)) } ?? make(left, right)
            middle = right
        }
        while true {
            if let sign = ["==", "!=", ">=", "<=", ">", "<"].first(where: { tokens.first == .sign($0) }) {
                try link()
                tokens.removeFirst()
                chain({ .binary(sign, $0, $1) }, try sum())
            } else if word("in") {
                try link()
                chain({ .binary("in", $0, $1) }, try sum())
            } else if tokens.first == .name("not"), tokens.dropFirst().first == .name("in") {
                try link()
                tokens.removeFirst(2)
                chain({ .not(.binary("in", $0, $1)) }, try sum())
            } else if word("is") {
                try link()
                let isNegated = word("not")
                guard case .name(let test)? = tokens.popFirst() else { throw fault() }
                let result = Expression.filter(left, "is \(test)", [])
                left = isNegated ? .not(result) : result
            } else {
                return left
            }
        }
    }

    private mutating func sum() throws -> Expression {
        var left = try product()
        while let sign = ["+", "-", "~"].first(where: { tokens.first == .sign($0) }) {
            try link()
            tokens.removeFirst()
            left = .binary(sign, left, try product())
        }
        return left
    }

    private mutating func product() throws -> Expression {
        var left = try unary()
        while let sign = ["*", "//", "/", "%"].first(where: { tokens.first == .sign($0) }) {
            try link()
            tokens.removeFirst()
            left = .binary(sign, left, try unary())
        }
        return left
    }

    private mutating func unary() throws -> Expression {
        if take("-") {
            try link()
            return .negative(try unary())
        }
        return try suffixes(of: try primary())
    }

    private mutating func suffixes(of base: Expression) throws -> Expression {
        var value = base
        while true {
            if [".", "[", "(", "|"].contains(where: { tokens.first == .sign($0) }) { try link() }
            if take(".") {
                switch tokens.popFirst() {
                case .name(let name): value = .member(value, .literal(.string(name)))
                case .number(let number): value = .member(value, .literal(.string(number)))
                default: throw fault()
                }
            } else if take("[") {
                value = try subscripted(value)
            } else if take("(") {
                value = .call(value, try arguments(until: ")"))
            } else if take("|") {
                guard case .name(let name)? = tokens.popFirst() else { throw fault() }
                value = .filter(value, name, take("(") ? try arguments(until: ")") : [])
            } else {
                return value
            }
        }
    }

    /// Reads the rest of `value[key]`, or of `value[start:end]`, which becomes a filter with a name of its own.
    private mutating func subscripted(_ value: Expression) throws -> Expression {
        let start = tokens.first == .sign(":") ? nil : try conditional()
        guard take(":") else {
            try need("]")
            guard let start else { throw fault() }
            return .member(value, start)
        }
        let end = tokens.first == .sign("]") ? nil : try conditional()
        try need("]")
        return .filter(value, "[:]", [start ?? .literal(.null), end ?? .literal(.null)])
    }

    /// Keyword arguments lose their names: manifests write them in the order of the parameters.
    private mutating func arguments(until end: String) throws -> [Expression] {
        var arguments: [Expression] = []
        while !take(end) {
            if case .name? = tokens.first, tokens.dropFirst().first == .sign("=") { tokens.removeFirst(2) }
            arguments.append(try conditional())
            guard take(",") || tokens.first == .sign(end) else { throw fault() }
        }
        return arguments
    }

    private mutating func primary() throws -> Expression {
        switch tokens.popFirst() {
        case .text(let text):
            var text = text
            while case .text(let more)? = tokens.first {
                tokens.removeFirst()
                text += more
            }
            return .literal(.string(text))
        case .number(let number):
            if let value = Int64(number) { return .literal(.int(value)) }
            guard let value = Double(number) else { throw fault() }
            return .literal(.double(value))
        case .name(let name):
            switch name {
            case "true", "True": return .literal(.bool(true))
            case "false", "False": return .literal(.bool(false))
            case "none", "None": return .literal(.null)
            default: return .name(name)
            }
        case .sign("("):
            let value = try conditional()
            guard take(",") else {
                try need(")")
                return value
            }
            return .list([value] + (try arguments(until: ")")))
        case .sign("["): return .list(try arguments(until: "]"))
        case .sign("{"):
            var pairs: [Expression.Pair] = []
            while !take("}") {
                let key = try conditional()
                try need(":")
                pairs.append(Expression.Pair(key: key, value: try conditional()))
                guard take(",") || tokens.first == .sign("}") else { throw fault() }
            }
            return .dictionary(pairs)
        default: throw fault()
        }
    }
}
