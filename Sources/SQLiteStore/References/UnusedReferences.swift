internal import StoreContract
internal import Mapping

/// The references that stayed in the file when their relationship, list or entity was removed from the configuration.
///
/// SQLite still enforces them, and a row that they refer to could not be deleted: its unused references become null, and
/// unused links to it are removed.
final class UnusedReferences {
    private let model: CompiledModel
    private let connection: OpaquePointer?
    /// The statements that remove the references to a row, by the table's name in lower case; nil before the first
    /// deletion.
    private var statements: [String: [RawStatement]]?

    init(_ model: CompiledModel, on connection: OpaquePointer?) {
        self.model = model
        self.connection = connection
    }

    /// Clears the cache, after another process has written: it may have changed the tables.
    func forget() { statements = nil }

    /// Removes the unused references to the row with this key.
    func remove(to layout: EntityLayout, _ key: [StoredValue]) throws {
        let statements = try self.statements ?? found()
        self.statements = statements
        for statement in statements[layout.table.lowercased()] ?? [] {
            for (index, value) in key.enumerated() { statement.bind(value, at: Int32(index + 1)) }
            try statement.run()
        }
    }

    private func found() throws -> [String: [RawStatement]] {
        let references = try FileReference.all(on: connection)
        guard !references.isEmpty else { return [:] }
        let made = try FileReference.made(on: connection)
        let used = Dictionary(
            SchemaBuilder(model).tables.map { ($0.name.lowercased(), Set($0.columns.map { $0.name.lowercased() })) },
            uniquingKeysWith: { $0.union($1) })
        var statements: [String: [RawStatement]] = [:]
        for reference in references {
            let columns = used[reference.table.lowercased()] ?? []
            guard !reference.columns.allSatisfy({ columns.contains($0.lowercased()) }), reference.isOurs(made),
                let sql = try removal(of: reference)
            else { continue }
            statements[reference.target.lowercased(), default: []].append(RawStatement(sql, on: connection))
        }
        return statements
    }

    /// Returns the statement that removes a reference, whose parameters are the parts of the target's key; nil if it does
    /// not refer to the key.
    private func removal(of reference: FileReference) throws -> String? {
        guard
            let layout = model.entities.first(where: {
                $0.index == $0.root && $0.table.lowercased() == reference.target.lowercased()
            })
        else { return nil }
        let columns = layout.key.compactMap { field in
            reference.targetColumns.firstIndex { $0.lowercased() == layout.fields[field].name.lowercased() }
                .map { SchemaBuilder.quoted(reference.columns[$0]) }
        }
        guard columns.count == layout.key.count, columns.count == reference.columns.count else { return nil }
        let table = SchemaBuilder.quoted(reference.table)
        let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        guard try isRequired(reference) else {
            return "UPDATE \(table) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", ")) WHERE \(condition)"
        }
        return "DELETE FROM \(table) WHERE \(condition)"
    }

    /// Whether a row, such as a link, must have the reference.
    private func isRequired(_ reference: FileReference) throws -> Bool {
        let select = RawStatement(
            "SELECT lower(name) FROM pragma_table_info(?) WHERE \"notnull\" OR pk > 0", on: connection)
        select.bind(reference.table, at: 1)
        defer { select.reset() }
        let columns = Set(reference.columns.map { $0.lowercased() })
        while try select.step() { if columns.contains(select.text(0) ?? "") { return true } }
        return false
    }
}
