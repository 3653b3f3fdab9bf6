package import StoreContract

/// The edits that are in the way of a migration: the values and keys in them would not be converted.
package enum WaitingEdits {
    /// A table of a model.
    package struct Table {
        fileprivate let name: String
        fileprivate let targets: [String]
        fileprivate let isLinkTable: Bool

        /// - Parameter targets: The tables that it refers to.
        package init(name: String, targets: [String], isLinkTable: Bool) {
            self.name = name
            self.targets = targets
            self.isLinkTable = isLinkTable
        }
    }

    /// Returns the tables whose objects may not have edits that the remote does not have yet, in order.
    ///
    /// - Parameters:
    ///   - rekeyed: The tables whose keys change, in their columns or the columns' types.
    ///   - tables: Those of the model.
    package static func tables(
        of changes: [TableChange], rekeyed: Set<String>, among tables: [Table]
    ) -> [String] {
        var names = Set(changes.filter { !$0.isLossless }.map(\.table))
        names.formUnion(holders(ofKeysOf: rekeyed, among: tables))
        // The owners of links: their edits have whole lists.
        names.formUnion(tables.filter { $0.isLinkTable && names.contains($0.name) }.flatMap(\.targets))
        return names.sorted()
    }

    /// Returns the tables whose objects' edits may contain these tables' keys, through to-one and to-many relationships
    /// from either side.
    private static func holders(ofKeysOf keyed: Set<String>, among tables: [Table]) -> [String] {
        tables.flatMap { table -> [String] in
            let refers = table.targets.contains(where: keyed.contains)
            // Edits of the targets may contain these keys, through the inverse relationship.
            let isReferred = keyed.contains(table.name) || table.isLinkTable && refers
            return (refers ? [table.name] : []) + (isReferred ? table.targets : [])
        }
    }

    /// Returns the error about the edits of a table's objects.
    package static func refusal(_ count: Int, of table: String) -> StoreError {
        StoreError(
            .schema, "\(table) has \(count) edit\(count == 1 ? "" : "s") that the remote does not have yet",
            remedy: "`bmo push` sends them and `bmo outbox drop` discards them; do that with the previous configuration"
        )
    }
}
