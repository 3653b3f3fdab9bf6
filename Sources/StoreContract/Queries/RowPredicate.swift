public import Mapping

/// A condition on rows: comparisons of columns with values of the columns' types, combined with logical operators.
///
/// A row without a value differs from every value and is neither less nor greater than one.
public indirect enum RowPredicate: Sendable, Hashable {
    /// A comparison of a column with a value; ``RowCondition/Comparison/like`` takes text.
    case compare(String, RowCondition.Comparison, StoredValue)
    /// The column has no value.
    case isNull(String)
    /// The column has one of these values.
    case isIn(String, [StoredValue])
    /// All predicates match.
    case all([RowPredicate])
    /// At least one predicate matches.
    case any([RowPredicate])
    /// The predicate does not match.
    case not(RowPredicate)
}
