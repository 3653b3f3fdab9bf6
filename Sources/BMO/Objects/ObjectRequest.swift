/// A request for objects: which ones, and whether the remote is queried.
///
/// ```swift
/// let request = ObjectRequest(
///     "Country", where: Field("population") > 1_000_000, sort: ["name"], limit: 20, including: ["cities"],
///     type: .timeToLive(.seconds(300)))
/// ```
public struct ObjectRequest: Sendable {
    /// A value to sort by.
    public struct Sort: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The value's name.
        public var field: String
        /// Whether the greatest value comes first.
        public var isDescending: Bool

        /// Creates a sort order.
        public init(_ field: String, isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }

        /// Creates an ascending order, or a descending one from a name with a leading `-`: `"-population"`.
        public init(stringLiteral value: String) {
            self.init(value.hasPrefix("-") ? String(value.dropFirst()) : value, isDescending: value.hasPrefix("-"))
        }
    }

    /// The entity's name.
    public var entity: String
    /// The condition on objects; nil for all.
    public var predicate: ObjectPredicate?
    /// The sort order; ties are in the order of the keys.
    public var sort: [Sort]
    /// The maximum number of objects.
    public var limit: Int?
    /// The number of leading objects to skip.
    public var offset: Int
    /// Relationships whose objects are included; dots lead further: `"cities.mayor"`.
    public var including: [String]
    /// When the remote is queried.
    public var type: FetchType
    /// Whether objects that are marked as deleted on the remote (`deletes: soft`) are among the local ones.
    public var includesDeleted = false
    /// Whether the result includes the matching objects after the remote has answered.
    public var returnsObjects = false
    /// Values to pass on to the result unchanged.
    public var userInfo: [String: any Sendable] = [:]

    /// Creates a request.
    public init(
        _ entity: String, where predicate: ObjectPredicate? = nil, sort: [Sort] = [], limit: Int? = nil,
        offset: Int = 0, including: [String] = [], type: FetchType = .always
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.including = including
        self.type = type
    }

    /// A key that is equal for requests that one answer of the remote can serve.
    var semanticKey: String {
        var key = "\(entity)|\(predicate?.semanticKey ?? "")"
        // Only a limit without an order ends a fetch early.
        if let limit, sort.isEmpty { key += "|\(limit + offset)" }
        return key
    }
}

/// When the remote is queried.
public enum FetchType: Sendable {
    /// With each request.
    case always
    /// Only if no local objects exist other than stubs.
    case ifNoLocal
    /// Never.
    case never
    /// Only if the last successful answer to the same request, since the manager was made, is older.
    case timeToLive(Duration)
    /// Only if the closure, given the local objects, returns true.
    case custom(@Sendable (_ local: [LocalObject]) async -> Bool)
}
