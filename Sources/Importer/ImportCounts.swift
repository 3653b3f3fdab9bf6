/// The counts of an import, per entity of the model.
///
/// A nested object counts for its own entity.
public struct ImportCounts: Sendable, Equatable {
    /// The counts of one entity.
    public struct Entity: Sendable, Equatable {
        /// Objects that were new, or were only stubs before.
        public var inserted = 0
        /// Objects with at least one changed value.
        public var updated = 0
        /// Objects whose values were already up to date.
        public var unchanged = 0
        /// Records that could not be imported.
        public var quarantined = 0
        /// Objects known only by a reference so far.
        public var stubs = 0
        /// To-many relationships that changed.
        public var relinked = 0
        /// Objects that were deleted, or became stubs because others still refer to them.
        public var deleted = 0

        /// Creates counts of zero.
        public init() {}
    }

    private var entities: [Entity]

    /// Creates counts of zero for a model's entities.
    public init(entityCount: Int) { entities = Array(repeating: Entity(), count: entityCount) }

    /// The counts of the entity with this index.
    public subscript(entity: Int) -> Entity {
        get { entities[entity] }
        set { entities[entity] = newValue }
    }

    /// Returns the sum over several entities.
    public func sum(of indexes: [Int]) -> Entity {
        var all = ImportCounts(entityCount: 1)
        for index in indexes {
            var one = ImportCounts(entityCount: 1)
            one[0] = entities[index]
            all += one
        }
        return all[0]
    }

    /// Returns the counts added since `right`.
    public static func - (left: ImportCounts, right: ImportCounts) -> ImportCounts {
        var difference = left
        for index in left.entities.indices {
            difference.entities[index].inserted -= right.entities[index].inserted
            difference.entities[index].updated -= right.entities[index].updated
            difference.entities[index].unchanged -= right.entities[index].unchanged
            difference.entities[index].quarantined -= right.entities[index].quarantined
            difference.entities[index].stubs -= right.entities[index].stubs
            difference.entities[index].relinked -= right.entities[index].relinked
            difference.entities[index].deleted -= right.entities[index].deleted
        }
        return difference
    }

    /// Adds the counts of another import.
    public static func += (left: inout ImportCounts, right: ImportCounts) {
        for index in left.entities.indices {
            left.entities[index].inserted += right.entities[index].inserted
            left.entities[index].updated += right.entities[index].updated
            left.entities[index].unchanged += right.entities[index].unchanged
            left.entities[index].quarantined += right.entities[index].quarantined
            left.entities[index].stubs += right.entities[index].stubs
            left.entities[index].relinked += right.entities[index].relinked
            left.entities[index].deleted += right.entities[index].deleted
        }
    }
}
