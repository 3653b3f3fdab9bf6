internal import GRDB
internal import Importer
public import Mapping

/// Which rows of an entity, in which order.
public struct RowQuery: Sendable, Equatable {
    /// A field to order by.
    public struct Order: Sendable, Equatable {
        /// The field's name.
        public var field: String
        /// Whether the greatest comes first.
        public var isDescending: Bool

        /// An order.
        public init(_ field: String, isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }
    }

    /// The entity's name.
    public var entity: String
    /// What rows must meet, all of it.
    public var conditions: [SQLiteStore.Condition]
    /// What the rows are ordered by; where that leaves it open, by their key.
    public var order: [Order]
    /// At most so many rows.
    public var limit: Int?

    /// A query.
    public init(
        _ entity: String, where conditions: [SQLiteStore.Condition] = [], order: [Order] = [], limit: Int? = nil
    ) {
        self.entity = entity
        self.conditions = conditions
        self.order = order
        self.limit = limit
    }
}

/// A row of an entity.
public struct EntityRow: Sendable, Hashable {
    /// What makes it this object and no other: its key's values.
    public var key: [StoredValue]
    /// A value per column of the entity, in the order of ``EntityLayout/columns``.
    public var values: [StoredValue]

    /// A row.
    public init(key: [StoredValue], values: [StoredValue]) {
        self.key = key
        self.values = values
    }
}

/// A query with its SQL, checked against the model.
struct CompiledQuery: Sendable {
    private let sql: String
    private let arguments: [StoredValue]
    private let keyWidth: Int
    private let width: Int
    let entity: Int

    /// - Throws: ``StoreError`` of the code `request` for what the model does not have.
    init(_ query: RowQuery, _ model: CompiledModel) throws {
        entity = try model.observedIndex(of: query.entity)
        let layout = model.entities[entity]
        let conditions = try query.conditions.map { try CompiledCondition($0, on: layout) }
        let columns = layout.columns.map { SchemaBuilder.quoted($0.name) }
        // An entity without a key has its row's number.
        let key = layout.key.isEmpty ? ["rowid"] : layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        let order = try query.order.map { order in
            guard let field = layout.columns.firstIndex(where: { $0.name == order.field }) else {
                throw StoreError(
                    .request, "\(layout.name) has no field \"\(order.field)\"",
                    remedy: "there are: \(layout.columns.map(\.name).joined(separator: ", "))")
            }
            return columns[field] + (order.isDescending ? " DESC" : "")
        }
        var sql = "SELECT \((key + columns).joined(separator: ", ")) FROM \(SchemaBuilder.quoted(layout.table))"
        let filters = conditions.map(\.sql) + [SQLiteStore.isOfKind(layout)].compactMap { $0 }
        if !filters.isEmpty { sql += " WHERE " + filters.joined(separator: " AND ") }
        sql += " ORDER BY " + (order + key).joined(separator: ", ")
        if let limit = query.limit { sql += " LIMIT \(limit)" }
        self.sql = sql
        arguments = conditions.compactMap(\.argument)
        keyWidth = key.count
        width = columns.count
    }

    /// The rows at this moment.
    func rows(in store: SQLiteStore) throws -> [EntityRow] {
        try store.read("reading rows") { db in
            let statement = try RawStatement(sql, on: db.sqliteConnection)
            for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
            var rows: [EntityRow] = []
            while try statement.step() {
                rows.append(
                    EntityRow(
                        key: (0..<keyWidth).map { statement.value(Int32($0)) },
                        values: (keyWidth..<keyWidth + width).map { statement.value(Int32($0)) }))
            }
            return rows
        }
    }
}

extension CompiledModel {
    /// - Throws: ``StoreError`` of the code `request` when there is none.
    func observedIndex(of entity: String) throws -> Int {
        guard let index = index(of: entity) else {
            throw StoreError(
                .request, "there is no entity \"\(entity)\"",
                remedy: "there are: \(entities.map(\.name).joined(separator: ", "))")
        }
        return index
    }
}
