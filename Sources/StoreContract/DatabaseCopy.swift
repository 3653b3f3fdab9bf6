public import Mapping
internal import Model

/// A table of a copied database.
public struct CopiedTable: Sendable, Equatable {
    /// The table.
    public let table: ContentTable
    /// The number of its rows.
    public let rows: Int
}

extension StoreProvider {
    /// Copies a database, with its history and its outbox, into a new or empty one, and compares them row by row.
    ///
    /// Call it with the locks of both databases. The copy is one transaction: if it fails, the target is as before.
    ///
    /// - Returns: The tables with their rows.
    /// - Throws: ``StoreError``: `request` if the target has rows, `constraint` if the target's kind of database cannot
    ///   store a value.
    public func copy(_ source: String, to target: String, model: CompiledModel) throws -> [CopiedTable] {
        var tables: [CopiedTable] = []
        try readContent(of: source, model: model) { reader in
            try writeContent(to: target, model: model) { writer in
                let copy = DatabaseCopy(model: model, reader: reader, writer: writer)
                for table in ContentTable.all(of: model) {
                    if case .rows(let root) = table { try copy.checkKeys(of: model.entities[root], in: table) }
                    tables.append(CopiedTable(table: table, rows: try copy.fill(table)))
                }
                for table in ContentTable.all(of: model) { try copy.compare(table) }
            }
        }
        return tables
    }

    /// Refuses: the kind of database cannot be copied.
    public func readContent(
        of location: String, model: CompiledModel, _ body: (any ContentReader) throws -> Void
    ) throws { throw StoreError.cannotCopy(location) }

    /// Refuses: the kind of database cannot be copied.
    public func writeContent(
        to location: String, model: CompiledModel, _ body: (any ContentWriter) throws -> Void
    ) throws { throw StoreError.cannotCopy(location) }
}

/// A copy on its way.
private struct DatabaseCopy {
    /// The number of rows that are read and written at a time.
    private static let portion = 5_000

    let model: CompiledModel
    let reader: any ContentReader
    let writer: any ContentWriter

    /// Copies a table; returns the number of its rows.
    func fill(_ table: ContentTable) throws -> Int {
        let rows = try reader.rows(of: table)
        var count = 0
        var portion: [[StoredValue]] = []
        while let row = try rows.next() {
            portion.append(row)
            count += 1
            guard portion.count == Self.portion else { continue }
            try writer.write(portion, to: table)
            portion = []
        }
        if !portion.isEmpty { try writer.write(portion, to: table) }
        return count
    }

    /// Refuses rows whose keys are one key in the target, such as the decimals 1 and 1.00 that an earlier version stored
    /// as it had received them.
    func checkKeys(of layout: EntityLayout, in table: ContentTable) throws {
        guard layout.key.contains(where: { layout.fields[$0].type == .decimal }) else { return }
        func keys(_ body: (_ own: [StoredValue], _ stored: [StoredValue]) -> Void) throws {
            let rows = try reader.rows(of: table)
            while let row = try rows.next() {
                let copy = writer.stored(row, in: table)
                // The first value is the row's number.
                body(layout.key.map { row[$0 + 1] }, layout.key.map { copy[$0 + 1] })
            }
        }
        var others: [[StoredValue]: [[StoredValue]]] = [:]
        try keys { own, stored in if own != stored { others[stored, default: []].append(own) } }
        guard !others.isEmpty else { return }
        try keys { own, stored in if own == stored, others[stored] != nil { others[stored]?.append(own) } }
        let pairs = others.values.filter { $0.count > 1 }.map { keys in
            keys.map { $0.map(\.description).joined(separator: " ") }.sorted().joined(separator: " and ")
        }.sorted()
        guard !pairs.isEmpty else { return }
        let shown = pairs.prefix(5).joined(separator: ", ") + (pairs.count > 5 ? " and \(pairs.count - 5) more" : "")
        throw StoreError(
            .constraint,
            "\(layout.name) has several rows for one object, with equal decimals in their keys (\(shown)), and the copy can have "
                + "only one",
            remedy:
                "sync \(layout.name) from the source first (`bmo sync --full \(layout.name)`): it deletes the rows whose "
                + "decimals end with zeros, with --allow-deletes if the deletion limit keeps them; then copy again")
    }

    /// Checks that both databases have the same rows of a table.
    func compare(_ table: ContentTable) throws {
        let (rows, copies) = (try reader.rows(of: table), try writer.rows(of: table))
        while true {
            let (row, copy) = (try rows.next().map { writer.stored($0, in: table) }, try copies.next())
            guard row != nil || copy != nil else { return }
            // The types differ where a database has fewer of them.
            if let row, let copy, row.map(\.form) == copy.map(\.form) { continue }
            throw StoreError(
                .internal, "\(table.name(in: model)): the copy of the row \(Self.text(row)) is \(Self.text(copy))",
                remedy: "nothing was copied; report this")
        }
    }

    private static func text(_ row: [StoredValue]?) -> String {
        guard let row else { return "missing" }
        let text = JSONText.key(row).string
        return text.count > 200 ? "\(text.prefix(200))..." : text
    }
}

extension StoreError {
    fileprivate static func cannotCopy(_ location: String) -> StoreError {
        StoreError(.request, "\(location) cannot be copied", remedy: "copy an SQLite file or a PostgreSQL database")
    }

    /// Creates the error for the target of a copy that has rows.
    package static func notEmpty(_ location: String, remedy: String) -> StoreError {
        StoreError(.request, "\(location) already has content", remedy: remedy)
    }
}
