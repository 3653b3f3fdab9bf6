internal import Mapping
internal import StoreContract

/// An open store, with short calls for what the checks do often.
struct StoreSession: Sendable {
    let store: any Store
    let model: CompiledModel

    init(_ store: any Store, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// A row of a page, by column; a column that is left out is absent.
    typealias Values = [String: StoredValue]

    /// Writes a page and commits it.
    func page(_ body: (PageSession) throws -> Void) throws {
        let page = try begin()
        do {
            try page.access(body)
            try page.transaction.commit()
        } catch {
            page.transaction.rollback()
            throw error
        }
    }

    /// Begins a page that the check ends.
    func begin() throws -> PageSession { PageSession(try store.beginPage(), model) }

    /// Imports rows of an entity as listed records.
    func add(_ entity: Int, _ rows: Values...) throws {
        try page { for row in rows { try $0.merge(entity, row) } }
    }

    /// Imports rows as a run; returns the run's ID.
    @discardableResult
    func run(_ kind: String = "sync", _ body: () throws -> Void) throws -> Int64? {
        try store.beginRun(kind: kind)
        try body()
        return try store.endRun(outcome: "finished", summary: nil, always: false)
    }

    /// The rows of an entity, by key, with `-` for null.
    func rows(_ entity: Int, includesStubs: Bool = true) throws -> [String] {
        var query = RowQuery(model.entities[entity].name)
        query.includesStubs = includesStubs
        return try store.rows(of: query).map { row in
            row.values.map { $0 == .null ? "-" : $0.description }.joined(separator: " ")
        }
    }

    /// The keys of a list's targets.
    func list(_ entity: Int, _ relationship: String, of owner: StoredValue) throws -> [String] {
        let index = try required(
            relationship, model.entities[entity].toMany.firstIndex { $0.name == relationship })
        return try store.links(of: entity, index, owners: [[owner]])[[owner]]?.map(Self.text) ?? []
    }

    static func text(_ key: [StoredValue]) -> String { key.map(\.description).joined(separator: "/") }

    // MARK: - Edits

    @discardableResult
    func edit(
        _ operation: OutboxEntry.Operation, _ entity: String, _ key: [StoredValue] = [], _ values: Values = [:],
        links: [String: [[StoredValue]]] = [:]
    ) throws -> EditReceipt {
        let edit = LocalEdit(operation, entity: entity, key: key, values: values, links: links)
        return try required("the receipt of an edit", try store.edit([edit]).first)
    }

    /// The entry of the last edit.
    func lastEntry() throws -> OutboxEntry { try required("an entry in the outbox", try store.outbox().last) }

    /// The outbox: operation, entity, key, columns and state of each entry.
    func outbox() throws -> [String] {
        try store.outbox().map { entry in
            let changes = entry.changes.map {
                "\($0.name): \($0.old?.description ?? "-") -> \($0.new?.description ?? "-")"
            }
            return "\(entry.operation) \(entry.entity) \(Self.text(entry.key)) [\(changes.joined(separator: ", "))] "
                + entry.state.rawValue
        }
    }
}

/// An open page.
struct PageSession {
    let transaction: any PageTransaction
    let model: CompiledModel

    init(_ transaction: any PageTransaction, _ model: CompiledModel) {
        self.transaction = transaction
        self.model = model
    }

    func access(_ body: (PageSession) throws -> Void) throws { try transaction.access { try body(self) } }

    /// Merges one row.
    @discardableResult
    func merge(_ entity: Int, _ values: StoreSession.Values, as role: RowRole = .listed) throws -> MergeOutcome {
        try required("the outcome of a row", try merge(entity, [values], as: role).first)
    }

    /// Merges a row of a partial record, which has only some members of the column of extra members.
    @discardableResult
    func mergePart(_ entity: Int, _ values: StoreSession.Values) throws -> MergeOutcome {
        let layout = model.entities[entity]
        var outcome: MergeOutcome?
        try SampleCells.with([layout.fields.map { values[$0.name] }]) { cells in
            let row = cells[0].indices.map { $0 == layout.extra ? cells[0][$0].asPatch : cells[0][$0] }
            try row.withUnsafeBufferPointer { row in
                let rows = [PageRow(entity: entity, cells: row, record: 0, role: .listed)]
                try transaction.merge(rows) { outcome = try $1.get() }
            }
        }
        return try required("the outcome of a row", outcome)
    }

    /// Merges the rows of a batch, each a record of its own.
    func merge(
        _ entity: Int, _ rows: [StoreSession.Values], as role: RowRole = .listed
    ) throws -> [MergeOutcome] {
        let layout = model.entities[entity]
        var outcomes: [MergeOutcome] = []
        try SampleCells.with(rows.map { row in layout.fields.map { row[$0.name] } }) { cells in
            let rows = cells.enumerated().map { PageRow(entity: entity, cells: $1, record: $0, role: role) }
            try transaction.merge(rows) { _, result in outcomes.append(try result.get()) }
        }
        return outcomes
    }

    /// Ensures that an object exists; returns whether a stub was created.
    func ensure(_ entity: Int, _ key: StoredValue...) throws -> Bool {
        var isCreated = false
        try SampleCells.with([key.map { $0 }]) { cells in
            try transaction.ensure([PageReference(entity: entity, key: cells[0])]) { _ in isCreated = true }
        }
        return isCreated
    }

    /// Merges a list of keys of one part; returns whether it changed.
    func mergeLinks(_ entity: Int, _ relationship: String, of owner: StoredValue, _ targets: [StoredValue]) throws
        -> Bool
    {
        let layout = model.entities[entity]
        let index = try required(relationship, layout.toMany.firstIndex { $0.name == relationship })
        var isChanged = false
        let row = layout.fields.indices.map { layout.key.contains($0) ? owner : nil }
        try SampleCells.with([row, targets.map { $0 }]) { cells in
            let list = PageLinks(entity: entity, relationship: index, owner: cells[0], targets: cells[1])
            try transaction.mergeLinks([list]) { _ in isChanged = true }
        }
        return isChanged
    }

    /// Deletes an object; returns the number of deleted objects, by entity.
    func delete(_ entity: Int, _ key: StoredValue) throws -> [Int: Int] {
        var counts: [Int: Int] = [:]
        try transaction.delete([ObjectKey(entity: entity, values: [key])]) { counts = $1 }
        return counts
    }
}
