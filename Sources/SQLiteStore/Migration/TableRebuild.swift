internal import GRDB
internal import GRDBSQLite
internal import StoreContract
internal import Mapping
internal import Model

/// The rewrite of one table's rows into a table of another shape: converted, with another key or with fewer columns.
///
/// The new table is filled under a temporary name while all old tables exist, so that references can be looked up in
/// them. Then the old table is dropped and the new one takes its name.
struct TableRebuild {
    /// The new table.
    let table: SchemaBuilder.Table
    /// The old table.
    let existing: SchemaDifference.Existing
    private let db: Database
    private let sources: [Source]
    private let references: [Reference]
    private var lost: [Loss] = []

    /// A row, or a value in a row, that cannot be kept.
    struct Loss {
        /// The reason, in words.
        let reason: String
        /// The whole old row, as JSON.
        let row: String
        /// Whether the row is lost, and not just one value.
        let isWholeRow: Bool
    }

    /// The source of a column's values.
    private enum Source {
        /// A column of the old table, by index, and the conversion of its values.
        case column(Int, StoredValueConverter?)
        /// A part of a reference, by the indexes of the reference and of the part.
        case reference(Int, part: Int)
        /// None; the column gets its default value.
        case none(String?)
    }

    /// A reference whose target has a new key.
    private struct Reference {
        /// The indexes of the columns that hold the old key.
        let columns: [Int]
        /// The statement that looks up the target's new key by its old one.
        let lookUp: RawStatement
        let converters: [StoredValueConverter?]
    }

    /// Prepares the rewrite.
    ///
    /// - Parameters:
    ///   - table: The new table.
    ///   - existing: The old table, after the renames.
    ///   - difference: The whole migration, which may change the keys of other tables too.
    init(
        _ table: SchemaBuilder.Table, _ existing: SchemaDifference.Existing, in difference: SchemaDifference,
        _ db: Database
    ) {
        self.table = table
        self.existing = existing
        self.db = db
        var references: [Reference] = []
        var sources: [String: Source] = [:]
        let retargeted = Set(
            difference.steps.compactMap { step -> String? in
                if case .changeReference(table.name, let column, let old, let new) = step, old != nil, new != nil {
                    return column
                }
                return nil
            })
        for reference in table.references {
            guard let found = difference.existing[reference.target.lowercased()],
                let target = difference.tables.first(where: { $0.name == reference.target }),
                let rekeyed = Self.rekeyed(reference, target, found, existing, db)
            else { continue }
            for (part, column) in reference.columns.enumerated() {
                sources[column] = .reference(references.count, part: part)
            }
            references.append(rekeyed)
        }
        self.sources = table.columns.map { column in
            if let source = sources[column.name] { return source }
            let index = existing.columns.firstIndex { $0.isNamed(column.name) }
            // The values referred to objects of another entity and have no meaning now.
            guard let index, !retargeted.contains(column.name) else { return .none(column.defaultText) }
            let old = existing.columns[index]
            let isSame = old.type == column.type && (old.attribute ?? column.attribute) == column.attribute
            let isNewKey = column.isKey && !existing.key.contains { old.isNamed($0) }
            if isSame, !(isNewKey && column.attribute == .decimal) { return .column(index, nil) }
            let isIdentity = column.isKey || column.target != nil || column.isPartOfReference
            return .column(
                index,
                StoredValueConverter(from: old.attribute, to: column.attribute ?? .text, isIdentity: isIdentity))
        }
        self.references = references
    }

