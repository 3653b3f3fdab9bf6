internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// Reads objects and included objects on its own thread, concurrently with imports on other connections.
final class ObjectReader: Sendable {
    let store: any Store
    let model: CompiledModel
    private let thread = ImportThread(label: "bmo.local")
    private let schemas: [ObjectSchema]

    init(_ store: any Store, _ model: CompiledModel) {
        self.store = store
        self.model = model
        schemas = model.entities.indices.map { ObjectSchema($0, of: model) }
    }

    /// Returns the schema of an entity.
    ///
    /// - Throws: ``RequestError`` for an unknown entity.
    func schema(of entity: String) throws -> ObjectSchema {
        guard let index = model.index(of: entity) else {
            throw RequestError(
                .requested, entity: entity, code: "request", "there is no entity \"\(entity)\"",
                remedy: "there are: \(model.entities.map(\.name).joined(separator: ", "))")
        }
        return schemas[index]
    }

    /// Returns the values of an object's key as they are stored.
    ///
    /// - Throws: ``RequestError`` for a key that does not fit the entity.
    func storedKey(_ id: ObjectID) throws -> [StoredValue] {
        let layout = try schema(of: id.entity).layout
        let types = layout.key.isEmpty ? [.integer] : layout.key.map { layout.fields[$0].type }
        let names = layout.key.map { layout.fields[$0].name }
        guard id.key.count == types.count else {
            throw RequestError(
                .requested, entity: id.entity, code: "request",
                "the key of \(id.entity) is \(names.joined(separator: ", ")): \(types.count) values, not \(id.key.count)"
            )
        }
        return try zip(id.key, types).map { value, type in
            do throws(LocalValue.Misfit) {
                return try value.stored(as: type).identity
            } catch {
                throw RequestError(
                    .requested, entity: id.entity, code: "request", "no key of \(id.entity): \(error.reason)")
            }
        }
    }

    /// Returns the row query of a request.
    ///
    /// - Throws: ``RequestError`` for names and values that do not fit the model.
    func query(_ request: ObjectRequest) throws -> RowQuery {
        let schema = try schema(of: request.entity)
        for path in request.including { try check(path, from: schema) }
        var query = RowQuery(
            request.entity, order: request.sort.map { RowQuery.Order($0.field, isDescending: $0.isDescending) },
            limit: request.limit.map { max(0, $0) })
        query.predicate = try request.predicate.map { try $0.compiled(for: schema) }
        query.offset = max(0, request.offset)
        query.includesDeleted = request.includesDeleted
        for sort in request.sort where schema.type(of: sort.field) == nil {
            throw RequestError(
                .requested, entity: request.entity, code: "request",
                "\(request.entity) has no value \"\(sort.field)\" to sort by",
                remedy: "it has: \(schema.names.joined(separator: ", "))")
        }
        return query
    }

    private func check(_ path: String, from schema: ObjectSchema) throws {
        var schema = schema
        for name in path.split(separator: ".").map(String.init) {
            let target = schema.toOne(name)?.target ?? schema.toMany(name).map { schema.layout.toMany[$0].target }
            guard let target else {
                let names = schema.layout.toOne.map(\.name) + schema.layout.toMany.map(\.name)
                throw RequestError(
                    .requested, entity: schema.layout.name, code: "request",
                    "\(schema.layout.name) has no relationship \"\(name)\" to include",
                    remedy: names.isEmpty ? nil : "it has: \(names.joined(separator: ", "))")
            }
            schema = schemas[target]
        }
    }

    /// Returns the current objects of a request.
    func objects(_ request: ObjectRequest) async throws -> [LocalObject] {
        let query = try query(request)
        return try await thread.run { [self] in try read(query, including: request.including).objects }
    }

    /// A page of objects.
    struct Page: Sendable {
        let objects: [LocalObject]
        /// The row of the last one.
        let last: EntityRow?
    }

    /// Returns a page of objects.
    func page(_ query: RowQuery, including: [String]) async throws -> Page {
        try await thread.run { [self] in
            let (objects, last) = try read(query, including: including)
            return Page(objects: objects, last: last)
        }
    }

