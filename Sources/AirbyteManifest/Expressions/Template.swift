internal import Model

/// A text with Jinja in it, evaluated as far as possible.
struct Template {
    enum Part: Equatable {
        case text(String)
        case expression(Expression)
    }

    private(set) var parts: [Part]

    /// The value that the whole text stands for, if it is known.
    ///
    /// Airbyte reads the result as a Python literal where it is one.
    var known: ConfigValue? {
        if parts.count == 1, case .expression(let expression) = parts[0], let value = expression.known {
            guard let text = value.string else { return value }
            return Self.literal(text)
        }
        var text = ""
        for part in parts {
            guard case .text(let piece) = part else { return nil }
            text += piece
        }
        return parts.isEmpty ? .string("") : Self.literal(text)
    }

    /// The expression that is the whole text, if it is one.
    var expression: Expression? {
        if parts.count == 1, case .expression(let expression) = parts[0] { return expression }
        return known.map { .literal($0) }
    }

    /// The paths that the text is made of.
    var paths: [[String]] {
        parts.flatMap { part -> [[String]] in
            if case .expression(let expression) = part { return expression.paths }
            return []
        }
    }

    init(part: Part) { parts = [part] }

    /// - Throws: ``Untranslatable`` for Jinja that is not understood.
    init(_ text: String, _ scope: Scope) throws {
        parts = [.text(text)]
        guard text.contains("{{") || text.contains("{%") || text.contains("{#") else { return }
        var reader = TemplateReader(text)
        var scope = scope
        let pieces = try TemplateRun.run(try reader.nodes(), &scope)
        // The text around a single expression often consists only of the manifest's line breaks.
        let isLoose = pieces.contains { if case .expression = $0 { true } else { false } }
        let inked = pieces.filter { $0 != .text("") }
        let solid = inked.filter { part in
            if case .text(let text) = part { return !Functions.trimmed(text).isEmpty }
            return true
        }
        if solid.count == 1, isLoose, case .expression = solid[0] {
            parts = solid
        } else {
            parts = Self.unquoted(Self.joined(inked))
            // Jinja's result is a text, and YAML's line folding may have left spaces at its ends.
            if text.contains("{%"), case .text(let only)? = parts.first, parts.count == 1 {
                parts = [.text(Functions.trimmed(only))]
            }
        }
    }

    /// Removes quotes around the whole text, because Airbyte reads it as a Python string.
    private static func unquoted(_ parts: [Part]) -> [Part] {
        guard parts.count > 1, case .text(let first) = parts[0], case .text(let last)? = parts.last,
            let quote = first.first, "\"'".contains(quote), last.last == quote,
            parts.count > 2 || first.count + last.count > 2
        else { return parts }
        let inner = [.text(String(first.dropFirst()))] + parts[1..<(parts.count - 1)] + [.text(String(last.dropLast()))]
        return inner.filter { $0 != .text("") }
    }

    /// Joins adjacent texts, and inserts the known values.
    private static func joined(_ parts: [Part]) -> [Part] {
        guard parts.count > 1 else { return parts }
        var out: [Part] = []
        for part in parts {
            var part = part
            if case .expression(let expression) = part, let value = expression.known {
                part = .text(value == .null ? "" : value.printed)
            }
            if case .text(let more) = part, case .text(let text)? = out.last {
                out[out.count - 1] = .text(text + more)
            } else {
                out.append(part)
            }
        }
        return out
    }

    /// Reads a list or an object that a text holds as Python writes it.
    private static func literal(_ text: String) -> ConfigValue {
        let trimmed = Functions.trimmed(text)
        guard let first = trimmed.first, "[{".contains(first) else { return .string(text) }
        guard let expression = try? ExpressionParser.parse(trimmed[...]), let value = expression.known else {
            return .string(text)
        }
        return value
    }
}
