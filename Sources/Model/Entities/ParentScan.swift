/// A scan per object of a parent, whose values the bridge receives with the request.
public struct ParentScan: Sendable, Equatable {
    /// The to-one relationship whose target is the parent; nil if the parents are the entity's own objects.
    public var relationship: String?
    /// The conditions that a parent must meet to be scanned.
    public var conditions: [LocalCondition]
    /// The maximum number of concurrent scans.
    public var concurrency: Int
    /// Whether only parents that have changed since their last complete scan are scanned.
    public var skipsUnchanged: Bool

    /// Creates the scans of a parent's objects.
    public init(
        relationship: String?, conditions: [LocalCondition] = [], concurrency: Int = 4, skipsUnchanged: Bool = false
    ) {
        self.relationship = relationship
        self.conditions = conditions
        self.concurrency = concurrency
        self.skipsUnchanged = skipsUnchanged
    }
}
