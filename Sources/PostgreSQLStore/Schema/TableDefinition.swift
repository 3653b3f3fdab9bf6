internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// A table that a model needs.
struct TableDefinition {
    /// A column.
    struct Column: Equatable {
        var name: String
        var attribute: AttributeType
        var type: SQLType { SQLType(attribute) }
    }

    /// A reference to the key of another table.
    struct Reference: Hashable {
        var columns: [String]
        var target: String
        var targetColumns: [String]
    }

    let name: String
    let columns: [Column]
    /// The names of the key's columns; empty for rows that only have a number.
    let key: [String]
    let references: [Reference]
    /// The column with the name of the object's entity, and the entity of a row that does not say it.
    let discriminator: String?
    /// Whether it has the hidden column with the row's number.
    let isNumberedApart: Bool
    let isLinkTable: Bool
    /// The ends of a link table, source first; empty for another table.
    let linkEnds: [LinkRenames.End]
    /// Whether it has at most one row.
    let isSingleton: Bool
    /// The view of its rows that are not deleted.
    let view: String?

    /// The tables of a model, entity tables first.
    static func all(of model: CompiledModel) -> [TableDefinition] {
        let roots = model.entities.filter { $0.index == $0.root }
        return roots.map { TableDefinition($0, model) }
            + roots.flatMap { layout in
                layout.toMany.compactMap { toMany in
                    guard case .links(let table) = toMany.storage else { return nil }
                    return TableDefinition(table, layout, model.entities[model.entities[toMany.target].root], model)
                }
            }
    }

    private init(_ layout: EntityLayout, _ model: CompiledModel) {
        name = layout.name
        columns = layout.fields.map { Column(name: $0.name, attribute: $0.type) }
        key = layout.key.map { layout.fields[$0].name }
        references = layout.toOne.map { toOne in
            let target = model.entities[model.entities[toOne.target].root]
            return Reference(
                columns: (0..<toOne.fieldCount).map { layout.fields[toOne.firstField + $0].name }, target: target.name,
                targetColumns: target.key.map { target.fields[$0].name })
        }
        discriminator = layout.discriminator.map { layout.fields[$0].name }
        isNumberedApart = !RowTableSQL.isNumbered(layout)
        isLinkTable = false
        linkEnds = []
        isSingleton = layout.isSingleton
        view = model.model.entities[layout.index].deletes.view
    }

    private init(_ table: String, _ source: EntityLayout, _ target: EntityLayout, _ model: CompiledModel) {
        name = table
        let names = LinkTableSQL.columns(of: table, source, target, in: model)
        func columns(_ names: [String], _ layout: EntityLayout) -> [Column] {
            zip(names, layout.key).map { Column(name: $0, attribute: layout.fields[$1].type) }
        }
        func reference(_ names: [String], _ layout: EntityLayout) -> Reference {
            Reference(columns: names, target: layout.name, targetColumns: layout.key.map { layout.fields[$0].name })
        }
        self.columns =
            columns(names.source, source) + [Column(name: "position", attribute: .integer)]
            + columns(names.target, target)
        key = names.source + ["position"]
        references = [reference(names.source, source), reference(names.target, target)]
        discriminator = nil
        isNumberedApart = false
        isLinkTable = true
        linkEnds = [
            LinkRenames.End(names.source, of: source, in: model), LinkRenames.End(names.target, of: target, in: model),
        ]
        isSingleton = false
        view = nil
    }

    // MARK: - SQL

    /// The columns that each table of PostgreSQL has (documentation, section 5.5, "System Columns").
    private static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// Checks the names, which PostgreSQL would cut if they are too long, and refuse if it has columns of that name.
    func checkNames() throws {
        try Identifier.check(name, "the table")
        for column in columns {
            try Identifier.check(column.name, "the column of \(name)")
            guard Self.systemColumns.contains(column.name) else { continue }
            throw StoreError(
                .schema, "\(name).\(column.name): PostgreSQL has a column of its own with this name in each table",
                remedy: "give the attribute another name; `from: \(column.name)` keeps the member that it reads")
        }
    }

