package import Mapping
package import StoreContract

extension SchemaPlan {
    /// The member of a migration's summary with the runs whose changes it deleted, so that none is undone in part.
    static let forgottenMember = "forgotten"

    /// Returns the summary of the run that records a migration, as JSON.
    ///
    /// - Parameters:
    ///   - notes: What could not be kept, in words.
    ///   - runs: The runs that lost recorded changes.
    package func summary(notes: [String], forgotten runs: Set<Int64>) -> String {
        var summary = JSONText()
        summary.append("{")
        for (name, lines) in [("steps", steps.map(\.description)), ("notes", notes)] {
            summary.beginMember(name)
            summary.append(.key(lines.map { StoredValue.text($0) }))
        }
        summary.beginMember(Self.forgottenMember)
        summary.append(.key(runs.sorted().map { StoredValue.integer($0) }))
        summary.append("}")
        return summary.string
    }
}

extension StoreError {
    /// Returns the error with the database in front of its message.
    package func naming(_ place: String) -> StoreError {
        StoreError(code, "\(place): \(message)", remedy: remedy)
    }

    /// Returns the error about a view's name that another program's table, view or index has.
    ///
    /// - Parameters:
    ///   - kind: What has the name: `view`.
    ///   - table: The table whose view it is.
    package static func takenView(_ name: String, by kind: String, of table: String) -> StoreError {
        StoreError(
            .schema, "the database has \(kind == "index" ? "an" : "a") \(kind) \(name) that bmo did not create",
            remedy: "give the view of \(table) under \"deletes\" another name, or rename the \(kind)")
    }
}

extension CompiledModel {
    /// Returns the names of the tables that have the rows and links of entities.
    package func tables(of entities: [Int]) -> Set<String> {
        Set(
            entities.flatMap { index -> [String] in
                let root = self.entities[self.entities[index].root]
                return [root.name]
                    + root.toMany.compactMap { if case .links(let name) = $0.storage { name } else { nil } }
            })
    }

    /// Checks that a database has the tables that a reader needs.
    ///
    /// - Parameters:
    ///   - changes: What has to change before its tables fit the model.
    ///   - entities: The entities to read; nil for all.
    ///   - place: The database, as its users name it.
    /// - Throws: ``StoreError`` of code `schema`.
    package func checkReadable(_ entities: [Int]?, changes: [some StoreTableChange], at place: String) throws {
        let tables = entities.map(tables)
        let changes = changes.filter { tables?.contains($0.change.table) ?? true }
        let plan = SchemaPlan(steps: changes.map { $0.step() })
        guard plan.obstacles.isEmpty else { throw plan.refusal.naming(place) }
        guard let missing = changes.first(where: \.isLossless) else { return }
        throw StoreError(
            .schema, "\(place): the tables do not fit the configuration yet: \(missing.words)",
            remedy: "`bmo sync` or `bmo migrate --apply` updates the database")
    }
}
