internal import Mapping
internal import StoreContract

/// What other programs have put into the file that speaks against the deletion of a row: their tables that refer to it, and
/// their triggers.
///
/// Use it only inside an access to the connection.
final class DeletionGuard {
    /// What concerns the rows of one table.
    private struct Guards {
        /// For references to the key, which a stub keeps: whether a row has one that stays after the open sweep.
        var toKey: [RawStatement] = []
        /// The same: whether a row has one from another row.
        var fromOthers: [RawStatement] = []
        /// For references to other columns, with the tables that have them: whether a row has one that stays.
        var toOthers: [(table: String, isReferred: RawStatement)] = []
        /// Whether a table of bmo's has such a reference.
        var isReferredByOurs = false
        /// Whether anything can refuse the deletion of a row.
        let canRefuse: Bool
        let deletion: RawStatement
        /// Whether there is a row.
        let exists: RawStatement
    }

    private let model: CompiledModel
    private let connection: OpaquePointer?
    private var guards: [Int: Guards] = [:]
    /// The foreign keys that bmo did not make; nil before the first deletion.
    private var references: [FileReference]?

    init(_ model: CompiledModel, on connection: OpaquePointer?) {
        self.model = model
        self.connection = connection
    }

    /// Clears the cache, after another process has written: it may have changed the tables.
    func forget() { (guards, references) = ([:], nil) }

    /// Returns whether a foreign key of another program refers to the key of a row, which then stays as a stub.
    ///
    /// The rows in `bmo_doomed` do not count, unless they stay.
    func isReferred(_ root: Int, _ row: Int64) throws -> Bool {
        for statement in try guards(of: root).toKey where try Self.isTrue(statement, row) { return true }
        return false
    }

    /// The same outside a sweep, where only the row itself does not count.
    func isReferredByOthers(_ root: Int, _ row: Int64) throws -> Bool {
        for statement in try guards(of: root).fromOthers where try Self.isTrue(statement, row) { return true }
        return false
    }

    /// Returns whether a column that another program has added to a table of bmo's refers to the rows of a table.
    func isReferredByOurs(_ root: Int) throws -> Bool { try guards(of: root).isReferredByOurs }

    /// Returns whether anything can refuse the deletion of a table's rows.
    func canRefuse(_ root: Int) throws -> Bool { try guards(of: root).canRefuse }

    /// Deletes a row that nothing refers to; returns why the database refuses that.
    ///
    /// Use it only where everything is taken back.
    func refusal(_ root: Int, _ row: Int64) throws -> StoreError? {
        let guards = try guards(of: root)
        for (table, isReferred) in guards.toOthers where try Self.isTrue(isReferred, row) {
            return StoreError(
                .constraint, "a foreign key of the table \(table) refers to it",
                remedy: "drop that row or the foreign key, or give it ON DELETE CASCADE or SET NULL")
        }
        do {
            guards.deletion.bind(row, at: 1)
            // A trigger that deletes the row itself leaves none to delete.
            guard try guards.deletion.run() == 0, try Self.isTrue(guards.exists, row) else { return nil }
            return SQLiteFailure.ignored("does not let go of the row")
        } catch let error as StoreError where error.code == .constraint {
            return error
        }
    }

    private static func isTrue(_ statement: RawStatement, _ row: Int64) throws -> Bool {
        statement.bind(row, at: 1)
        defer { statement.reset() }
        _ = try statement.step()
        return statement.int64(0) != 0
    }

    private func guards(of root: Int) throws -> Guards {
        if let known = guards[root] { return known }
        let found = try find(root)
        guards[root] = found
        return found
    }

    private func find(_ root: Int) throws -> Guards {
        let layout = model.entities[root]
        let target = layout.table.lowercased()
        let references = try foreignReferences().filter { $0.target.lowercased() == target }
        let table = SchemaBuilder.quoted(layout.table)
        var guards = Guards(
            canRefuse: try !references.isEmpty || hasTrigger(on: target),
            deletion: RawStatement("DELETE FROM \(table) WHERE \(layout.rowIDName) = ?", on: connection),
            exists: RawStatement(
                "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(layout.rowIDName) = ?)", on: connection))
        let key = Set(layout.key.map { layout.fields[$0].name.lowercased() })
        // SQLite itself does what the others ask for.
        for reference in references where ["NO ACTION", "RESTRICT"].contains(reference.deletionAction.uppercased()) {
            let columns = targets(of: reference, layout)
            let ours = model.entities.first {
                $0.index == $0.root && $0.table.lowercased() == reference.table.lowercased()
            }
            if ours != nil { guards.isReferredByOurs = true }
            let statement = isReferred(reference, columns, layout, ours.map(Self.stays) ?? "")
            if key.isSuperset(of: columns.map { $0.lowercased() }) {
                guards.toKey.append(statement)
                let isOther = ours?.index == root ? " AND o.\(layout.rowIDName) <> t.\(layout.rowIDName)" : ""
                guards.fromOthers.append(isReferred(reference, columns, layout, isOther))
            } else {
                guards.toOthers.append((reference.table, statement))
            }
        }
        return guards
    }

    private func foreignReferences() throws -> [FileReference] {
        if let references { return references }
        let made = try FileReference.made(on: connection)
        let found = try FileReference.all(on: connection).filter { !$0.isOurs(made) }
        references = found
        return found
    }

    /// Returns the columns that a reference refers to.
    private func targets(of reference: FileReference, _ layout: EntityLayout) -> [String] {
        let names = reference.targetColumns
        return names.contains("") ? layout.key.map { layout.fields[$0].name } : names
    }

    /// Returns the condition that the row `o` of a table of bmo's stays after the open sweep.
    private static func stays(_ layout: EntityLayout) -> String {
        """
         AND NOT EXISTS (
            SELECT 1 FROM temp.bmo_doomed AS d
            WHERE d.entity = \(layout.index) AND d.row = o.\(layout.rowIDName) AND NOT d.stays)
        """
    }

    private func isReferred(
        _ reference: FileReference, _ targets: [String], _ layout: EntityLayout, _ condition: String
    ) -> RawStatement {
        let quoted = SchemaBuilder.quoted
        let pairs = zip(reference.columns, targets).map { "o.\(quoted($0)) = t.\(quoted($1))" }
        return RawStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM \(quoted(layout.table)) AS t JOIN \(quoted(reference.table)) AS o
                ON \(pairs.joined(separator: " AND ")) WHERE t.\(layout.rowIDName) = ?\(condition))
            """, on: connection)
    }

    private func hasTrigger(on table: String) throws -> Bool {
        let select = RawStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)
                WHERE type = 'trigger' AND lower(tbl_name) = ? AND sql LIKE '%delete%')
            """, on: connection)
        select.bind(table, at: 1)
        defer { select.reset() }
        return try select.step() && select.int64(0) != 0
    }
}
