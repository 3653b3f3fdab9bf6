internal import Mapping

/// The last reference to each entity.
///
/// Consecutive records often refer to the same object.
struct ReferenceMemory {
    private var last: [[StoredValue]]

    init(entityCount: Int) { last = Array(repeating: [], count: entityCount) }

    mutating func isNew(entity: Int, _ key: UnsafeBufferPointer<Cell>) -> Bool {
        let known = last[entity]
        if known.count == key.count, key.indices.allSatisfy({ key[$0].equals(known[$0]) }) { return false }
        last[entity] = key.compactMap(\.value)
        return true
    }
}
