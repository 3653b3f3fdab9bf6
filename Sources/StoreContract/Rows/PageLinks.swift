public import Mapping

/// The targets of one object's to-many relationship, as a record lists them.
///
/// Its cells point into the page's batch and are valid only during the call that receives them.
public struct PageLinks {
    /// The index of the entity that has the relationship.
    public let entity: Int
    /// The relationship's index in `EntityLayout.toMany`.
    public let relationship: Int
    /// The cells of the owner: one per field of the entity's layout.
    public let owner: UnsafeBufferPointer<Cell>
    /// The key cells of the targets, concatenated in order.
    public let targets: UnsafeBufferPointer<Cell>
    /// Whether the owner is a copy nested in another record, and the list one that the owner's own listing brings.
    ///
    /// If the listing has included the owner, such a list keeps the stored one.
    public let yieldsToListing: Bool

    /// Creates a list of targets.
    public init(
        entity: Int, relationship: Int, owner: UnsafeBufferPointer<Cell>, targets: UnsafeBufferPointer<Cell>,
        yieldsToListing: Bool = false
    ) {
        self.yieldsToListing = yieldsToListing
        self.entity = entity
        self.relationship = relationship
        self.owner = owner
        self.targets = targets
    }
}
