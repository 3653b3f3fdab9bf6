/// A direction of sorting.
public enum SortDirection: Sendable {
    /// The least value comes first.
    case ascending
    /// The greatest value comes first.
    case descending
}

/// A request for objects of one type: which ones, in which order, and whether the remote is queried.
///
/// Each method returns a copy, so that a query can be the beginning of several others.
///
/// ```swift
/// let best = Note.where(Note.stars > 3).sorted(by: Note.updated, .descending).limited(to: 20)
/// let milk = best.where(Note.title.isLike("%milk%")).including(Note.list)
/// ```
public struct ObjectQuery<Object: BackedObject>: Sendable {
    /// The request by names, with further settings.
    public var request: ObjectRequest

    /// Creates a query for all objects of the type's entity.
    public init() { request = ObjectRequest(Object.entityName) }

    private func with(_ change: (inout ObjectRequest) -> Void) -> Self {
        var copy = self
        change(&copy.request)
        return copy
    }

    /// Returns the query for those of its objects that meet a condition, too.
    public func `where`(_ condition: TypedPredicate<Object>) -> Self {
        with { $0.predicate = $0.predicate.map { $0 && condition.untyped } ?? condition.untyped }
    }

    /// Returns the query in an order; further calls order objects that are equal so far.
    public func sorted<Value>(
        by attribute: ObjectAttribute<Object, Value>, _ direction: SortDirection = .ascending
    ) -> Self {
        with { $0.sort.append(ObjectRequest.Sort(attribute.name, isDescending: direction == .descending)) }
    }

    /// Returns the query for a part of the local objects.
    public func limited(to limit: Int, from offset: Int = 0) -> Self {
        with {
            $0.limit = limit
            $0.offset = offset
        }
    }

    /// Returns the query with the objects of a relationship, or of a chain of relationships.
    public func including(_ relationship: some ObjectRelationship<Object>) -> Self {
        with { $0.including.append(relationship.path) }
    }

    /// Returns the query with another rule for when the remote is queried.
    public func fetching(_ type: FetchType) -> Self { with { $0.type = type } }
}
