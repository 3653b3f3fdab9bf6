internal import Mapping
internal import StoreContract
internal import StoreRules

/// The form of a change in `bmo_changes`.
extension ChangeRecord {
    /// The columns that ``init(_:)`` reads, in order.
    static let columns = "id, run, entity, key, change, old, new, bridge, walk, location"

    /// Reads the statement's current row.
    init(_ row: RawStatement) throws {
        self.init(
            id: row.int64(0), run: row.int64(1), entity: row.text(2) ?? "", key: row.text(3),
            // An unknown kind, from a newer bmo, also changed columns.
            change: RowChange.Kind(rawValue: row.text(4) ?? "") ?? .updated,
            old: try row.text(5).map(Content.init(json:)), new: try row.text(6).map(Content.init(json:)), source: nil)
        bridge = row.text(7)
        scan = row.text(8)
        location = row.text(9)
    }

    /// Reads the remaining rows and resets the statement.
    static func all(_ select: RawStatement) throws -> [ChangeRecord] {
        defer { select.reset() }
        var records: [ChangeRecord] = []
        while try select.step() { records.append(try ChangeRecord(select)) }
        return records
    }
}
