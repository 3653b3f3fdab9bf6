internal import StoreContract
internal import Mapping

/// A check for references to an object from remaining rows, which are not in `bmo_doomed`.
struct SurvivorCheck {
    private let statements: [RawStatement]

    init(of root: Int, in model: CompiledModel, on connection: OpaquePointer?) {
        let quoted = SchemaBuilder.quoted
        var statements: [RawStatement] = []
        for layout in model.entities where layout.index == layout.root {
            for toOne in layout.toOne where model.entities[toOne.target].root == root {
                let columns = (0..<toOne.fieldCount).map { "\(quoted(layout.fields[toOne.firstField + $0].name)) = ?" }
                statements.append(
                    RawStatement(
                        """
                        SELECT EXISTS (
                            SELECT 1 FROM \(quoted(layout.table)) AS t WHERE \(columns.joined(separator: " AND "))
                            AND NOT EXISTS (
                                SELECT 1 FROM temp.bmo_doomed WHERE entity = \(layout.index)
                                AND row = t.\(layout.rowIDName)))
                        """, on: connection))
            }
            for toMany in layout.toMany where model.entities[toMany.target].root == root {
                guard case .links(let table) = toMany.storage else { continue }
                let columns = SchemaBuilder.linkColumns(.target, model.entities[root], of: table, in: model)
                    .map { "\(quoted($0)) = ?" }
                statements.append(
                    RawStatement(
                        "SELECT EXISTS (SELECT 1 FROM \(quoted(table)) WHERE \(columns.joined(separator: " AND ")))",
                        on: connection))
            }
        }
        self.statements = statements
    }

    func isReferred(_ key: [StoredValue]) throws -> Bool { try statements.findReference(to: key) }
}
