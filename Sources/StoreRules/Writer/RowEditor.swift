package import Mapping
package import StoreContract

/// The reader and writer of single rows by key, which records its changes.
///
/// For operations on known rows, such as local edits, deletions and undo.
package struct RowEditor {
    package let layout: EntityLayout
    private let writer: TableWriter
    private let root: Int

    init(_ writer: TableWriter, _ root: Int) {
        self.writer = writer
        self.root = root
        layout = writer.model.entities[root]
    }

    /// Returns the row, with one value per field.
    package func row(_ key: RowKey) throws -> [StoredValue]? { try writer.tables.row(root, key) }

    /// Returns a value in the type of its field: the history does not record types.
    private func typed(_ value: StoredValue, _ field: Int) -> StoredValue { value.typed(as: layout.fields[field].type) }

    /// Inserts a row; fields without a value are null.
    package func insert(_ key: RowKey, _ columns: [NamedValue], isStub: Bool) throws {
        var values = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (name, value) in columns {
            if let index = layout.fields.firstIndex(where: { $0.name == name }) { values[index] = typed(value, index) }
        }
        for (field, value) in zip(layout.key, key) { values[field] = typed(value, field) }
        if let field = layout.discriminator, values[field] == .null { values[field] = .text(layout.name) }
        let isRecorded = try writer.recordsInsert(root)
        try writer.tables.write(root, key, values)
        writer.touched.insert(root)
        if isStub {
            _ = try writer.tables.setStub(root, key, true)
            writer.noteOffered(root, key)
        }
        guard isRecorded else { return }
        try writer.record(
            root, key: key, isStub ? .stubbed : .inserted, old: nil, new: writer.present(values, of: root))
    }

    /// Updates columns of an existing row; `change` says whether it becomes a stub or ceases to be one.
    package func update(
        _ key: RowKey, from row: [StoredValue], to columns: [NamedValue], as change: RowChange.Kind = .updated
    ) throws {
        var fields: [Int] = []
        var values = row
        for (name, value) in columns {
            guard let index = layout.fields.firstIndex(where: { $0.name == name }), row[index] != value else {
                continue
            }
            fields.append(index)
            values[index] = typed(value, index)
        }
        if !fields.isEmpty {
            try writer.tables.write(root, key, values)
            writer.touched.insert(root)
        }
        try writer.noteReplaced(fields, row, of: layout)
        switch change {
        case .stubbed:
            _ = try writer.tables.setStub(root, key, true)
            writer.noteOffered(root, key)
        case .inserted: _ = try writer.tables.setStub(root, key, false)
        default: if fields.isEmpty { return }
        }
        guard writer.run.records(root) else { return }
        func content(_ values: [StoredValue]) -> ChangeRecord.Content {
            .columns(fields.map { (name: layout.fields[$0].name, value: values[$0]) })
        }
        try writer.record(root, key: key, change, old: content(row), new: content(values))
    }

    /// Deletes an existing row.
    package func delete(_ key: RowKey, _ row: [StoredValue]) throws {
        try writer.tables.erase(root, key)
        writer.touched.insert(root)
        let wasStub = try writer.tables.setStub(root, key, false)
        try writer.noteReplaced(Array(layout.fields.indices), row, of: layout)
        guard writer.run.records(root) else { return }
        try writer.record(
            root, key: key, wasStub ? .stubbed : .deleted, old: writer.present(row, of: root), new: nil)
    }
}
