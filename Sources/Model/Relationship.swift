/// A reference from one entity to another, or to itself.
public struct Relationship: Sendable, Equatable {
    /// To how many objects a relationship leads.
    public enum Kind: Sendable, Equatable {
        /// At most one.
        case toOne
        /// Any number, in an order.
        case toMany
    }

    /// What a reply's list does to the objects that are related already.
    public enum Merge: String, Sendable, CaseIterable {
        /// The list becomes the relationship's whole value. A to-one always replaces.
        case replace
        /// The list's objects that are not related yet come after those that are.
        case append
        /// The list's objects come before those that are related already.
        case insertAtBeginning = "insert_at_beginning"
    }

    /// What becomes of the objects that a new list leaves behind.
    public enum Orphans: String, Sendable, CaseIterable {
        /// They stay.
        case keep
        /// They are deleted, unless something else refers to them.
        case delete
    }

    /// The relationship's name.
    public var name: String
    /// To how many objects it leads.
    public var kind: Kind
    /// The name of the entity it leads to.
    public var target: String
    /// Where the remote representation has its value.
    public var source: RemotePath
    /// The target's relationship that leads back, where this end names it; ``Model/inverse(of:in:)`` knows both ends.
    public var inverse: String?
    /// What a reply's list does to the objects that are related already.
    public var merge: Merge
    /// Where the file declares the relationship.
    public var location: SourceLocation
    /// What becomes of objects that a new list leaves behind and that nobody else refers to.
    public var orphans = Orphans.keep
    /// The attribute of the target within whose values a list is the whole truth; nil for a list that says it all.
    ///
    /// What lies outside of the least and the greatest of the list stays related, and all is in the order of the attribute.
    public var window: String?
    /// Whether the order of a list counts: without, the same objects in another order are no change.
    public var isOrdered = true
    /// What the relationship was called before, so that its columns or its table are renamed.
    public var renamedFrom: String?
    /// Remote values that name no object, as text: 0 or nothing, where others have null.
    ///
    /// What refers to none is sent as the first of them.
    public var nullValues: [String] = []
    /// Whether and how its values go back to the remote.
    public var write = WriteRule()

    /// A relationship; `source` defaults to the member of the record with the relationship's name.
    public init(
        name: String, kind: Kind, target: String, source: RemotePath? = nil, inverse: String? = nil,
        merge: Merge = .replace, location: SourceLocation = .unknown
    ) {
        self.name = name
        self.kind = kind
        self.target = target
        self.source = source ?? RemotePath([name])
        self.inverse = inverse
        self.merge = merge
        self.location = location
    }

    /// The columns of a to-one: its name, or `NAME_KEYATTRIBUTE` each where the target's key has several attributes.
    public func columnNames(targetKey: [String]) -> [String] {
        targetKey.count == 1 ? [name] : targetKey.map { "\(name)_\($0)" }
    }
}
