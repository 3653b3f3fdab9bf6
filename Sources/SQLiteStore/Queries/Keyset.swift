internal import StoreContract
internal import Mapping

/// The SQL condition for the rows after a given one in an order, so that every page of a long list costs the same.
struct Keyset {
    /// A term of the order.
    struct Term {
        /// The SQL expression to order by, which contains the column.
        let sql: String
        /// The expression for the value in the comparison, with `?` instead of the column.
        let placeholder: String
        let isDescending: Bool
    }

    private(set) var sql = ""
    private(set) var arguments: [StoredValue] = []

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - terms: The order, which ends with the terms of the key.
    ///   - values: The row's values, one per term.
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
            // SQLite sorts null before all values.
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
