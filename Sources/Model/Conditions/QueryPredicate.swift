/// A condition on objects: comparisons of their fields with values, combined with logical operators.
///
/// The values are a library user's (`LocalValue`), or the store's (`StoredValue`). An object without a value differs from
/// every value and is neither less nor greater than one.
public indirect enum QueryPredicate<Value: Sendable & Hashable>: Sendable, Hashable {
    /// A comparison of a field with a value; ``Comparison/like`` takes text.
    case compare(String, Comparison, Value)
    /// The field has no value.
    case isNull(String)
    /// The field has one of these values.
    case isIn(String, [Value])
    /// All predicates match.
    case all([QueryPredicate])
    /// At least one predicate matches.
    case any([QueryPredicate])
    /// The predicate does not match.
    case not(QueryPredicate)

    /// Returns the predicate with other values.
    ///
    /// - Parameters:
    ///   - compare: Converts a comparison.
    ///   - isNull: Converts a test for a missing value.
    ///   - isIn: Converts a test for several values.
    package func converted<Other>(
        compare: (String, Comparison, Value) throws -> QueryPredicate<Other>,
        isNull: (String) throws -> QueryPredicate<Other>, isIn: (String, [Value]) throws -> QueryPredicate<Other>
    ) throws -> QueryPredicate<Other> {
        func converted(_ predicate: QueryPredicate) throws -> QueryPredicate<Other> {
            try predicate.converted(compare: compare, isNull: isNull, isIn: isIn)
        }
        return switch self {
        case .compare(let name, let comparison, let value): try compare(name, comparison, value)
        case .isNull(let name): try isNull(name)
        case .isIn(let name, let values): try isIn(name, values)
        case .all(let parts): .all(try parts.map(converted))
        case .any(let parts): .any(try parts.map(converted))
        case .not(let part): .not(try converted(part))
        }
    }
}
