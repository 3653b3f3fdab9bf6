internal import Mapping

/// The rows after a given one in an order, as SQL: pages of a long list cost the same wherever they are.
struct Keyset {
    /// A term of an order.
    struct Term {
        /// The expression that is ordered by, with its column.
        let sql: String
        /// What takes the place of a value in the comparison: a `?` as the expression has its column.
        let placeholder: String
        let isDescending: Bool
    }

    private(set) var sql = ""
    private(set) var arguments: [StoredValue] = []

    /// - Parameters:
    ///   - terms: The order, of which the last terms are the key.
    ///   - values: The row's value per term.
    init(_ terms: [Term], after values: [StoredValue]) {
        var alternatives: [String] = []
        for index in terms.indices {
            var parts: [String] = []
            var used: [StoredValue] = []
            for (term, value) in zip(terms, values).prefix(index) {
                parts.append(value == .null ? "\(term.sql) IS NULL" : "\(term.sql) = \(term.placeholder)")
                if value != .null { used.append(value) }
            }
            let term = terms[index]
            // SQLite has no value before all values.
            switch (values[index], term.isDescending) {
            case (.null, true): continue
            case (.null, false): parts.append("\(term.sql) IS NOT NULL")
            case (let value, true):
                parts.append("(\(term.sql) < \(term.placeholder) OR \(term.sql) IS NULL)")
                used.append(value)
            case (let value, false):
                parts.append("\(term.sql) > \(term.placeholder)")
                used.append(value)
            }
            alternatives.append("(" + parts.joined(separator: " AND ") + ")")
            arguments += used
        }
        sql = alternatives.isEmpty ? "FALSE" : "(" + alternatives.joined(separator: " OR ") + ")"
    }
}