    func quoted(in schema: String) -> String { Identifier.quoted(schema) + "." + Identifier.quoted(name) }

    /// The statement that creates the table without its references.
    func creation(in schema: String, on engine: EngineProfile) -> String {
        var lines = columns.map { column in
            let isRequired = isLinkTable || key.contains(column.name)
            return
                "\(Identifier.quoted(column.name)) \(column.type.definition(on: engine))\(isRequired ? " NOT NULL" : "")"
        }
        if isNumberedApart {
            lines.insert(
                "\(RowTableSQL.numberColumn) bigint NOT NULL\(key.isEmpty || !engine.hasOtherUniqueColumns ? "" : " UNIQUE")",
                at: 0)
        }
        if let discriminator, let place = columns.firstIndex(where: { $0.name == discriminator }) {
            lines[place + (isNumberedApart ? 1 : 0)] += " DEFAULT \(Identifier.literal(name)) NOT NULL"
        }
        if isSingleton, let first = key.first { lines.append("CHECK (\(Identifier.quoted(first)) = 1)") }
        let primary = key.isEmpty ? RowTableSQL.numberColumn : Identifier.list(key)
        lines.append("PRIMARY KEY (\(primary))")
        return "CREATE TABLE \(quoted(in: schema)) (\n    \(lines.joined(separator: ",\n    "))\n)"
    }

    /// The statement that adds a column.
    func addition(of column: Column, in schema: String, on engine: EngineProfile) -> String {
        let suffix = column.name == discriminator ? " DEFAULT \(Identifier.literal(name)) NOT NULL" : ""
        return "ALTER TABLE \(quoted(in: schema)) ADD COLUMN \(Identifier.quoted(column.name)) "
            + "\(column.type.definition(on: engine))\(suffix)"
    }

    /// The statements that add a reference and the index for it, if there is none.
    ///
    /// - Parameter names: The names that are taken, and the indexes that exist; the new ones are added.
    func constraint(
        _ reference: Reference, in schema: String, on engine: EngineProfile, besides names: inout ReferenceNames
    ) -> [String] {
        let words = reference.columns.joined(separator: "_")
        let columns = Identifier.list(reference.columns)
        let constraint = names.newConstraint("\(name)_\(words)_fkey", of: name)
        let add =
            "ALTER TABLE \(quoted(in: schema)) ADD CONSTRAINT "
            + "\(Identifier.quoted(constraint)) FOREIGN KEY (\(columns)) "
            + "REFERENCES \(Identifier.quoted(schema)).\(Identifier.quoted(reference.target)) "
            + "(\(Identifier.list(reference.targetColumns)))"
            + (engine.foreignKeys == .deferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
        let constraints = engine.foreignKeys == .none ? [] : [add]
        // The source of links begins the primary key.
        guard !isLinkTable || reference.columns != Array(key.dropLast()) else { return constraints }
        let index = names.newIndex("\(name)_by_\(words)", of: name, on: reference.columns)
        guard let index else { return constraints }
        return constraints + [
            "CREATE INDEX IF NOT EXISTS \(Identifier.quoted(index)) ON \(quoted(in: schema)) (\(columns))"
        ]
    }

    /// The comment by which bmo knows the views that it made.
    static let viewComment = "made by bmo: the rows that are not deleted"

    /// The statements that create the view; none if the table has no view.
    func viewCreation(in schema: String) -> [String] {
        guard let view else { return [] }
        let name = "\(Identifier.quoted(schema)).\(Identifier.quoted(view))"
        return [
            "CREATE VIEW \(name) AS \(liveRows(columns.map(\.name), in: schema))",
            "COMMENT ON VIEW \(name) IS \(Identifier.literal(Self.viewComment))",
        ]
    }

    /// The query of the view, which selects columns.
    func liveRows(_ columns: [String], in schema: String) -> String {
        "SELECT \(Identifier.list(columns)) FROM \(quoted(in: schema)) "
            + "WHERE \(Identifier.quoted(Entity.deletionColumn)) IS NULL"
    }
}
