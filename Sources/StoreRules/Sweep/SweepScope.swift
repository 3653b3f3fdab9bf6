package import Mapping
internal import Model
package import StoreContract

/// The rows that a scan covers, among those of its table.
package struct SweepScope {
    /// The field with the kind of a row's object, and the kinds of the scope; nil if the table has one kind only.
    package private(set) var kinds: (field: Int, names: Set<String>)?
    /// The fields that refer to the parent, and its key; nil for a scan without a parent.
    package private(set) var parent: (fields: Range<Int>, key: [StoredValue])?
    /// The field that marks a row as deleted.
    package let deletion: Int?

    /// Finds the scope of a scan of an entity.
    package init(_ scan: ScanTarget, _ layout: EntityLayout, in model: CompiledModel) {
        deletion = layout.deletion
        if let field = layout.discriminator {
            kinds = (field, Set(Self.kinds(of: layout, in: model)))
        }
        if let parent = scan.parent {
            let toOne = layout.toOne[parent.relationship]
            self.parent = (toOne.firstField..<toOne.firstField + toOne.fieldCount, parent.key)
        }
    }

    /// The scope of all parents.
    package var besidesParent: SweepScope {
        var scope = self
        scope.parent = nil
        return scope
    }

    /// Returns whether two scopes have the same kinds, and refer to their parents by the same fields.
    package func differsInParentOnly(from other: SweepScope) -> Bool {
        kinds?.field == other.kinds?.field && kinds?.names == other.kinds?.names && deletion == other.deletion
            && parent?.fields == other.parent?.fields
    }

    /// Returns the kinds of objects that an entity's listing covers: sub-entities with their own listing belong to that
    /// one.
    package static func kinds(of layout: EntityLayout, in model: CompiledModel) -> [String] {
        let foreign = model.model.entities.filter { entity in
            entity.isScanned && entity.name != layout.name && layout.kinds.contains(entity.name)
        }.flatMap { entity in model.index(of: entity.name).map { model.entities[$0].kinds } ?? [] }
        return layout.kinds.filter { !foreign.contains($0) }
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
