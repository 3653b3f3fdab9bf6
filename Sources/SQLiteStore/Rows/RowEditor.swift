internal import StoreContract
internal import Mapping

/// The reader and writer of single rows of a root entity's table by key, which records its changes.
///
/// The key of a row without a key is its rowid. Use this for operations on known rows, such as undo; for imports, see
/// ``EntityWriter``.
final class RowEditor {
    let layout: EntityLayout
    private let changes: ChangeLog
    private let stubs: StubTable
    private let abandoned: AbandonedStubs
    private let unused: UnusedReferences
    private let connection: OpaquePointer?
    private let table: String
    private let condition: String
    private let select: RawStatement
    private let deletion: RawStatement
    private let insertion: RawStatement
    private let any: RawStatement
    private var updates: [[Int]: RawStatement] = [:]

    init(
        _ layout: EntityLayout, stubs: StubTable, changes: ChangeLog, abandoned: AbandonedStubs,
        unused: UnusedReferences, on connection: OpaquePointer?
    ) {
        self.layout = layout
        self.unused = unused
        self.connection = connection
        self.changes = changes
        self.stubs = stubs
        self.abandoned = abandoned
        table = SchemaBuilder.quoted(layout.name)
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }
        condition =
            layout.key.isEmpty
            ? "\(layout.rowIDName) = ?" : layout.key.map { "\(columns[$0]) = ?" }.joined(separator: " AND ")
        select = RawStatement(
            "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE \(condition)", on: connection)
        deletion = RawStatement("DELETE FROM \(table) WHERE \(condition)", on: connection)
        let inserted = columns + (layout.key.isEmpty ? [layout.rowIDName] : [])
        insertion = RawStatement(
            "INSERT INTO \(table) (\(inserted.joined(separator: ", "))) "
                + "VALUES (\(inserted.map { _ in "?" }.joined(separator: ", ")))", on: connection)
        any = RawStatement("SELECT EXISTS (SELECT 1 FROM \(table))", on: connection)
    }

    /// Returns the row, with one value per field.
    func row(_ key: [StoredValue]) throws -> [StoredValue]? {
        for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step() ? select.values(of: layout.fields) : nil
    }

    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - columns: The values; fields without one are null.
    ///   - isStub: Whether the row is a stub.
    func insert(_ key: [StoredValue], _ columns: [(name: String, value: StoredValue)], isStub: Bool) throws {
        var values = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (name, value) in columns {
            if let index = layout.fields.firstIndex(where: { $0.name == name }) { values[index] = value }
        }
        for (field, value) in zip(layout.key, key) { values[field] = value }
        if let field = layout.discriminator, values[field] == .null { values[field] = .text(layout.name) }
        let isRecorded = try changes.recordsInsert(layout) {
            _ = try any.step()
            defer { any.reset() }
            return any.int64(0) == 0
        }
        let bound = layout.key.isEmpty ? values + key : values
        for (index, value) in bound.enumerated() { insertion.bind(value, at: Int32(index + 1)) }
        guard try insertion.run() > 0 else { throw SQLiteFailure.ignored("keeps the row out of \(layout.name)") }
        if isStub {
            try stubs.add(layout.name, .key(key))
            abandoned.noteOffered(layout.index, key)
        }
        guard isRecorded else { return }
        try changes.record(
            layout, key: .key(key), isStub ? .stubbed : .inserted, old: nil,
            new: .object(present(values)))
    }

    /// Updates columns of an existing row; `change` says whether it becomes a stub or ceases to be one.
    func update(
        _ key: [StoredValue], from row: [StoredValue], to columns: [(name: String, value: StoredValue)],
        as change: RowChange.Kind = .updated
    ) throws {
        var fields: [Int] = []
        var values: [StoredValue] = []
        for (name, value) in columns {
            guard let index = layout.fields.firstIndex(where: { $0.name == name }), row[index] != value else {
                continue
            }
            fields.append(index)
            values.append(value)
        }
        if !fields.isEmpty {
            let statement = updates[fields] ?? prepareUpdate(fields)
            updates[fields] = statement
            for (index, value) in (values + key).enumerated() { statement.bind(value, at: Int32(index + 1)) }
            guard try statement.run() > 0 else {
                throw SQLiteFailure.ignored("keeps the row of \(layout.name) as it is")
            }
        }
        try noteReplaced(fields, row)
        switch change {
        case .stubbed:
            try stubs.add(layout.name, .key(key))
            abandoned.noteOffered(layout.index, key)
        case .inserted: _ = try stubs.remove(layout.name, .key(key))
        default: if fields.isEmpty { return }
        }
        guard changes.records(layout.index) else { return }
        func object(_ values: [StoredValue]) -> JSONText {
            .object(zip(fields, values).map { (name: layout.fields[$0].name, value: $1) })
        }
        try changes.record(
            layout, key: .key(key), change, old: object(fields.map { row[$0] }), new: object(values))
    }

    /// Deletes an existing row.
    func delete(_ key: [StoredValue], _ row: [StoredValue]) throws {
        if !layout.key.isEmpty { try unused.remove(to: layout, key) }
        for (index, value) in key.enumerated() { deletion.bind(value, at: Int32(index + 1)) }
        // A trigger that deletes the row itself leaves none to delete.
        guard try deletion.run() > 0 || self.row(key) == nil else {
            throw SQLiteFailure.ignored("does not let go of the row of \(layout.name)")
        }
        let wasStub = try stubs.remove(layout.name, .key(key))
        try noteReplaced(Array(layout.fields.indices), row)
        guard changes.records(layout.index) else { return }
        try changes.record(
            layout, key: .key(key), wasStub ? .stubbed : .deleted, old: .object(present(row)), new: nil)
    }

    /// Notes the objects that a row refers to through the changed fields.
    private func noteReplaced(_ changed: [Int], _ row: [StoredValue]) throws {
        for toOne in layout.toOne where abandoned.mayHave(toOne.target) {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            if changed.contains(where: fields.contains) { try abandoned.note(toOne.target, Array(row[fields])) }
        }
    }

    private func present(_ values: [StoredValue]) -> [(name: String, value: StoredValue)] {
        zip(layout.fields, values).filter { $1 != .null }.map { (name: $0.name, value: $1) }
    }

    private func prepareUpdate(_ fields: [Int]) -> RawStatement {
        let assignments = fields.map { "\(SchemaBuilder.quoted(layout.fields[$0].name)) = ?" }
        return RawStatement(
            "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(condition)", on: connection)
    }
}
