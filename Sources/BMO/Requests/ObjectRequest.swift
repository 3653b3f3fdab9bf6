/// Which objects are wanted, and whether the remote is asked.
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
        /// Whether the greatest comes first.
        public var isDescending: Bool

        /// An order.
        public init(_ field: String, isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }

        /// Ascending; with a `-` in front, descending: `"-population"`.
        public init(stringLiteral value: String) {
            self.init(value.hasPrefix("-") ? String(value.dropFirst()) : value, isDescending: value.hasPrefix("-"))
        }
    }

    /// The entity's name.
    public var entity: String
    /// What objects must meet; nil takes all.
    public var predicate: ObjectPredicate?
    /// The order; where it leaves it open, that of the keys.
    public var sort: [Sort]
    /// At most so many objects.
    public var limit: Int?
    /// So many of the first objects are left out.
    public var offset: Int
    /// Relationships whose objects come with them, dots leading further: `"cities.mayor"`.
    public var including: [String]
    /// When the remote is asked.
    public var type: FetchType
    /// Whether objects that are marked as gone on the remote (`deletes: soft`) are among the local ones.
    public var includesDeleted = false
    /// Whether the result has the objects that match when the remote has answered.
    public var returnsObjects = false
    /// What you want to find again in the result; nothing looks at it.
    public var userInfo: [String: any Sendable] = [:]

    /// A request.
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

    /// The same for requests of which one answer of the remote serves all.
    var semanticKey: String {
        var key = "\(entity)|\(predicate?.semanticKey ?? "")"
        // Only a limit without an order ends a fetch early.
        if let limit, sort.isEmpty { key += "|\(limit + offset)" }
        return key
    }
}

/// When the remote is asked.
public enum FetchType: Sendable {
    /// With each request.
    case always
    /// Only if there are no local objects but such that are merely referred to.
    case ifNoLocal
    /// Not at all.
    case never
    /// Only if the last good answer to the same request, since the manager was made, is older.
    case timeToLive(Duration)
    /// Only if the closure says so, which sees the local objects.
    case custom(@Sendable (_ local: [LocalObject]) async -> Bool)
}