    /// Returns the identities of the objects with these keys that meet a request's predicate.
    func keys(_ request: ObjectRequest, among keys: [[StoredValue]]) async throws -> Set<ObjectID> {
        let layout = try schema(of: request.entity).layout
        guard layout.key.count == 1 else {
            return Set(try await objects(request).map(\.id))
        }
        let name = layout.fields[layout.key[0]].name
        var found: Set<ObjectID> = []
        for start in stride(from: 0, to: keys.count, by: 500) {
            var query = try query(request)
            let chunk = RowPredicate.isIn(name, keys[start..<min(start + 500, keys.count)].map { $0[0] })
            query.predicate = query.predicate.map { .all([$0, chunk]) } ?? chunk
            let page = try await page(query, including: [])
            found.formUnion(page.objects.map(\.id))
        }
        return found
    }

    func count(_ request: ObjectRequest) async throws -> Int {
        let query = try query(request)
        return try await thread.run { [store] in try store.count(of: query) }
    }

    /// Returns the objects with these keys, in their order, without missing ones.
    func objects(_ entity: String, keys: [[StoredValue]], including: [String]) async throws -> [LocalObject] {
        let schema = try schema(of: entity)
        for path in including { try check(path, from: schema) }
        return try await thread.run { [self] in try read(schema.layout.index, keys: keys, including: including) }
    }

    /// Runs `body` on the reader's thread.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await thread.run(body)
    }

    /// Returns the row with a key, as columns by name; call it on the reader's thread.
    func row(_ entity: Int, key: [StoredValue]) throws -> [String: StoredValue]? {
        let names = schemas[entity].names
        return try store.rows(of: entity, keys: [key]).first.map { row in
            Dictionary(zip(names, row.values), uniquingKeysWith: { $1 })
        }
    }

    /// Returns the objects of rows that are already read.
    func objects(_ entity: Int, rows: [EntityRow], including: [String]) async throws -> [LocalObject] {
        try await thread.run { [self] in try objects(of: entity, rows, including: including) }
    }

    // MARK: on the thread

    private func read(
        _ query: RowQuery, including: [String]
    ) throws -> (objects: [LocalObject], last: EntityRow?) {
        let rows = try store.rows(of: query)
        let index = model.index(of: query.entity) ?? 0
        return (try objects(of: index, rows, including: including), rows.last)
    }

    private func read(_ entity: Int, keys: [[StoredValue]], including: [String]) throws -> [LocalObject] {
        let rows = try store.rows(of: entity, keys: keys)
        let places = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return try objects(of: entity, keys.compactMap { places[$0] }, including: including)
    }

    private func objects(of entity: Int, _ rows: [EntityRow], including: [String]) throws -> [LocalObject] {
        guard !rows.isEmpty else { return [] }
        let base = schemas[entity]
        let stubs = base.layout.key.isEmpty ? [] : try store.stubs(of: entity, among: rows.map(\.key))
        let included = try include(including, entity, rows)
        return rows.enumerated().map { place, row in
            LocalObject(
                id: base.id(of: row.key, in: base.layout), entity: base.kind(of: row.values),
                isStub: stubs.contains(row.key), schema: base, row: row.values,
                included: included.compactMapValues { $0[place] })
        }
    }

    /// Returns the objects of each row, for each relationship.
    ///
    /// It makes one query for each relationship and level, regardless of the number of rows.
    private func include(
        _ paths: [String], _ entity: Int, _ rows: [EntityRow]
    ) throws -> [String: [[LocalObject]]] {
        let schema = schemas[entity]
        var deeper: [(name: String, paths: [String])] = []
        for path in paths {
            let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
            guard let name = parts.first else { continue }
            let place = deeper.firstIndex { $0.name == name } ?? deeper.count
            if place == deeper.count { deeper.append((name, [])) }
            if parts.count > 1 { deeper[place].paths.append(parts[1]) }
        }
        var result: [String: [[LocalObject]]] = [:]
        for (name, paths) in deeper {
            let target: Int
            let keys: [[[StoredValue]]]
            if let one = schema.toOne(name) {
                target = one.target
                keys = rows.map { schema.storedReference(one, of: $0.values).map { [$0] } ?? [] }
            } else if let many = schema.toMany(name) {
                target = schema.layout.toMany[many].target
                let links = try store.links(of: entity, many, owners: rows.map(\.key))
                keys = rows.map { links[$0.key] ?? [] }
            } else {
                continue
            }
            let wanted = Array(Set(keys.joined()))
            let found = try read(target, keys: wanted, including: paths)
            let places = Dictionary(
                found.filter { !$0.schema.isDeleted($0.row) }.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            let layout = model.entities[target]
            result[name] = keys.map { $0.compactMap { places[schema.id(of: $0, in: layout)] } }
        }
        return result
    }
}
