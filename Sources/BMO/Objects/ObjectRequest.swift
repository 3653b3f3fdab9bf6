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

    /// The rank of a request among those that wait for the same bridge: the highest goes first, and of equals the oldest.
    ///
    /// It does not interrupt a request that has begun.
    public enum Priority: Int, Sendable, Comparable {
        /// What can wait, such as a list that is loaded ahead.
        case low = -1
        /// Between the two.
        case normal = 0
        /// What a person waits for.
        case high = 1

        /// Whether one goes after another.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
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
    /// Whether the remote is also asked for the objects of ``including``, where they have listings of their own.
    ///
    /// A list by parent is asked for with each of the request's objects, others as a whole.
    public var fetchesIncluded = false
    /// When the remote is queried.
    public var type: FetchType
    /// Whether objects that are marked as deleted on the remote (`deletes: soft`) are among the local ones.
    public var includesDeleted = false
    /// Whether the result includes the matching objects after the remote has answered.
    public var returnsObjects = false
    /// What your program says about the request: for the bridge if it takes it, and returned with the result or the error.
    public var userInfo: UserInfo?
    /// The attributes and relationships that the remote should send; nil for all of them.
    ///
    /// The key, and what the predicate, the sort order and ``including`` name, is needed as well. The values of others stay
    /// as they are here, or are null in a new object. A remote that cannot select sends everything.
    public var fields: [String]?
    /// Parameters that the remote gets with this request alone, by its own names, in place of the configuration's.
    public var parameters: [String: LocalValue] = [:]
    /// The rank among the requests that wait for the same bridge.
    public var priority = Priority.normal
    /// How long the remote part may take, from the moment at which the local objects are returned; nil for any time.
    ///
    /// After it, the remote part ends before its next commit, and fails with the code `deadline`.
    public var timeLimit: Duration?
    /// How many records a page of the remote should have; nil leaves it to the configuration.
    public var pageSize: Int?

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

    /// The number of records after which a fetch may end; nil where the order or all objects are needed.
    var recordLimit: Int? {
        guard let limit, sort.isEmpty else { return nil }
        let (sum, isTooLarge) = max(0, limit).addingReportingOverflow(max(0, offset))
        return isTooLarge ? .max : sum
    }

    /// Returns a key that is equal for requests that one answer of the remote can serve.
    ///
    /// - Parameter hasUserInfo: Whether the bridge receives the user info, so that its answer may depend on it.
    func semanticKey(hasUserInfo: Bool) -> String {
        var key = "\(entity)|\(predicate?.semanticKey ?? "")"
        // Only a limit without an order ends a fetch early.
        if let recordLimit { key += "|\(recordLimit)" }
        if fetchesIncluded {
            let order = sort.map { "\($0.isDescending ? "-" : "")\($0.field)" }
            key += "|with\(including.sorted())\(order)\(limit ?? -1)+\(offset)\(includesDeleted)"
        }
        return key + termsKey(hasUserInfo: hasUserInfo)
    }

    /// Returns a key of what the request adds to the bridge's; empty for nothing.
    func termsKey(hasUserInfo: Bool) -> String {
        var key = ""
        if let fields { key += "|fields\(Set(fields).sorted())" }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            key += "|\(name.debugDescription)=\(value.text?.debugDescription ?? value.description)"
        }
        if hasUserInfo, let userInfo { key += "|for\(userInfo.json)" }
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
