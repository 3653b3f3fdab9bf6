internal import StoreContract
internal import Mapping

/// The stubs: objects known only from references.
///
/// Most models have no stubs most of the time. The count per entity is kept in memory, so that only rows of an entity
/// with stubs need a look-up. A rolled-back page makes the counts stale; `reload` reads them again.
final class StubTable {
    private var counts: [String: ObjectCount] = [:]
    private let insertion: RawStatement
    private let deletion: RawStatement
    private let search: RawStatement
    private let count: RawStatement

    init(on connection: OpaquePointer?, entities: [String]) throws {
        insertion = RawStatement(
            "INSERT INTO bmo_stubs (entity, key) VALUES (?, ?) ON CONFLICT DO NOTHING", on: connection)
        deletion = RawStatement("DELETE FROM bmo_stubs WHERE entity = ? AND key = ?", on: connection)
        search = RawStatement("SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: connection)
        count = RawStatement("SELECT count(*) FROM bmo_stubs WHERE entity = ?", on: connection)
        try reload(entities)
    }

    func reload(_ entities: [String]) throws {
        for entity in entities {
            count.bind(entity, at: 1)
            _ = try count.step()
            self.count(of: entity).value = Int(count.int64(0))
            count.reset()
        }
    }

    /// Returns the number of stubs of an entity.
    func count(of entity: String) -> ObjectCount {
        if let known = counts[entity] { return known }
        let new = ObjectCount()
        counts[entity] = new
        return new
    }

    func add(_ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>) throws {
        try add(layout.name, .key(layout.key.lazy.map { cells[$0] }))
    }

    func add(_ layout: EntityLayout, key: UnsafeBufferPointer<Cell>) throws {
        try add(layout.name, .key(key))
    }

    func add(_ entity: String, _ key: JSONText) throws {
        insertion.bind(entity, at: 1)
        insertion.bind(utf8: key.bytes, at: 2)
        count(of: entity).value += try insertion.run()
    }

    /// Removes the stub, if there is one; returns whether the object was a stub.
    func remove(_ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>) throws -> Bool {
        guard count(of: layout.name).value > 0 else { return false }
        return try remove(layout.name, .key(layout.key.lazy.map { cells[$0] }))
    }

    /// Removes the stub, if there is one; returns whether the object was a stub.
    func remove(_ entity: String, _ key: JSONText) throws -> Bool {
        deletion.bind(entity, at: 1)
        deletion.bind(utf8: key.bytes, at: 2)
        let removed = try deletion.run()
        count(of: entity).value -= removed
        return removed > 0
    }

    /// Returns whether the object is a stub.
    func contains(_ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>) throws -> Bool {
        guard count(of: layout.name).value > 0 else { return false }
        return try contains(layout.name, .key(layout.key.lazy.map { cells[$0] }))
    }

    /// Returns whether the object is a stub.
    func contains(_ entity: String, _ key: JSONText) throws -> Bool {
        guard count(of: entity).value > 0 else { return false }
        search.bind(entity, at: 1)
        search.bind(utf8: key.bytes, at: 2)
        defer { search.reset() }
        return try search.step()
    }
}
