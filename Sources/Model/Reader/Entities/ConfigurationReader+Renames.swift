extension ConfigurationReader {
    /// What may have an earlier name, and the names that it has now.
    private struct Renaming {
        let what: String
        let name: String
        /// Its tables' or columns' names, in lower case.
        let taken: Set<String>
        let old: String?
        let location: SourceLocation

        init(_ what: String, _ name: String, _ taken: [String] = [], from old: String?, at location: SourceLocation) {
            self.what = what
            self.name = name
            self.taken = Set(([name] + taken).map { $0.lowercased() })
            self.old = old
            self.location = location
        }

        func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
    }

    /// Rejects names that are swapped, directly or in a circle.
    ///
    /// A database would not show whether that is done, and waiting edits of one would be sent to the other. The stores
    /// refuse a rename that is still to be done while another has the old name.
    mutating func checkRenames(_ model: Model) {
        checkEarlierNames(
            of: model.entities.map { entity in
                Renaming(
                    "entity \(quoted(entity.name))", entity.name, from: entity.renamedFrom, at: entity.location)
            })
        for root in model.entities where root.superentity == nil {
            var columns: [Renaming] = []
            var lists: [Renaming] = []
            for entity in model.family(of: root) {
                let of = "of entity \(quoted(entity.name))"
                for attribute in entity.attributes {
                    let what = "attribute \(quoted(attribute.name)) \(of)"
                    columns.append(
                        Renaming(what, attribute.name, from: attribute.renamedFrom, at: attribute.location))
                }
                for relationship in entity.relationships {
                    let what = "relationship \(quoted(relationship.name)) \(of)"
                    let old = relationship.renamedFrom
                    let renaming = Renaming(
                        what, relationship.name, relationship.columns, from: old, at: relationship.location)
                    if relationship.kind == .toOne { columns.append(renaming) } else { lists.append(renaming) }
                }
            }
            checkEarlierNames(of: columns)
            checkEarlierNames(of: lists)
        }
    }

    private mutating func checkEarlierNames(of renamings: [Renaming]) {
        guard renamings.contains(where: { $0.old != nil }) else { return }
        var takers: [String: [Renaming]] = [:]
        for renaming in renamings {
            for name in renaming.taken { takers[name, default: []].append(renaming) }
        }
        let named = Dictionary(renamings.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for renaming in renamings {
            guard let old = renaming.old else { continue }
            let other = takers[old.lowercased()]?.first { !$0.isNamed(renaming.name) }
            guard let other, Self.isInCircle(renaming, named) else { continue }
            error(
                at: YAMLMark(line: renaming.location.line, column: renaming.location.column),
                "\(quoted("renamed_from: \(old)")) of \(renaming.what), but \(other.what) has that name",
                "names cannot be swapped in one step: rename one to a third name, and run \"bmo sync\" after each rename"
            )
        }
    }

    /// Returns whether earlier names lead back to the name itself.
    private static func isInCircle(_ start: Renaming, _ named: [String: Renaming]) -> Bool {
        var seen: Set<String> = []
        var next = start.old
        while let name = next, seen.insert(name.lowercased()).inserted {
            if start.isNamed(name) { return true }
            next = named[name.lowercased()]?.old
        }
        return false
    }
}
