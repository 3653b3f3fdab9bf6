internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model

/// The tables of a model, as SQL.
///
/// Each entity has a table with the entity's name; each field is a column, and the key is the primary key, which
/// relationships refer to. A to-many relationship that has no to-one inverse to store it has a link table. All tables
/// are STRICT. Foreign keys are checked at commit, because a page may contain an object before the one that it refers
/// to.
struct SchemaBuilder {
    struct Column: Equatable {
        let name: String
        /// The SQLite type.
        let type: String
        let isKey: Bool
        /// The attribute's type; nil if only SQLite's is known.
        var attribute: AttributeType?
        /// The column's name in earlier configurations.
        var oldName: String?
        /// The entity and column that its values refer to, if a reference has this column alone.
        var target: Reference?
        /// Whether the column is one of several that form a reference.
        var isPartOfReference = false
        /// The default value of a row that does not set the column.
        var defaultText: String?

        /// The column's constraints except the key, as SQL after its type.
        var constraints: String {
            defaultText.map { " NOT NULL DEFAULT '\($0.replacing("'", with: "''"))'" } ?? ""
        }
    }

    struct Reference: Equatable {
        var table: String
        let column: String
    }

    struct Table {
        let name: String
        private(set) var columns: [Column]
        let indexes: [String]
        /// The table's name in earlier configurations.
        var oldName: String?
        /// The renamed sub-entities, by old name.
        var oldKinds: [String: String] = [:]
        /// The to-one relationships stored in these columns.
        var references: [ReferenceColumns] = []
        /// The ends of a link table, source first; empty for another table.
        var linkEnds: [LinkRenames.End] = []
        /// The number of trailing columns that are not in the model.
        private(set) var otherCount = 0
        /// The name of the view of its rows that are not deleted; nil if it has none.
        var view: String?
        fileprivate var lines: [String]
        fileprivate let options: String

        var sql: String { sql(as: name) }

        /// Returns the SQL that creates the same table under another name; references to it, including its own, keep
        /// the current name.
        func sql(as name: String) -> String {
            "CREATE TABLE IF NOT EXISTS \(SchemaBuilder.quoted(name)) (\n    "
                + lines.joined(separator: ",\n    ") + "\n) \(options)"
        }

        /// The view of the rows that are not deleted, as SQL; nil if the table has none.
        var viewSQL: String? {
            view.map {
                "CREATE VIEW \(SchemaBuilder.quoted($0)) AS SELECT * FROM \(SchemaBuilder.quoted(name)) "
                    + "WHERE \(SchemaBuilder.quoted(Entity.deletionColumn)) IS NULL"
            }
        }

        /// Returns the same table with columns that bmo did not create, without their constraints.
        func with(_ others: [Column]) -> Table {
            var table = self
            // Table constraints come after all columns.
            table.lines.insert(
                contentsOf: others.map { "\(SchemaBuilder.quoted($0.name)) \($0.type)" }, at: columns.count)
            table.columns += others
            table.otherCount = others.count
            return table
        }

        /// The names of the key's columns, in order.
        let key: [String]
        /// Whether every column is required, as in a link table.
        var isFull: Bool { options.contains("WITHOUT ROWID") }
    }

    /// The columns of one reference, and the key columns of the target that they hold.
    struct ReferenceColumns: Equatable {
        let columns: [String]
        let target: String
        let targetColumns: [String]
        /// The reference's earlier name, or its current one if it was not renamed.
        let oldName: String
    }

    private let model: CompiledModel

    init(_ model: CompiledModel) {
        self.model = model
    }

    /// All tables, entity tables first.
    var tables: [Table] {
        let roots = model.entities.filter { $0.index == $0.root }
        return roots.map(entityTable)
            + roots.flatMap { layout in
                layout.toMany.compactMap { relationship in
                    if case .links(let name) = relationship.storage {
                        return linkTable(name, from: layout, to: target(relationship.target))
                    }
                    return nil
                }
            }
    }

    /// Returns the layout of the table that holds an entity's objects.
    private func target(_ entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }

    static func quoted(_ name: String) -> String {
        // Nearly all names are without a quote, and a replacement is a search that costs more than the rest.
        let isPlain = !name.utf8.contains(UInt8(ascii: "\""))
        return "\"" + (isPlain ? name : name.replacing("\"", with: "\"\"")) + "\""
    }

    static func type(_ type: AttributeType) -> String {
        switch type {
        case .integer, .boolean: "INTEGER"
        case .real: "REAL"
        case .data: "BLOB"
        case .text, .decimal, .timestamp, .date, .json, .url, .uuid: "TEXT"
        }
    }

    private func list(_ names: [String]) -> String { names.map(Self.quoted).joined(separator: ", ") }

