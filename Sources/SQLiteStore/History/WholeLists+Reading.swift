internal import GRDB
internal import Mapping
internal import StoreContract
internal import StoreRules

extension WholeLists {
    /// Prepares the reconstruction from a file's links and history.
    init(_ model: CompiledModel, in db: Database) {
        let connection = db.sqliteConnection
        self.init(model) { relationship, table, owner in
            let target = model.entities[model.entities[relationship.target].root]
            let columns = SchemaBuilder.linkColumns(.target, target, of: table, in: model).map(SchemaBuilder.quoted)
            let isOwner = SchemaBuilder.linkColumns(.source, model.entities[owner.root], of: table, in: model)
                .map { "\(SchemaBuilder.quoted($0)) = ?" }
            guard isOwner.count == owner.key.count else { return nil }
            let select = RawStatement(
                "SELECT position, \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(table)) "
                    + "WHERE \(isOwner.joined(separator: " AND ")) ORDER BY position", on: connection)
            for (index, value) in owner.key.enumerated() { select.bind(value, at: Int32(index + 1)) }
            var links: [Link] = []
            while try select.step() {
                links.append(Link(position: select.int64(0), key: select.values(of: target.keyFields, at: 1)))
            }
            return links
        } later: { record in
            let select = RawStatement(
                """
                SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE entity = ?1 AND key = ?2 AND id > ?3
                ORDER BY id DESC
                """, on: connection)
            select.bind(record.entity, at: 1)
            select.bind(record.key, at: 2)
            select.bind(record.id, at: 3)
            return try ChangeRecord.all(select)
        } hasLaterLinks: { entity, id in
            let select = RawStatement(
                "SELECT EXISTS (SELECT 1 FROM bmo_changes WHERE entity = ?1 AND id > ?2 AND change = 'relinked')",
                on: connection)
            select.bind(entity, at: 1)
            select.bind(id, at: 2)
            return try select.step() && select.int64(0) != 0
        }
    }
}
