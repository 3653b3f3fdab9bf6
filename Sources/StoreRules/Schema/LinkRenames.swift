package import Mapping

/// The renames of a link table's columns, which are known by their places, whatever their names: first the key of the
/// source, then the position, then the key of the target.
package struct LinkRenames: Sendable {
    /// The columns of one end.
    package struct End: Sendable {
        private let columns: [String]
        /// The names of the key's attributes now, and those in earlier configurations.
        private let attributes: [[String]]

        /// Creates an end.
        ///
        /// - Parameters:
        ///   - columns: The columns, one per attribute of the key.
        ///   - layout: The entity that has this end's table.
        package init(_ columns: [String], of layout: EntityLayout, in model: CompiledModel) {
            self.columns = columns
            let names = layout.key.map { layout.fields[$0].name }
            let old = RenameMap(ofTable: layout.name, in: model)
            attributes = [names, names.map { old.columns[$0] ?? $0 }]
        }

        /// Returns the columns with their present names; none if the table has those of another key.
        fileprivate func pairs(with present: [String]) -> [(old: String, new: String)] {
            guard present.count == columns.count else { return [] }
            let names = present.count == 1 ? present : self.names(among: present) ?? []
            return zip(names, columns).map { (old: $0, new: $1) }
        }

        private func names(among present: [String]) -> [String]? {
            for attributes in self.attributes {
                for column in present where column.hasSuffix("_\(attributes[0])") {
                    let end = column.dropLast(attributes[0].count)
                    let names = attributes.map { "\(end)\($0)" }
                    if Set(names) == Set(present) { return names }
                }
            }
            return nil
        }
    }

    /// The columns that get another name.
    package let renames: [(old: String, new: String)]

    /// Finds the columns that get another name; none if another program's column has one of the new names.
    ///
    /// - Parameters:
    ///   - ends: Source and target.
    ///   - present: The columns that bmo created, in the order of the table.
    ///   - others: The other columns of the table.
    ///   - ignoresCase: Whether names that differ only in case are the same.
    package init(_ ends: [End], present: [String], others: [String], ignoresCase: Bool) {
        guard ends.count == 2, let position = present.firstIndex(of: "position") else {
            renames = []
            return
        }
        let source = ends[0].pairs(with: Array(present[..<position]))
        let target = ends[1].pairs(with: Array(present[(position + 1)...]))
        let changed = (source + target).filter { pair in
            ignoresCase ? pair.old.lowercased() != pair.new.lowercased() : pair.old != pair.new
        }
        let olds = Set(changed.map { $0.old.lowercased() })
        let staying = Set((present + others).map { $0.lowercased() }).subtracting(olds)
        renames = changed.contains { staying.contains($0.new.lowercased()) } ? [] : changed
    }

    /// The renames one after the other.
    ///
    /// Where a column has the name that another one gets, as after a swap, the other one waits under a third name.
    package var steps: [(old: String, new: String)] {
        let olds = Set(renames.map { $0.old.lowercased() })
        let waiting = renames.filter { olds.contains($0.new.lowercased()) }
        var steps = waiting.map { (old: $0.old, new: "bmo_\($0.new)") }
        steps += renames.filter { !olds.contains($0.new.lowercased()) }
        steps += waiting.map { (old: "bmo_\($0.new)", new: $0.new) }
        return steps
    }
}
