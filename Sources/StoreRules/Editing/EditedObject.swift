internal import Mapping

/// An object being edited.
struct EditedObject {
    /// The index of the entity that has the table.
    let root: Int
    /// The object's actual entity.
    let layout: EntityLayout
    let key: [StoredValue]

    /// The key as a user would type it.
    var name: String { key.map(\.description).joined(separator: ", ") }
}
