internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// An entry of the outbox, or an accepted one, as its table has it.
///
/// `changes` has the new values by name, and `base` those before; a list of links is an array of keys.
struct StoredEntry {
    var entry: OutboxEntry
    /// The entity that has the object's table.
    var root: String
    /// The runs that contributed to it.
    var runs: [Int64] = []

    /// The columns that a statement reads and writes, in order.
    static let columns = """
        id, entity, root, key, operation, changes, base, idempotency_key, state, attempts, not_before, created, failure, \
        depends_on, has_temporary_key, may_have_arrived, runs
        """

    private static let types: [SQLType] = [
        .bigint, .text, .text, .text, .text, .text, .text, .text, .text, .bigint, .text, .text, .text, .text, .boolean,
        .boolean, .text,
    ]

    /// The parameters of a statement that writes all columns.
    static let parameters = types.enumerated().map { $1.parameter($0 + 1) }.joined(separator: ", ")

    init(entry: OutboxEntry, root: String, runs: [Int64] = []) {
        self.entry = entry
        self.root = root
        self.runs = runs
    }

    init(_ result: QueryResult, _ row: Int, _ model: CompiledModel) throws {
        let entity = result.text(row, 1) ?? ""
        let layout = model.index(of: entity).map { model.entities[$0] }
        let key = result.text(row, 3) ?? ""
        root = result.text(row, 2) ?? ""
        runs = Self.integers(result.text(row, 16))
        entry = OutboxEntry(
            id: result.bigint(row, 0) ?? 0, entity: entity,
            key: layout?.key(from: key) ?? JSONText.parts(of: key) ?? [],
            operation: OutboxEntry.Operation(rawValue: result.text(row, 4) ?? "") ?? .update,
            idempotencyKey: result.text(row, 7) ?? "",
            state: OutboxEntry.State(rawValue: result.text(row, 8) ?? "") ?? .unknown,
            attempts: Int(result.bigint(row, 9) ?? 0), notBefore: result.text(row, 10),
            created: result.text(row, 11) ?? "", failure: try result.text(row, 12).map(OutboxFailure.init(json:)),
            dependsOn: Self.integers(result.text(row, 13)), hasTemporaryKey: result.boolean(row, 14),
            mayHaveArrived: result.boolean(row, 15))
        let new = try EditContent(json: result.text(row, 5) ?? "{}", layout, model)
        let old = try result.text(row, 6).map { try EditContent(json: $0, layout, model) }
        for (name, value) in new.columns {
            entry.changes.append(
                OutboxEntry.FieldEdit(name: name, old: old?.columns.first { $0.name == name }?.value, new: value))
        }
        for (name, value) in old?.columns ?? [] where !new.columns.contains(where: { $0.name == name }) {
            entry.changes.append(OutboxEntry.FieldEdit(name: name, old: value, new: nil))
        }
        for (name, keys) in new.links {
            let before = old?.links.first { $0.name == name }?.keys ?? []
            entry.links.append(OutboxEntry.LinkEdit(relationship: name, old: before, new: keys))
        }
        for (name, keys) in old?.links ?? [] where !new.links.contains(where: { $0.name == name }) {
            entry.links.append(OutboxEntry.LinkEdit(relationship: name, old: keys, new: []))
        }
    }

    private static func integers(_ json: String?) -> [Int64] {
        (JSONText.parts(of: json ?? "[]") ?? []).compactMap { if case .integer(let id) = $0 { id } else { nil } }
    }

    /// The values of ``columns``.
    var values: [SQLParameter] {
        var new = EditContent()
        var old = EditContent()
        for change in entry.changes {
            if let value = change.new { new.columns.append((change.name, value)) }
            if let value = change.old { old.columns.append((change.name, value)) }
        }
        for link in entry.links {
            if entry.operation != .delete { new.links.append((link.relationship, link.new)) }
            if entry.operation != .create { old.links.append((link.relationship, link.old)) }
        }
        func json(_ integers: [Int64]) -> String { JSONText.key(integers.map { StoredValue.integer($0) }).string }
        return [
            .bigint(entry.id), .text(entry.entity), .text(root), .text(JSONText.key(entry.key).string),
            .text(entry.operation.rawValue), .text(new.json), entry.operation == .create ? .null : .text(old.json),
            .text(entry.idempotencyKey), .text(entry.state.rawValue), .bigint(Int64(entry.attempts)),
            .text(entry.notBefore), .text(entry.created), .text(entry.failure?.json),
            .text(json(entry.dependsOn.sorted())), .boolean(entry.hasTemporaryKey), .boolean(entry.mayHaveArrived),
            .text(json(runs)),
        ]
    }
}

/// Columns and lists of links.
private struct EditContent {
    var columns: [(name: String, value: StoredValue)] = []
    var links: [(name: String, keys: [[StoredValue]])] = []

    init() {}

    init(json: String, _ layout: EntityLayout?, _ model: CompiledModel) throws {
        let batch = try JSONParser.batch(json)
        withExtendedLifetime(batch) {
            for (name, value) in batch[0].members {
                guard value.tag == .array else {
                    columns.append((name, StoredValue(stored: value).typed(as: layout?.type(of: name) ?? .text)))
                    continue
                }
                let toMany = layout?.toMany.first { $0.name == name }
                let target = toMany.map { model.entities[model.entities[$0.target].root] }
                let keys = value.elements.map { $0.elements.map(StoredValue.init(stored:)) }
                links.append((name, keys.map { target?.key($0) ?? $0 }))
            }
        }
    }

    var json: String {
        var text = JSONText()
        text.append("{")
        for (name, value) in columns {
            text.beginMember(name)
            text.append(value)
        }
        for (name, keys) in links {
            text.beginMember(name)
            text.append(.keys(keys))
        }
        text.append("}")
        return text.string
    }
}

extension OutboxFailure {
    fileprivate init(json: String) throws {
        let batch = try JSONParser.batch(json)
        self = withExtendedLifetime(batch) {
            OutboxFailure(
                code: batch[0]["code"]?.text ?? "", message: batch[0]["message"]?.text ?? "",
                remedy: batch[0]["remedy"]?.text, remote: batch[0]["remote"]?.text)
        }
    }

    fileprivate var json: String {
        let members = [("code", code), ("message", message), ("remedy", remedy), ("remote", remote)]
        return JSONText.object(
            members.compactMap { name, text in text.map { (name: name, value: StoredValue.text($0)) } }
        ).string
    }
}
