internal import Mapping
internal import StoreRules

/// The statements of a model's tables in one schema.
final class DatabaseSQL: Sendable {
    let model: CompiledModel
    let schema: String
    let engine: EngineProfile
    /// The tables by the index of the entity that has one.
    let rows: [Int: RowTableSQL]
    let links: [String: LinkTableSQL]
    /// The entities with tables, targets of references before the entities that refer to them where possible.
    let order: [Int]

    /// - Parameter connection: A connection to the server, whose address names the schema.
    init(_ model: CompiledModel, for connection: Connection) {
        let schema = connection.location.schema
        self.model = model
        self.schema = schema
        engine = connection.engine
        var rows: [Int: RowTableSQL] = [:]
        var links: [String: LinkTableSQL] = [:]
        for layout in model.entities where layout.index == layout.root {
            rows[layout.index] = RowTableSQL(layout, schema: schema)
            for toMany in layout.toMany {
                guard case .links(let table) = toMany.storage else { continue }
                let target = model.entities[model.entities[toMany.target].root]
                links[table] = LinkTableSQL(table, model, from: layout, to: target, schema: schema)
            }
        }
        self.rows = rows
        self.links = links
        order = Self.order(of: model)
    }

    /// Returns the quoted name of a table of the bookkeeping.
    func own(_ table: String) -> String { Identifier.quoted(schema) + "." + table }

    /// The statement by which a transaction waits until no other one writes.
    var writerLock: String {
        engine.hasLocks
            ? "LOCK TABLE \(own("bmo_writers")) IN EXCLUSIVE MODE"
            : "SELECT 1 FROM \(own("bmo_locks")) WHERE purpose = '\(Bookkeeping.writerLock)' AND holder = '' FOR UPDATE"
    }

    private static func order(of model: CompiledModel) -> [Int] {
        var order: [Int] = []
        var begun: Set<Int> = []
        func visit(_ root: Int) {
            guard begun.insert(root).inserted else { return }
            for toOne in model.entities[root].toOne { visit(model.entities[toOne.target].root) }
            order.append(root)
        }
        for layout in model.entities where layout.index == layout.root { visit(layout.index) }
        return order
    }

    /// The to-one relationships of an entity whose targets come after it in ``order``.
    func forwardReferences(of root: Int) -> [EntityLayout.ToOne] {
        let place = order.firstIndex(of: root) ?? 0
        let later = Set(order[(place + 1)...])
        return model.entities[root].toOne.filter { later.contains(model.entities[$0.target].root) }
    }
}
