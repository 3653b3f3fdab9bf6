internal import BridgeHTTP
internal import BridgeKit

/// The mapping from conditions on attributes to query parameters, from the section's `filters`.
///
/// `name: q` sends `q=VALUE` for `name = VALUE`. An object with comparisons as names, such as `{">=": min_age}`, has a
/// parameter for each. `{parameter: filter, value: "age gt {value}", join: " and "}` formats the value for the API.
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
                        .configuration, "filters.\(attribute): \"\(text)\" is not a comparison",
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

    /// Returns the query parameters for the conditions that the API can apply, and the indices of these conditions.
    ///
    /// - Parameters:
    ///   - given: The section's own query, whose conditions hold as well.
    ///   - taken: The parameters that the paging sets anew for each page.
    func push(
        _ filters: [FetchRequest.Filter], beside given: [(name: String, value: String)] = [],
        taken: Set<String> = []
    ) -> (query: [(name: String, value: String)], pushed: [Int]) {
        var query: [(name: String, value: String)] = []
        var pushed: [Int] = []
        for (index, filter) in filters.enumerated() {
            guard let value = filter.value,
                let target = targets.first(where: {
                    $0.attribute == filter.attribute && $0.comparison == filter.comparison
                }), !taken.contains(target.parameter)
            else { continue }
            let text = Self.fill(target.value, with: value)
            if let same = query.firstIndex(where: { $0.name == target.parameter }) {
                // APIs usually combine two values of a parameter by "or", or use only the last one. Neither is a
                // conjunction.
                guard let join = target.join else { continue }
                query[same].value += join + text
            } else if case let own = given.filter({ $0.name == target.parameter }), !own.isEmpty {
                guard let join = target.join else { continue }
                query.append((target.parameter, (own.map(\.value) + [text]).joined(separator: join)))
            } else {
                query.append((target.parameter, text))
            }
            pushed.append(index)
        }
        return (query, pushed)
    }

    /// Inserts the value into the template; in quotes, escapes it as a literal of the API's expression language.
    private static func fill(_ template: String, with value: String) -> String {
        var quotes = QuoteState(template)
        var out = ""
        var rest = template[...]
        while let place = rest.firstRange(of: "{value}") {
            let before = rest[..<place.lowerBound]
            rest = rest[place.upperBound...]
            quotes.pass(before)
            out += before + quotes.escaped(value, before: rest)
        }
        return out + rest
    }
}