    /// Returns the look-up of the new key of a reference's target; nil if the key does not change.
    private static func rekeyed(
        _ reference: SchemaBuilder.ReferenceColumns, _ target: SchemaBuilder.Table,
        _ found: SchemaDifference.Existing, _ existing: SchemaDifference.Existing, _ db: Database
    ) -> Reference? {
        let oldKey = found.key
        let newKey = reference.targetColumns.map { name in found.names[name] ?? name }
        guard oldKey.map({ $0.lowercased() }) != newKey.map({ $0.lowercased() }) else { return nil }
        // Without the new key no object has one: an old key, taken for a new one, would name another object.
        let hasValues = newKey.allSatisfy { name in found.columns.contains { found.names[$0.name] == name } }
        func places(_ names: [String]) -> [Int]? {
            let places = names.compactMap { name in existing.columns.firstIndex { $0.isNamed(name) } }
            return places.count == oldKey.count ? places : nil
        }
        // The columns of the old reference: its name, with the parts of a composite key appended; or they have names of
        // their own, one for each part of the key.
        let name = reference.oldName
        let names = oldKey.count == 1 ? [name] : oldKey.map { "\(name)_\($0)" }
        guard let columns = places(names) ?? places(reference.columns) else { return nil }
        let quoted = SchemaBuilder.quoted
        let lookUp = RawStatement(
            "SELECT \(newKey.map { hasValues ? quoted($0) : "NULL" }.joined(separator: ", ")) FROM \(quoted(target.name)) "
                + "WHERE \(oldKey.map { "\(quoted($0)) = ?" }.joined(separator: " AND "))\(hasValues ? "" : " AND 0")",
            on: db.sqliteConnection)
        let converters = reference.targetColumns.map { name -> StoredValueConverter? in
            guard let old = found.columns.first(where: { $0.isNamed(name) }),
                let new = target.columns.first(where: { $0.isNamed(name) }),
                old.type != new.type || new.attribute == .decimal
            else { return nil }
            return StoredValueConverter(from: old.attribute, to: new.attribute ?? .text, isIdentity: true)
        }
        return Reference(columns: columns, lookUp: lookUp, converters: converters)
    }

    /// Returns the name of the new table until the old one is dropped.
    static func temporaryName(_ table: String) -> String { "bmo_new_\(table)" }

    /// Fills the new table; returns the rows and values that could not be kept.
    ///
    /// - Parameter moved: Called with the old and new key of each row whose key changed; the new key is nil if the row
    ///   was lost.
    mutating func fill(_ moved: (_ old: JSONText, _ new: JSONText?) throws -> Void) throws -> [Loss] {
        let quoted = SchemaBuilder.quoted
        let name = Self.temporaryName(table.name)
        try db.execute(sql: table.sql(as: name))
        let insertion = RawStatement(
            "INSERT INTO \(quoted(name)) (\(table.columns.map { quoted($0.name) }.joined(separator: ", "))) "
                + "VALUES (\(table.columns.map { _ in "?" }.joined(separator: ", "))) ON CONFLICT DO NOTHING",
            on: db.sqliteConnection)
        let isStub = RawStatement(
            "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?)", on: db.sqliteConnection)
        let selection = RawStatement(
            "SELECT \(existing.columns.map { quoted($0.name) }.joined(separator: ", ")) FROM \(quoted(table.name))",
            on: db.sqliteConnection)
        let oldKey = existing.key.compactMap { name in
            existing.columns.firstIndex { existing.names[$0.name] == name }
        }
        let newKey = table.key.compactMap { name in table.columns.firstIndex { $0.name == name } }
        while try selection.step() {
            let old = existing.columns.indices.map { selection.value(Int32($0)) }
            let before = JSONText.key(oldKey.map { old[$0] })
            guard let new = try row(of: old, key: newKey) else {
                isStub.bind(table.name, at: 1)
                isStub.bind(utf8: before.bytes, at: 2)
                _ = try isStub.step()
                // A stub had only the key, so nothing is lost with it.
                if isStub.int64(0) != 0 { lost.removeLast() }
                isStub.reset()
                try moved(before, nil)
                continue
            }
            for (index, value) in new.enumerated() { insertion.bind(value, at: Int32(index + 1)) }
            guard try insertion.run() > 0 else {
                let shown = newKey.map { new[$0].description }.joined(separator: ", ")
                lost.append(loss("there is another \(table.name) with the key \(shown)", old, isWholeRow: true))
                try moved(before, nil)
                continue
            }
            let after = JSONText.key(newKey.map { new[$0] })
            if before.bytes != after.bytes { try moved(before, after) }
        }
        selection.reset()
        return lost
    }

