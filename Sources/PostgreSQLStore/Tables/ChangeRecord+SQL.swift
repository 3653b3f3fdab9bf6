internal import StoreContract
internal import StoreRules

extension ChangeRecord {
    /// Reads a row of `bmo_changes`.
    init(_ result: QueryResult, _ row: Int) throws {
        self.init(
            id: result.bigint(row, 0) ?? 0, run: result.bigint(row, 1) ?? 0, entity: result.text(row, 2) ?? "",
            key: result.text(row, 3),
            // An unknown kind, from a newer bmo, also changed columns.
            change: RowChange.Kind(rawValue: result.text(row, 4) ?? "") ?? .updated,
            old: try result.text(row, 5).map(Content.init(json:)),
            new: try result.text(row, 6).map(Content.init(json:)), source: nil)
        bridge = result.text(row, 7)
        scan = result.text(row, 8)
        location = result.text(row, 9)
    }
}
