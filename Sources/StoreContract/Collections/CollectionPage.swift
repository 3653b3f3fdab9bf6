public import Mapping

/// What identifies a kept collection: an entity that has a table, and a name of the program's choice.
public struct CollectionName: Hashable, Sendable {
    /// The name of the entity that has the table.
    public var entity: String
    /// The collection's name, which is unique for the entity.
    public var name: String

    /// Creates the name of a collection.
    public init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}

/// A page of a remote list whose order is kept: a row of `bmo_collections`.
public struct CollectionPage: Hashable, Sendable {
    /// Its number in the list, from 1.
    public var number: Int
    /// Where it begins, for the bridge; nil for the first page.
    public var cursor: String?
    /// Where the page after it begins; nil after the last page.
    public var next: String?
    /// Whether it is the last page.
    public var isLast: Bool
    /// A text that identifies the request which listed it.
    public var request: String
    /// The keys of its objects, in the remote's order; objects that were deleted since may be among them.
    public var keys: [[StoredValue]]

    /// Creates a page.
    public init(
        number: Int, cursor: String? = nil, next: String? = nil, isLast: Bool, request: String, keys: [[StoredValue]]
    ) {
        self.number = number
        self.cursor = cursor
        self.next = next
        self.isLast = isLast
        self.request = request
        self.keys = keys
    }
}

/// A kept collection, for a list of them.
public struct KeptCollection: Hashable, Sendable {
    /// Its entity and name.
    public var collection: CollectionName
    /// The number of pages that are kept.
    public var pages: Int
    /// When a page was kept last, as ISO 8601.
    public var saved: String

    /// Creates an entry of the list.
    public init(collection: CollectionName, pages: Int, saved: String) {
        self.collection = collection
        self.pages = pages
        self.saved = saved
    }
}
