/// A reference from one entity to another, or to itself.
public struct Relationship: Sendable, Equatable {
    /// The number of objects that a relationship leads to.
    public enum Kind: Sendable, Equatable {
        /// At most one.
        case toOne
        /// Any number, in order.
        case toMany
    }

    /// How a record's list merges with the related objects.
    public enum Merge: String, Sendable, CaseIterable {
        /// The list replaces the relationship's value.
        ///
        /// A to-one relationship always replaces.
        case replace
        /// New objects of the list are added after the related ones.
        case append
        /// The objects of the list are placed before the related ones.
        case insertAtBeginning = "insert_at_beginning"
    }

    /// The handling of objects that a new list no longer contains.
    public enum Orphans: String, Sendable, CaseIterable {
        /// They stay.
        case keep
        /// They are deleted, unless another object refers to them.
        case delete
    }

    /// A value beside the list of a relationship to many, such as the list's total.
    public struct Metadata: Sendable, Equatable {
        /// Its name in the result of a request.
        public var name: String
        /// Its path in the record that has the list.
        public var path: RemotePath

        /// Creates a value at a path.
        public init(name: String, path: RemotePath) {
            self.name = name
            self.path = path
        }
    }

    /// The relationship's name.
    public var name: String
    /// The number of objects that it leads to.
    public var kind: Kind
    /// The name of the target entity.
    public var target: String
    /// The path of the value in the remote representation.
    public var source: RemotePath
    /// The target's relationship that leads back, if this end declares it; see ``Model/inverse(of:in:)``.
    public var inverse: String?
    /// How a record's list merges with the related objects.
    public var merge: Merge
    /// Where the file declares the relationship.
    public var location: SourceLocation
    /// The handling of objects that a new list no longer contains and no other object refers to.
    public var orphans = Orphans.keep
    /// The target's attribute whose range of values in a list limits its replacement; nil if the list is complete.
    ///
    /// Related objects outside the list's least and greatest value stay related, and all are ordered by the attribute.
    public var window: String?
    /// Whether the order of a list counts.
    ///
    /// If not, a different order of the same objects is not a change.
    public var isOrdered = true
    /// The relationship's previous name, whose columns or table are renamed.
    public var renamedFrom: String?
    /// Remote values that refer to no object, as text, such as 0 or an empty text in place of null.
    ///
    /// A reference to no object is sent as the first of them.
    public var nullValues: [String] = []
    /// The columns of a to-one relationship, one per attribute of the target's key, unless they are named after it.
    public var columns: [String] = []
    /// The link table of a to-many relationship, unless it has the default name.
    public var table: String?
    /// The names of a link table's columns, by default `source` and `target`.
    public var linkEnds: (source: String, target: String) {
        (linkColumns.first ?? "source", linkColumns.last ?? "target")
    }
    /// The names of the source and target columns in the link table; empty for `source` and `target`.
    public var linkColumns: [String] = []
    /// The meaning of a missing member; nil uses the entity's.
    public var absent: AbsentRule?
    /// Whether and how values are sent to the remote.
    public var write = WriteRule()
    /// What a record says about its list, for the result of a request; it is not stored.
    public var metadata: [Metadata] = []
    /// The paths that the relationship reads in a record.
    public var paths: [RemotePath] { [source] + metadata.map(\.path) }

    /// Creates a relationship.
    ///
    /// By default, `source` is the record's member with the relationship's name.
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

    /// Returns the columns of a to-one relationship: its name, or `NAME_KEYATTRIBUTE` for each attribute of a composite
    /// key.
    public func columnNames(targetKey: [String]) -> [String] {
        if columns.count == targetKey.count, !columns.isEmpty { return columns }
        return targetKey.count == 1 ? [name] : targetKey.map { "\(name)_\($0)" }
    }
}
