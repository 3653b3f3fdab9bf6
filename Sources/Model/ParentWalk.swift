/// One walk for each object of a parent, whose values the bridge gets with the request.
public struct ParentWalk: Sendable, Equatable {
    /// The relationship to one whose target is the parent; nil where each object of the entity itself is one.
    public var relationship: String?
    /// Which objects have a walk: all conditions must hold.
    public var conditions: [LocalCondition]
    /// How many walks go on at a time.
    public var concurrency: Int

    /// Walks for the objects of a parent.
    public init(relationship: String?, conditions: [LocalCondition] = [], concurrency: Int = 4) {
        self.relationship = relationship
        self.conditions = conditions
        self.concurrency = concurrency
    }
}