    private func entityTable(_ layout: EntityLayout) -> Table {
        let keyNames = layout.key.map { layout.fields[$0].name }
        let old = RenameMap(ofTable: layout.name, in: model)
        let columns = layout.fields.enumerated().map { index, field in
            var column = Column(
                name: field.name, type: Self.type(field.type), isKey: layout.key.contains(index),
                attribute: field.type, oldName: old.columns[field.name])
            if index == layout.discriminator { column.defaultText = layout.name }
            if let relationship = field.relationship.map({ layout.toOne[$0] }) {
                let target = target(relationship.target)
                if relationship.fieldCount == 1, let key = target.key.first {
                    column.target = Reference(table: target.name, column: target.fields[key].name)
                }
                column.isPartOfReference = relationship.fieldCount > 1
            }
            return column
        }
        var lines = columns.map { column in
            let suffix = !column.isKey ? "" : keyNames.count == 1 ? " PRIMARY KEY NOT NULL" : " NOT NULL"
            return "\(Self.quoted(column.name)) \(column.type)\(suffix)\(column.constraints)"
        }
        if layout.isSingleton { lines.append("CHECK (\(Self.quoted(Entity.singletonColumn)) = 1)") }
        if keyNames.count > 1 { lines.append("PRIMARY KEY (\(list(keyNames)))") }
        var indexes: [String] = []
        var references: [ReferenceColumns] = []
        for relationship in layout.toOne {
            let names = (0..<relationship.fieldCount).map { layout.fields[relationship.firstField + $0].name }
            let target = target(relationship.target)
            lines.append(reference(names, to: target))
            references.append(
                ReferenceColumns(
                    columns: names, target: target.name, targetColumns: target.key.map { target.fields[$0].name },
                    oldName: old.relationships[relationship.name] ?? relationship.name))
            indexes.append(
                "CREATE INDEX IF NOT EXISTS \(Self.quoted("\(layout.name)_by_\(relationship.name)")) "
                    + "ON \(Self.quoted(layout.name)) (\(list(names)))")
        }
        return Table(
            name: layout.name, columns: columns, indexes: indexes, oldName: old.table, oldKinds: old.kinds,
            references: references, view: model.model.entities[layout.index].deletes.view, lines: lines,
            options: "STRICT", key: keyNames)
    }

    private func linkTable(_ name: String, from source: EntityLayout, to target: EntityLayout) -> Table {
        let sourceNames = Self.linkColumns(.source, source, of: name, in: model)
        let targetNames = Self.linkColumns(.target, target, of: name, in: model)
        func end(_ names: [String], _ layout: EntityLayout, isKey: Bool) -> [Column] {
            zip(names, layout.key).map { name, field in
                let key = layout.fields[field]
                return Column(
                    name: name, type: Self.type(key.type), isKey: isKey, attribute: key.type,
                    target: names.count == 1 ? Reference(table: layout.name, column: key.name) : nil,
                    isPartOfReference: names.count > 1)
            }
        }
        let sourceColumns = end(sourceNames, source, isKey: true)
        let targetColumns = end(targetNames, target, isKey: false)
        let position = Column(name: "position", type: "INTEGER", isKey: true, attribute: .integer)
        let columns = sourceColumns + [position] + targetColumns
        let lines =
            columns.map { "\(Self.quoted($0.name)) \($0.type) NOT NULL" }
            + ["PRIMARY KEY (\(list(sourceNames + ["position"])))"]
            + [reference(sourceNames, to: source), reference(targetNames, to: target)]
        let index =
            "CREATE INDEX IF NOT EXISTS \(Self.quoted("\(name)_by_target")) "
            + "ON \(Self.quoted(name)) (\(list(targetNames)))"
        let ends = model.linkEnds(of: name)
        func referenceColumns(_ end: String, _ names: [String], _ layout: EntityLayout) -> ReferenceColumns {
            ReferenceColumns(
                columns: names, target: layout.name, targetColumns: layout.key.map { layout.fields[$0].name },
                oldName: end)
        }
        return Table(
            name: name, columns: columns, indexes: [index], oldName: RenameMap.linkTable(name, in: model.model),
            references: [
                referenceColumns(ends.source, sourceNames, source), referenceColumns(ends.target, targetNames, target),
            ],
            linkEnds: [
                LinkRenames.End(sourceNames, of: source, in: model),
                LinkRenames.End(targetNames, of: target, in: model),
            ], lines: lines, options: "STRICT, WITHOUT ROWID", key: sourceNames + ["position"])
    }

    /// An end of a link table.
    enum LinkEnd { case source, target }

    /// Returns `source` and `target`, or the configured names; with `_KEY` for each attribute of a composite key.
    static func linkColumns(
        _ which: LinkEnd, _ layout: EntityLayout, of table: String, in model: CompiledModel
    ) -> [String] {
        let ends = model.linkEnds(of: table)
        let end = which == .source ? ends.source : ends.target
        return layout.key.count == 1 ? [end] : layout.key.map { "\(end)_\(layout.fields[$0].name)" }
    }

    private func reference(_ names: [String], to target: EntityLayout) -> String {
        "FOREIGN KEY (\(list(names))) REFERENCES \(Self.quoted(target.name)) "
            + "(\(list(target.key.map { target.fields[$0].name }))) DEFERRABLE INITIALLY DEFERRED"
    }
}
