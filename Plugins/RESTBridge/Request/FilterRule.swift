internal import BridgeKit

/// How conditions on attributes become query parameters, as the section's `filters` says.
///
/// `name: q` sends `q=VALUE` for `name = VALUE`; with comparisons as names, such as `{">=": min_age}`, each has a parameter
/// of its own; `{parameter: filter, value: "age gt {value}", join: " and "}` writes the value as the API wants it.
struct FilterRule: Sendable {
    struct Target: Sendable {
        var attribute: String
        var comparison: FetchRequest.Filter.Comparison
        var parameter: String
        var value: String
        var join: String?
    }

    private(set) var targets: [Target] = []

    init(_ options: BridgeOptions?) throws {
        guard let options else { return }
        for attribute in options.names {
            if let parameter = options.string(attribute) {
                targets.append(
                    Target(attribute: attribute, comparison: .equal, parameter: parameter, value: "{value}", join: nil))
                continue
            }
            guard let rules = options.object(attribute) else {
                throw BridgeError(
                    .configuration, "filters.\(attribute) is neither a parameter's name nor an object",
                    remedy: "write the query parameter's name, or one for each comparison")
            }
            if rules.has("parameter") {
                try add(attribute, .equal, rules)
                continue
            }
            for text in rules.names {
                guard let comparison = FetchRequest.Filter.Comparison(rawValue: text) else {
                    throw BridgeError(
                        .configuration, "filters.\(attribute): \"\(text)\" is no comparison",
                        remedy: "use =, !=, <, <=, > or >=, in quotes")
                }
                if let parameter = rules.string(text) {
                    targets.append(
                        Target(
                            attribute: attribute, comparison: comparison, parameter: parameter, value: "{value}",
                            join: nil))
                } else if let rule = rules.object(text) {
                    try add(attribute, comparison, rule)
                }
            }
        }
    }

    private mutating func add(
        _ attribute: String, _ comparison: FetchRequest.Filter.Comparison, _ rule: BridgeOptions
    ) throws {
        guard let parameter = rule.string("parameter") else {
            throw BridgeError(
                .configuration, "filters.\(attribute) names no parameter",
                remedy: "write the query parameter's name under parameter")
        }
        targets.append(
            Target(
                attribute: attribute, comparison: comparison, parameter: parameter,
                value: rule.string("value") ?? "{value}", join: rule.string("join")))
    }

    /// The query parameters of those conditions that the API can apply, and their places in the list.
    func push(_ filters: [FetchRequest.Filter]) -> (query: [(name: String, value: String)], pushed: [Int]) {
        var query: [(name: String, value: String)] = []
        var pushed: [Int] = []
        for (index, filter) in filters.enumerated() {
            guard let value = filter.value,
                let target = targets.first(where: {
                    $0.attribute == filter.attribute && $0.comparison == filter.comparison
                })
            else { continue }
            let text = Self.fill(target.value, with: value)
            if let same = query.firstIndex(where: { $0.name == target.parameter }) {
                // Two values for one parameter are mostly either-or, or the last one counts: that is no conjunction.
                guard let join = target.join else { continue }
                query[same].value += join + text
            } else {
                query.append((target.parameter, text))
            }
            pushed.append(index)
        }
        return (query, pushed)
    }

    /// The template with the value in its place; in quotes it is written as a literal of the API's expression.
    ///
    /// In single quotes a single quote is doubled, as OData, SQL and CQL have it, or follows a `!` in rison; in double quotes a
    /// double quote and a backslash follow a backslash, as in JSON.
    private static func fill(_ template: String, with value: String) -> String {
        let isRison = template.hasPrefix("(") && template.contains("!(")
        var out = ""
        var quote: Character?
        var rest = template[...]
        while let character = rest.first {
            if rest.hasPrefix("{value}") {
                switch quote {
                case "'" where isRison: out += value.replacing("!", with: "!!").replacing("'", with: "!'")
                case "'": out += value.replacing("'", with: "''")
                case "\"": out += value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                default: out += value
                }
                rest = rest.dropFirst("{value}".count)
                continue
            }
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            }
            out.append(character)
            rest = rest.dropFirst()
        }
        return out
    }
}
