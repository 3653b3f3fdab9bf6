package import Mapping
internal import Model
package import StoreContract

/// The rows that a scan covers, among those of its table.
package struct SweepScope {
    private var kinds: (field: Int, names: Set<String>)?
    private var parent: (fields: Range<Int>, key: RowKey)?
    private let deletion: Int?

    /// Finds the scope of a scan of an entity.
    package init(_ scan: ScanTarget, _ layout: EntityLayout, in model: CompiledModel) {
        deletion = layout.deletion
        if let field = layout.discriminator {
            // Sub-entities with their own listing belong to that listing.
            let foreign = model.model.entities.filter { entity in
                entity.isScanned && entity.name != layout.name && layout.kinds.contains(entity.name)
            }.flatMap { entity in model.index(of: entity.name).map { model.entities[$0].kinds } ?? [] }
            kinds = (field, Set(layout.kinds).subtracting(foreign))
        }
        if let parent = scan.parent {
            let toOne = layout.toOne[parent.relationship]
            self.parent = (toOne.firstField..<toOne.firstField + toOne.fieldCount, parent.key)
        }
    }

    /// Returns whether a row belongs to the scope; rows marked as deleted do not.
    package func contains(_ row: [StoredValue]) -> Bool {
        if let kinds {
            guard case .text(let kind) = row[kinds.field], kinds.names.contains(kind) else { return false }
        }
        if let parent, Array(row[parent.fields]) != parent.key { return false }
        return deletion.map { row[$0] == .null } ?? true
    }
}

extension SkippedRows {
    /// Returns whether a scan skipped a row.
    package func contains(_ row: [StoredValue]) -> Bool {
        guard row[field] != .null else { return false }
        let text = Array(row[field].description.utf8)
        return isPrefix ? text.starts(with: Array(value.utf8)) : text == Array(value.utf8)
    }
}
