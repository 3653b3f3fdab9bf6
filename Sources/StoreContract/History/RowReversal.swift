package import Mapping

/// The reversal of one change of a row, if the row is still as the change left it.
///
/// The old columns are nil if the row did not exist before the change, and the new ones if it does not exist after it;
/// both contain only the columns that the history has.
package enum RowReversal: Equatable {
    /// The change left no trace.
    case nothing
    case delete
    /// The row is inserted with the old columns.
    case insert(isStub: Bool)
    /// The row gets the old columns, which the history records as this kind of change.
    case update(RowChange.Kind)
    /// The row is no longer as the change left it, for this reason.
    case refused(String)

    /// Decides how to revert a change.
    ///
    /// - Parameters:
    ///   - kind: The kind of the change.
    ///   - old: The columns before the change.
    ///   - new: The columns after the change.
    ///   - row: The row as it is now, one value per field of the layout; nil if there is none.
    ///   - layout: The layout of the row's table.
    package init(
        _ kind: RowChange.Kind, from old: [(name: String, value: StoredValue)]?,
        to new: [(name: String, value: StoredValue)]?, row: [StoredValue]?, _ layout: EntityLayout
    ) {
        let names = Set(layout.fields.map(\.name))
        if let gone = (old ?? []).first(where: { !names.contains($0.name) && $0.value != .null }) {
            self = .refused("the configuration has no \(layout.name).\(gone.name) any more")
            return
        }
        self =
            switch (old, new, row) {
            case (nil, .some(let new), .some(let row)): Self.difference(new, row, layout) ?? .delete
            case (.some, nil, nil): .insert(isStub: kind == .stubbed)
            case (.some, .some(let new), .some(let row)):
                // A filled stub becomes a stub again, and a row that became a stub is restored.
                switch kind {
                case .inserted: Self.difference(new, row, layout) ?? .update(.stubbed)
                case .stubbed: Self.difference(new, row, layout) ?? .update(.inserted)
                default: Self.difference(new, row, layout) ?? .update(.updated)
                }
            case (.some, nil, .some): .refused("it exists again, but bmo did not write it")
            case (_, .some, nil): .refused("it is gone, but bmo did not delete it")
            case (nil, nil, _): .nothing
            }
    }

    /// Returns the refusal if a column is not as the change left it; then another program has written it.
    private static func difference(
        _ new: [(name: String, value: StoredValue)], _ row: [StoredValue], _ layout: EntityLayout
    ) -> RowReversal? {
        for (name, value) in new {
            guard let field = layout.fields.firstIndex(where: { $0.name == name }), row[field] != value else {
                continue
            }
            return .refused("its \(name) is \(JSONText.value(row[field])), where the run left \(JSONText.value(value))")
        }
        return nil
    }
}
