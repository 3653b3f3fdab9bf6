internal import Mapping
internal import Model

/// The tables of a model, as SQL.
///
/// A table per entity, named as it; a column per field; the key as the primary key, which relationships refer to. A
/// relationship to many that no relationship to one holds is a table of links. All tables are STRICT. Foreign keys are
/// checked at commit, because a page may bring an object before the one that it refers to.
struct SchemaBuilder {
    struct Column: Equatable {
        let name: String
        /// SQLite's type.
        let type: String
        let isKey: Bool
        /// The attribute's type; nil where only SQLite's is known.
        var attribute: AttributeType?
        /// What the column was called in earlier configurations.
        var oldName: String?
        /// The entity and column that its values refer to, where a reference has this column alone.
        var target: Reference?
        /// Whether it is one of several columns of a reference.
        var isPartOfReference = false
        /// What a row has there that says nothing of it.
        var defaultText: String?

        /// The column's constraints besides the key, as SQL after its type.
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
        /// What the table was called in earlier configurations.
        var oldName: String?
        /// The sub-entities that were called otherwise, by their old names.
        var oldKinds: [String: String] = [:]
        /// The relationships to one whose columns these are.
        var references: [ReferenceColumns] = []
        /// How many of the columns, the last ones, are none of the model's.
        private(set) var otherCount = 0
        fileprivate var lines: [String]
        fileprivate let options: String

        var sql: String { sql(as: name) }

        /// The same table under another name; what refers to it, itself too, goes by the one that it has.
        func sql(as name: String) -> String {
            "CREATE TABLE IF NOT EXISTS \(SchemaBuilder.quoted(name)) (\n    "
                + lines.joined(separator: ",\n    ") + "\n) \(options)"
        }

        /// The same table with columns of somebody else, without their constraints.
        func with(_ others: [Column]) -> Table {
            var table = self
            // Constraints of the table come after all columns.
            table.lines.insert(
                contentsOf: others.map { "\(SchemaBuilder.quoted($0.name)) \($0.type)" }, at: columns.count)
            table.columns += others
            table.otherCount = others.count
            return table
        }

        /// The names of the columns of the key, in its order.
        let key: [String]
        /// Whether a row has a value in every column: a table of links.
        var isFull: Bool { options.contains("WITHOUT ROWID") }
    }

    /// The columns of one reference, and the columns of the target's key that they hold.
    struct ReferenceColumns: Equatable {
        let columns: [String]
        let target: String
        let targetColumns: [String]
        /// What the reference was called in earlier configurations, or is called.
        let oldName: String
    }

    private let model: CompiledModel

    init(_ model: CompiledModel) {
        self.model = model
    }

    /// All tables, entities first.
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

    /// The layout of the table that an entity's objects lie in.
    private func target(_ entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }

    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

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
        let old = OldNames(of: layout, in: model)
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
            references: references, lines: lines, options: "STRICT", key: keyNames)
    }

    private func linkTable(_ name: String, from source: EntityLayout, to target: EntityLayout) -> Table {
        let sourceNames = Self.linkColumns("source", source)
        let targetNames = Self.linkColumns("target", target)
        func end(_ end: String, _ names: [String], _ layout: EntityLayout, isKey: Bool) -> [Column] {
            let old = OldNames(of: layout, in: model)
            return zip(names, layout.key).map { name, field in
                let key = layout.fields[field]
                return Column(
                    name: name, type: Self.type(key.type), isKey: isKey, attribute: key.type,
                    oldName: names.count == 1 ? nil : old.columns[key.name].map { "\(end)_\($0)" },
                    target: names.count == 1 ? Reference(table: layout.name, column: key.name) : nil,
                    isPartOfReference: names.count > 1)
            }
        }
        let sourceColumns = end("source", sourceNames, source, isKey: true)
        let targetColumns = end("target", targetNames, target, isKey: false)
        let position = Column(name: "position", type: "INTEGER", isKey: true, attribute: .integer)
        let columns = sourceColumns + [position] + targetColumns
        let lines =
            columns.map { "\(Self.quoted($0.name)) \($0.type) NOT NULL" }
            + ["PRIMARY KEY (\(list(sourceNames + ["position"])))"]
            + [reference(sourceNames, to: source), reference(targetNames, to: target)]
        let index =
            "CREATE INDEX IF NOT EXISTS \(Self.quoted("\(name)_by_target")) "
            + "ON \(Self.quoted(name)) (\(list(targetNames)))"
        func referenceColumns(_ end: String, _ names: [String], _ layout: EntityLayout) -> ReferenceColumns {
            ReferenceColumns(
                columns: names, target: layout.name, targetColumns: layout.key.map { layout.fields[$0].name },
                oldName: end)
        }
        return Table(
            name: name, columns: columns, indexes: [index], oldName: OldNames.linkTable(name, in: model.model),
            references: [
                referenceColumns("source", sourceNames, source), referenceColumns("target", targetNames, target),
            ], lines: lines, options: "STRICT, WITHOUT ROWID", key: sourceNames + ["position"])
    }

    /// `source` and `target`, or `source_KEY` per attribute of a key that has several.
    static func linkColumns(_ end: String, _ layout: EntityLayout) -> [String] {
        layout.key.count == 1 ? [end] : layout.key.map { "\(end)_\(layout.fields[$0].name)" }
    }

    private func reference(_ names: [String], to target: EntityLayout) -> String {
        "FOREIGN KEY (\(list(names))) REFERENCES \(Self.quoted(target.name)) "
            + "(\(list(target.key.map { target.fields[$0].name }))) DEFERRABLE INITIALLY DEFERRED"
    }
}
