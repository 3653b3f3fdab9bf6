internal import StoreContract
internal import StoreRules
internal import Mapping

/// Links stored in the target's to-one relationship: rows that are no longer wanted are detached, never deleted.
///
/// The wanted rows already refer to the owner, as a page merges its rows before its links.
struct InverseBacking: LinkBacking {
    private let keyWidth: Int
    private let toOne: EntityLayout.ToOne
    private let select: RawStatement
    private let detach: RawStatement

    init(_ target: EntityLayout, _ toOne: EntityLayout.ToOne, on connection: OpaquePointer?) {
        keyWidth = target.key.count
        self.toOne = toOne
        let quoted = SchemaBuilder.quoted
        let references = (0..<toOne.fieldCount).map { quoted(target.fields[toOne.firstField + $0].name) }
        let keys = target.key.map { quoted(target.fields[$0].name) }
        let isOwner = references.map { "\($0) = ?" }.joined(separator: " AND ")
        select = RawStatement(
            "SELECT \(keys.joined(separator: ", ")) FROM \(quoted(target.name)) WHERE \(isOwner)", on: connection)
        detach = RawStatement(
            "UPDATE \(quoted(target.name)) SET \(references.map { "\($0) = NULL" }.joined(separator: ", ")) "
                + "WHERE \(keys.map { "\($0) = ?" }.joined(separator: " AND "))", on: connection)
    }

    func targets(of owner: [StoredValue]) throws -> StoredLinks {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        return StoredLinks(keys: try select.rows(width: keyWidth), isDense: true)
    }

    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool {
        for (index, value) in owner.enumerated() { select.bind(value, at: Int32(index + 1)) }
        return try select.holds(targets, width: keyWidth, firstColumn: 0)
    }

    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]) throws -> LinkDelta? {
        let kept = Set(wanted)
        var detached: [[StoredValue]] = []
        for key in old.keys where !kept.contains(key) {
            for (index, value) in key.enumerated() { detach.bind(value, at: Int32(index + 1)) }
            try detach.run()
            detached.append(key)
        }
        return detached.isEmpty ? nil : .detached(detached, toOne)
    }
}
