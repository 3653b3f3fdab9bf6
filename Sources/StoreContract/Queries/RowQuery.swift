public import Model

/// A query for rows of an entity, with conditions and an order.
public struct RowQuery: Sendable, Equatable {
    /// A field to order by.
    public struct Order: Sendable, Equatable {
        /// The field's name.
        public var field: String
        /// Whether the order is descending.
        public var isDescending: Bool

        /// Creates an order.
        public init(_ field: String, isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }
    }

    /// The entity's name.
    public var entity: String
    /// The conditions, which rows must all meet.
    public var conditions: [LocalCondition]
    /// The order of the rows; ties are ordered by key.
    public var order: [Order]
    /// The maximum number of rows.
    public var limit: Int?
    /// A further condition, besides ``conditions``.
    public var predicate: RowPredicate?
    /// The number of rows to skip at the beginning.
    public var offset = 0
    /// The row after which the result starts, in the query's order.
    public var after: EntityRow?
    /// Whether rows marked as deleted on the remote are included.
    public var includesDeleted = true
    /// Whether stubs are included; otherwise the limit, the offset and the count are those of the other rows.
    public var includesStubs = true

    /// Creates a query.
    public init(
        _ entity: String, where conditions: [LocalCondition] = [], order: [Order] = [], limit: Int? = nil
    ) {
        self.entity = entity
        self.conditions = conditions
        self.order = order
        self.limit = limit
    }
}
