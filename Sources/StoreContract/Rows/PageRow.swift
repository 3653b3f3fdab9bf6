public import Mapping

/// A row of a page: an object that a record contains, or a reference to one.
///
/// Its cells point into the page's batch and are valid only during the call that receives them.
public struct PageRow {
    /// The entity's index in the compiled model.
    public let entity: Int
    /// One cell per field of the entity's layout; an `absent` cell keeps the stored value, and is null in a new object.
    ///
    /// The members of a JSON object whose cell is marked `isPatch` replace those of the stored object, which keeps its
    /// others; in a new object, they are all.
    public let cells: UnsafeBufferPointer<Cell>
    /// The number of the record that contains the object; the rows of a record follow each other, its own row first.
    public let record: Int
    /// How the object appeared.
    ///
    /// A new object that is only referred to is a stub until a record describes it.
    public let role: RowRole
    /// What the entity's own listing brings, if the row is a copy nested in another record.
    ///
    /// If the listing has included the object, the copy's cells of these fields keep the stored values.
    public let listing: ListingContent?

    /// Creates a row.
    public init(
        entity: Int, cells: UnsafeBufferPointer<Cell>, record: Int, role: RowRole, listing: ListingContent? = nil
    ) {
        self.listing = listing
        self.entity = entity
        self.cells = cells
        self.record = record
        self.role = role
    }
}
