internal import StoreContract
internal import Mapping

/// A check for references to an object, from to-one relationships or links.
struct ReferenceCheck {
    private let statements: [RawStatement]

    init(to target: EntityLayout, in model: CompiledModel, on connection: OpaquePointer?) {
        let quoted = SchemaBuilder.quoted
        func statement(_ table: String, _ columns: [String]) -> RawStatement {
            let condition = columns.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
            return RawStatement(
                "SELECT EXISTS (SELECT 1 FROM \(quoted(table)) WHERE \(condition))", on: connection)
        }
        func leads(to entity: Int) -> Bool { model.entities[entity].root == target.index }
        statements = model.entities.filter { $0.index == $0.root }.flatMap { layout in
            layout.toOne.filter { leads(to: $0.target) }.map { relationship in
                statement(
                    layout.name,
                    (0..<relationship.fieldCount).map { layout.fields[relationship.firstField + $0].name })
            }
                + layout.toMany.filter { leads(to: $0.target) }.compactMap { relationship in
                    guard case .links(let table) = relationship.storage else { return nil }
                    return statement(table, SchemaBuilder.linkColumns(.target, target, of: table, in: model))
                }
        }
    }

    func isReferred(_ key: [StoredValue]) throws -> Bool { try statements.findReference(to: key) }
}

extension [RawStatement] {
    /// Runs the statements until one finds that a table refers to the key.
    func findReference(to key: [StoredValue]) throws -> Bool {
        for statement in self {
            for (index, value) in key.enumerated() { statement.bind(value, at: Int32(index + 1)) }
            _ = try statement.step()
            defer { statement.reset() }
            if statement.int64(0) != 0 { return true }
        }
        return false
    }
}
