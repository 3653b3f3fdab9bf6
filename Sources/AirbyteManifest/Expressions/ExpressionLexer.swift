/// Splits the text of a Jinja expression into tokens.
struct ExpressionLexer {
    enum Token: Equatable {
        case text(String)
        case number(String)
        case name(String)
        case sign(String)
    }

    private static let signs = ["==", "!=", ">=", "<=", "//", "**"]

    /// - Throws: ``Untranslatable`` for a string without its end, or an unexpected character.
    static func tokens(_ text: Substring) throws -> [Token] {
        var rest = text
        var tokens: [Token] = []
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "'" || first == "\"" {
                tokens.append(.text(try quoted(&rest, by: first)))
            } else if first.isASCII, first.isNumber {
                let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
                rest = rest.dropFirst(number.count)
                tokens.append(.number(String(number)))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(name.count)
                tokens.append(.name(String(name)))
            } else if let sign = signs.first(where: { rest.hasPrefix($0) }) {
                rest = rest.dropFirst(sign.count)
                tokens.append(.sign(sign))
            } else if "()[]{}.,:|+-*/%~<>=".contains(first) {
                rest.removeFirst()
                tokens.append(.sign(String(first)))
            } else {
                throw Untranslatable("the expression \(text) has the unexpected character \(first)")
            }
        }
        return tokens
    }

    private static func quoted(_ rest: inout Substring, by quote: Character) throws -> String {
        var text = ""
        let whole = rest
        rest.removeFirst()
        while let next = rest.popFirst() {
            if next == quote { return text }
            guard next == "\\", let escaped = rest.popFirst() else {
                text.append(next)
                continue
            }
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "\\", "'", "\"": text.append(escaped)
            default: text += "\\\(escaped)"
            }
        }
        throw Untranslatable("the expression \(whole) has an unterminated string")
    }
}

/// The reason why a part of a manifest has no counterpart in a configuration.
struct Untranslatable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Returns the reason for a comment from an error.
func reason(_ error: any Error) -> String { (error as? Untranslatable)?.reason ?? "\(error)" }