    /// Returns the new row; nil if a key column or a required column has no value.
    private mutating func row(of old: [StoredValue], key: [Int]) throws -> [StoredValue]? {
        var row: [StoredValue] = []
        let keys = try references.map { try newKey(of: $0, old) }
        for (index, source) in sources.enumerated() {
            switch source {
            case .none(let text): row.append(text.map { .text($0) } ?? .null)
            case .reference(let reference, let part):
                row.append(keys[reference]?[part] ?? .null)
                let wasGiven = references[reference].columns.allSatisfy { old[$0] != .null }
                if part == 0, keys[reference] == nil, wasGiven, !table.isFull {
                    let name = "\(table.name).\(table.columns[index].name)"
                    lost.append(loss("\(name): what it refers to could not be kept", old, isWholeRow: false))
                }
            case .column(let column, nil): row.append(old[column])
            case .column(let column, .some(let converter)):
                do {
                    row.append(try converter.convert(old[column]))
                } catch {
                    row.append(.null)
                    guard !key.contains(index) else { continue }
                    lost.append(
                        loss("\(table.name).\(table.columns[index].name): \(error.description)", old, isWholeRow: false)
                    )
                }
            }
        }
        for index in key where row[index] == .null {
            let name = "\(table.name).\(table.columns[index].name)"
            lost.append(loss("the key \(name) has no value of its type", old, isWholeRow: true))
            return nil
        }
        if table.isFull, let index = row.dropLast(table.otherCount).firstIndex(of: .null) {
            lost.append(loss("its \(table.columns[index].name) could not be kept", old, isWholeRow: true))
            return nil
        }
        return row
    }

    private func newKey(of reference: Reference, _ old: [StoredValue]) throws -> [StoredValue]? {
        for (index, column) in reference.columns.enumerated() {
            reference.lookUp.bind(old[column], at: Int32(index + 1))
        }
        defer { reference.lookUp.reset() }
        guard try reference.lookUp.step() else { return nil }
        return reference.converters.enumerated().map { index, converter in
            let value = reference.lookUp.value(Int32(index))
            return converter.map { (try? $0.convert(value)) ?? .null } ?? value
        }
    }

    private func loss(_ reason: String, _ row: [StoredValue], isWholeRow: Bool) -> Loss {
        let members = zip(existing.columns, row).filter { $1 != .null }.map { (name: $0.name, value: $1) }
        return Loss(reason: reason, row: JSONText.object(members).string, isWholeRow: isWholeRow)
    }

    /// Replaces the old table with the new one, and restores generated columns, triggers and indexes that bmo did not
    /// create.
    ///
    /// - Returns: Those that could not be restored, in words.
    func replace() throws -> [String] {
        let quoted = SchemaBuilder.quoted
        let made = try SchemaChange.indexes(of: table.name, in: db)
        let all = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, sql FROM sqlite_schema
                WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL
                """, arguments: [table.name])
        let own = all.filter { row in row["type"] as String == "trigger" || !made.contains(row["name"] as String) }
        let generated = try GeneratedColumns(of: table.name, in: db)
        try db.execute(sql: "DROP TABLE \(quoted(table.name))")
        try db.execute(
            sql: "ALTER TABLE \(quoted(Self.temporaryName(table.name))) RENAME TO \(quoted(table.name))")
        // Before the indexes, which may be of these columns.
        let lost = try generated.restore(in: db)
        let others = try own.compactMap { row -> String? in
            do {
                try db.execute(sql: row["sql"])
                return nil
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                return "the \(row["type"] as String) \(row["name"] as String) of \(table.name) is gone: "
                    + (error.message ?? "")
            }
        }
        return lost + others
    }
}
