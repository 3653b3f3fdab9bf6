public import Mapping

/// A reference to an object that must exist.
///
/// Its cells point into the page's batch and are valid only during the call that receives them.
public struct PageReference {
    /// The entity's index in the compiled model.
    public let entity: Int
    /// The cells of the object's key; none is absent or null.
    public let key: UnsafeBufferPointer<Cell>

    /// Creates a reference.
    public init(entity: Int, key: UnsafeBufferPointer<Cell>) {
        self.entity = entity
        self.key = key
    }
}
