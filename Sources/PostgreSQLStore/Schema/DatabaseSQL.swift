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
    /// The entities with tables that refer to themselves or are at an end of a reference to a later table.
    private let circular: Set<Int>
    /// The statement that reads the state of the database; see `PostgreSQLTables.Counters`.
    let state: String
    /// Those that remove unused references to deleted rows.
    let unusedReferences = UnusedReferenceSQL()

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
        let order = Self.order(of: model)
        self.order = order
        let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        var circular: Set<Int> = []
        for root in order {
            for target in model.entities[root].toOne.map({ model.entities[$0.target].root })
            where places[target, default: 0] >= places[root, default: 0] {
                circular.formUnion([root, target])
            }
        }
        self.circular = circular
        state = Self.state(of: order.map { model.entities[$0].name }, in: Identifier.quoted(schema) + ".")
    }

    /// Returns the statement ``state``.
    ///
    /// The names are a part of it: with a parameter, the server would plan it each time anew.
    private static func state(of entities: [String], in prefix: String) -> String {
        let names = entities.map(Identifier.literal).joined(separator: ", ")
        func flags(_ table: String) -> String {
            """
            (SELECT string_agg(CASE WHEN EXISTS (SELECT 1 FROM \(prefix)\(table) s WHERE s.entity = u.e) \
            THEN '1' ELSE '0' END, '' ORDER BY u.n) FROM unnest(ARRAY[\(names)]::text[]) WITH ORDINALITY u(e, n))
            """
        }
        return """
            SELECT version, schema_version, last_run, last_change, last_entry, last_acknowledged, last_quarantined,
                EXISTS (SELECT 1 FROM \(prefix)bmo_outbox), EXISTS (SELECT 1 FROM \(prefix)bmo_acknowledged),
                EXISTS (SELECT 1 FROM \(prefix)bmo_conflicts), \(flags("bmo_stubs")), \(flags("bmo_sources")),
                EXISTS (SELECT 1 FROM \(prefix)bmo_quarantine)
            FROM \(prefix)bmo_database
            """
    }

    /// Whether new rows of a table may be inserted before others of the same transaction are written.
    ///
    /// Where the server checks references at once, they must neither refer to rows that are written later nor be referred
    /// to by rows that are written earlier.
    func canInsertFirst(_ root: Int) -> Bool { engine.foreignKeys != .immediate || !circular.contains(root) }

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
