package import StoreContract

/// A recorded change of a row.
///
/// `old` is nil if the row did not exist before, and `new` if it does not exist after. Both contain columns by name; a
/// `stubbed` row is a stub after the change, and an `inserted` row with an old value was one before. Undo relies on it.
package struct ChangeRecord: Sendable {
    /// The columns or links before or after a change.
    package enum Content: Sendable {
        case columns([NamedValue])
        case links(relationship: String, LinkSpan)

        package var columns: [NamedValue] { if case .columns(let columns) = self { columns } else { [] } }
    }

    package var id: Int64
    package var run: Int64
    package var entity: String
    /// The key as a JSON array; nil for a first load, which is one record for all its rows.
    package var key: String?
    package var change: RowChange.Kind
    package var old: Content?
    package var new: Content?
    package var bridge: String?
    package var scan: String?
    package var location: String?

    package init(
        id: Int64, run: Int64, entity: String, key: String?, change: RowChange.Kind, old: Content?, new: Content?,
        source: PageSource?
    ) {
        self.id = id
        self.run = run
        self.entity = entity
        self.key = key
        self.change = change
        self.old = old
        self.new = new
        bridge = source?.bridge
        scan = source?.scan
        location = source?.location
    }
}
