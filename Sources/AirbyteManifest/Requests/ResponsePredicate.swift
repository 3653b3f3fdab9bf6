internal import Model

/// Translates the predicate of a response filter into conditions on a reply's body.
struct ResponsePredicate {
    let draft: EntityDraft

    /// Members of a reply that are texts for people.
    private static let messages: Set<String> = [
        "message", "msg", "detail", "details", "description", "reason", "title", "error_message", "error_description",
        "errormessage", "status_message", "error_msg", "text",
    ]

    /// Returns a `when` for each alternative; one that is met is enough.
    ///
    /// - Throws: ``Untranslatable`` for a predicate that has no counterpart.
    func alternatives(_ expression: Expression) throws -> [ConfigValue] {
        switch expression {
        case .binary("or", let left, let right): return try alternatives(left) + alternatives(right)
        case .binary("in", .path(let names), let list) where names.first == "response" && names.count > 1:
            guard let values = list.known?.array, !values.isEmpty else { throw Untranslatable("") }
            return try values.map { try condition([.binary("==", .path(names), .literal($0))]) }
        default: return [try condition(Self.parts(expression))]
        }
    }

    private func condition(_ parts: [Expression]) throws -> ConfigValue {
        var when: ConfigValue?
        func set(_ names: [String], _ member: String? = nil, _ value: ConfigValue = .null) throws {
            guard when == nil, names.first == "response", names.count > 1 else { throw Untranslatable("") }
            let path: ConfigValue = .string(RecordsPath.text(Array(names.dropFirst())))
            when = .object([("path", path)] + (member.map { [($0, value)] } ?? []))
        }
        for part in parts {
            switch part {
            case .binary("==", .path(let names), let value):
                guard let known = value.known, known.array == nil, known.members == nil else {
                    throw Untranslatable("")
                }
                try set(names, "equals", known)
            case .filter(.path(let names), "is false", _): try set(names, "equals", false)
            case .filter(.path(let names), "is true", _): try set(names, "equals", true)
            case .filter(.path(let names), "is none", _): try set(names, "equals", .null)
            case .filter(.path(let names), "is defined", _): try set(names)
            // In an object, `in` finds a member, and in a text a substring; only the reply is known to be an object.
            case .binary("in", .literal(let name), .path(["response"])):
                if Self.isImplied(part, ["response", name.printed], by: parts) { continue }
                try set(["response", name.printed])
            case .binary("in", .literal(.string(let text)), .path(let names)):
                guard !text.isEmpty, Self.messages.contains(names.last?.lowercased() ?? "") else {
                    throw Untranslatable("")
                }
                try set(names, "contains", .string(text))
            case .call(.member(.path(let names), .literal("startswith")), let arguments):
                guard arguments.count == 1, let text = arguments[0].known?.string, !text.isEmpty else {
                    throw Untranslatable("")
                }
                try set(names, "contains", .string(text))
                draft.doubt(
                    "responses: a rule applies where the reply has \"\(text)\" anywhere in a text, in Airbyte only at its beginning"
                )
            case .path(let names):
                if Self.isImplied(part, names, by: parts) { continue }
                try set(names)
                let path = RecordsPath.text(Array(names.dropFirst()))
                draft.doubt("responses: a rule applies where the reply has \(path), in Airbyte only if it is not empty")
            default: throw Untranslatable("")
            }
        }
        guard let when else { throw Untranslatable("") }
        return when
    }

    /// Whether another part is false anyway if the reply has nothing at the path.
    private static func isImplied(_ part: Expression, _ path: [String], by parts: [Expression]) -> Bool {
        parts.contains { $0 != part && tests($0, below: path) }
    }

    private static func tests(_ part: Expression, below path: [String]) -> Bool {
        switch part {
        case .path(let names): names.starts(with: path)
        case .binary("==", .path(let names), let value): names.starts(with: path) && value.known != .null
        case .binary("in", _, .path(let names)): names.count > 1 && names.starts(with: path)
        default: false
        }
    }

    private static func parts(_ expression: Expression) -> [Expression] {
        if case .binary("and", let left, let right) = expression { return parts(left) + parts(right) }
        return [expression]
    }
}
