public import Mapping

/// The combined changes of a run to one row.
public struct RowChange: Sendable, Equatable {
    /// A kind of change to a row.
    public enum Kind: String, Sendable {
        /// The row is new; with an old value, it was a stub before.
        case inserted
        /// Some columns changed, which are in the old and the new value.
        case updated
        /// The row was deleted, with the whole row in the old value; with a new value, it was only marked as deleted.
        case deleted
        /// A to-many relationship changed.
        case relinked
        /// The row became a stub: without an old value, it is a new stub; without a new one, it was a stub that was
        /// deleted.
        case stubbed
        /// The entity's first rows were imported: one record without a key for all of them.
        case loaded
    }

    /// A column before and after; nil if the row did not exist.
    public struct Column: Sendable, Equatable {
        /// The column's name.
        public var name: String
        /// The value before.
        public var old: StoredValue?
        /// The value after.
        public var new: StoredValue?

        /// Creates a column.
        package init(
            name: String, old: StoredValue? = nil, new: StoredValue? = nil
        ) {
            self.name = name
            self.old = old
            self.new = new
        }

        /// Gives the values the type of the column in an entity's table, which the history does not record.
        package mutating func restoreType(from layout: EntityLayout) {
            guard let type = layout.type(of: name) else { return }
            old = old?.typed(as: type)
            new = new?.typed(as: type)
        }
    }

    /// The part of a to-many relationship that changed.
    public struct Links: Sendable, Equatable {
        /// The relationship's name.
        public var relationship: String
        /// The position in the list; nil if the change was made from the other end.
        public var at: Int?
        /// The keys of the objects before the change.
        public var old: [[StoredValue]]
        /// The keys of the objects after the change.
        public var new: [[StoredValue]]
        /// The whole lists, if they can be reconstructed.
        public var whole: WholeList?

        /// Creates a part.
        package init(
            relationship: String, at: Int? = nil, old: [[StoredValue]], new: [[StoredValue]], whole: WholeList? = nil
        ) {
            self.relationship = relationship
            self.at = at
            self.old = old
            self.new = new
            self.whole = whole
        }
    }

    /// A relationship's list before and after a change.
    public struct WholeList: Sendable, Equatable {
        /// The keys before.
        public var old: [[StoredValue]]
        /// The keys after.
        public var new: [[StoredValue]]

        /// Creates a list.
        package init(
            old: [[StoredValue]], new: [[StoredValue]]
        ) {
            self.old = old
            self.new = new
        }
    }

    /// The entity.
    public var entity: String
    /// The row's key; empty for ``Kind/loaded``.
    public var key: [StoredValue]
    /// The kind of change.
    public var kind: Kind
    /// The columns that changed; for a new or deleted row, those with a value.
    public var columns: [Column] = []
    /// The relationships that changed.
    public var links: [Links] = []
    /// The configured name of the bridge that provided the last change.
    public var bridge: String?
    /// The entity whose scan provided it.
    public var scan: String?
    /// The URL or path that it came from, without secrets.
    public var location: String?
    /// The number of rows from a first load that still exist.
    public var count: Int?

    /// Creates a value.
    package init(
        entity: String, key: [StoredValue], kind: Kind, columns: [Column] = [], links: [Links] = [],
        bridge: String? = nil, scan: String? = nil, location: String? = nil, count: Int? = nil
    ) {
        self.entity = entity
        self.key = key
        self.kind = kind
        self.columns = columns
        self.links = links
        self.bridge = bridge
        self.scan = scan
        self.location = location
        self.count = count
    }
}
