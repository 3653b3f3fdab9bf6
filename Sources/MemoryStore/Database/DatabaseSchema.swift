internal import Mapping
internal import Model

/// The tables of a database: what a model needs, by names.
struct DatabaseSchema: Equatable, Sendable {
    /// A column.
    struct Column: Equatable, Sendable {
        var name: String
        var type: AttributeType
        /// The entity to which the column refers.
        var target: String?
    }

    /// The table of an entity.
    struct Table: Equatable, Sendable {
        var name: String
        var columns: [Column]
        /// The names of the key's columns, in order.
        var key: [String]
        var discriminator: String?
    }

    /// A link table.
    struct LinkTable: Equatable, Sendable {
        var name: String
        var source: String
        var target: String
        /// The names of the columns at both ends.
        var columns: (source: [String], target: [String])

        static func == (left: LinkTable, right: LinkTable) -> Bool {
            left.name == right.name && left.source == right.source && left.target == right.target
                && left.columns == right.columns
        }
    }

    var tables: [Table] = []
    var links: [LinkTable] = []

    init() {}

    /// Describes the tables of a model.
    init(_ model: CompiledModel) {
        func root(_ entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }
        for layout in model.entities where layout.index == layout.root {
            tables.append(
                Table(
                    name: layout.name,
                    columns: layout.fields.map { field in
                        Column(
                            name: field.name, type: field.type,
                            target: field.relationship.map { root(layout.toOne[$0].target).name })
                    }, key: layout.key.map { layout.fields[$0].name },
                    discriminator: layout.discriminator.map { layout.fields[$0].name }))
            for toMany in layout.toMany {
                guard case .links(let name) = toMany.storage else { continue }
                let ends = model.linkEnds(of: name)
                func columns(_ end: String, _ layout: EntityLayout) -> [String] {
                    layout.key.count == 1 ? [end] : layout.key.map { "\(end)_\(layout.fields[$0].name)" }
                }
                let target = root(toMany.target)
                links.append(
                    LinkTable(
                        name: name, source: layout.name, target: target.name,
                        columns: (columns(ends.source, layout), columns(ends.target, target))))
            }
        }
    }

    func table(_ name: String) -> Table? { tables.first { $0.name == name } }

    /// The tables in words, a line each.
    var words: [String] {
        tables.map { table in
            let columns = table.columns.map { column in
                "\(column.name) \(column.type.rawValue)" + (table.key.contains(column.name) ? " key" : "")
            }
            return "\(table.name) (\(columns.joined(separator: ", ")))"
        }
            + links.map { "\($0.name) (links from \($0.source) to \($0.target))" }
    }
}
