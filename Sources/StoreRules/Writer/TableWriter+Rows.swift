package import Mapping
package import StoreContract

/// Single rows by key, written with their records in the history.
///
/// A value gets the type of its column, because the history does not record types.
extension TableWriter {
    /// Returns a row, with one value per field; nil if there is none with this key.
    package func row(_ root: Int, _ key: RowKey) throws -> [StoredValue]? { try tables.row(root, key) }

    /// Returns whether a key is that of a stub.
    package func isStub(_ root: Int, _ key: RowKey) throws -> Bool { try tables.isStub(root, key) }

    /// Returns the least value of a column; null without rows.
    package func leastValue(of field: Int, in root: Int) throws -> StoredValue {
        try tables.leastValue(of: field, in: root)
    }

    /// Inserts a row; fields without a value are null.
    package func insert(_ root: Int, _ key: RowKey, _ columns: [NamedValue], isStub: Bool) throws {
        let layout = model.entities[root]
        var values = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (name, value) in columns {
            if let index = layout.fields.firstIndex(where: { $0.name == name }) {
                values[index] = value.typed(as: layout.fields[index].type)
            }
        }
        for (field, value) in zip(layout.key, key) { values[field] = value.typed(as: layout.fields[field].type) }
        if let field = layout.discriminator, values[field] == .null { values[field] = .text(layout.name) }
        let isRecorded = try recordsInsert(root)
        try tables.write(root, key, values)
        touched.insert(root)
        if isStub {
            _ = try tables.setStub(root, key, true)
            noteOffered(root, key)
        }
        guard isRecorded else { return }
        try record(root, key: key, isStub ? .stubbed : .inserted, old: nil, new: present(values, of: root))
    }

    /// Updates columns of an existing row; `change` says whether it becomes a stub or ceases to be one.
    package func update(
        _ root: Int, _ key: RowKey, from row: [StoredValue], to columns: [NamedValue], as change: RowChange.Kind
    ) throws {
        let layout = model.entities[root]
        var fields: [Int] = []
        var values = row
        for (name, value) in columns {
            guard let index = layout.fields.firstIndex(where: { $0.name == name }), row[index] != value else {
                continue
            }
            fields.append(index)
            values[index] = value.typed(as: layout.fields[index].type)
        }
        if !fields.isEmpty {
            try tables.write(root, key, values)
            touched.insert(root)
        }
        try noteReplaced(fields, row, of: layout)
        switch change {
        case .stubbed:
            _ = try tables.setStub(root, key, true)
            noteOffered(root, key)
        case .inserted: _ = try tables.setStub(root, key, false)
        default: if fields.isEmpty { return }
        }
        guard run.records(root) else { return }
        func content(_ values: [StoredValue]) -> ChangeRecord.Content {
            .columns(fields.map { (name: layout.fields[$0].name, value: values[$0]) })
        }
        try record(root, key: key, change, old: content(row), new: content(values))
    }

    /// Deletes an existing row.
    package func delete(_ root: Int, _ key: RowKey, _ row: [StoredValue]) throws {
        let layout = model.entities[root]
        try tables.erase(root, key)
        touched.insert(root)
        let wasStub = try tables.setStub(root, key, false)
        try noteReplaced(Array(layout.fields.indices), row, of: layout)
        guard run.records(root) else { return }
        try record(root, key: key, wasStub ? .stubbed : .deleted, old: present(row, of: root), new: nil)
    }
}
