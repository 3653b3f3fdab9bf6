public import StoreContract
internal import GRDB
public import Mapping

extension SQLiteStore {
    /// Returns the values in the column of unknown fields that are not null; empty if the entity has no such column.
    ///
    /// - Throws: `StoreError`.
    public func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        guard let field = layout.extra else { return [] }
        let column = SchemaBuilder.quoted(layout.fields[field].name)
        return try read("reading the unknown fields of \(layout.name)") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT member.key AS name, member.type AS type, CAST(member.atom AS TEXT) AS text
                    FROM \(SchemaBuilder.quoted(layout.table)) AS object, json_each(object.\(column)) AS member
                    WHERE object.\(column) IS NOT NULL AND member.type <> 'null' LIMIT ?
                    """,
                arguments: [limit]
            ).map { ExtraValue(name: $0["name"], type: $0["type"], text: $0["text"]) }
        }
    }
}
