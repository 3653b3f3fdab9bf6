internal import StoreContract
internal import StoreRules
internal import Mapping

/// The objects removed from relationships with `orphans: delete`: table `bmo_orphans`.
///
/// They are checked at the end of the scan that removed them, as another list may refer to them until then. Each is
/// checked once, by key, so the cost depends on the number of orphans and not on the size of the table.
final class OrphanTable {
    private let model: CompiledModel
    private let insertion: RawStatement
    private let select: RawStatement
    private let deletion: RawStatement

    init(on connection: OpaquePointer?, model: CompiledModel) {
        self.model = model
        insertion = RawStatement(
            "INSERT INTO bmo_orphans (walk, entity, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", on: connection)
        select = RawStatement("SELECT entity, key FROM bmo_orphans WHERE walk = ?", on: connection)
        deletion = RawStatement("DELETE FROM bmo_orphans WHERE walk = ?", on: connection)
    }

    func add(scan: String, _ target: EntityLayout, _ key: [StoredValue]) throws {
        insertion.bind(scan, at: 1)
        insertion.bind(target.name, at: 2)
        insertion.bind(utf8: JSONText.key(key).bytes, at: 3)
        try insertion.run()
    }

    /// Removes the orphans of a scan from the table and returns them.
    func take(scan: String) throws -> [(entity: Int, key: [StoredValue])] {
        var orphans: [(entity: Int, key: [StoredValue])] = []
        select.bind(scan, at: 1)
        defer { select.reset() }
        while try select.step() {
            guard let entity = select.text(0).flatMap(model.index(of:)), let text = select.text(1),
                let key = model.entities[entity].key(from: text)
            else { continue }
            orphans.append((entity, key))
        }
        select.reset()
        guard !orphans.isEmpty else { return [] }
        deletion.bind(scan, at: 1)
        try deletion.run()
        return orphans
    }
}
