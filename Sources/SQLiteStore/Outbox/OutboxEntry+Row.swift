internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model
internal import RecordBatch

/// The form of an entry in `bmo_outbox`.
///
/// `changes` has the new values by name, and `base` those before; a list of links is an array of keys.
extension OutboxEntry {
    /// Reads a row with the columns of ``OutboxTable``.
    init(_ row: RawStatement, _ model: CompiledModel) throws {
        let entity = row.text(1) ?? ""
        let layout = model.index(of: entity).map { model.entities[$0] }
        let key = row.text(2) ?? ""
        self.init(
            id: row.int64(0), entity: entity, key: layout?.key(from: key) ?? JSONText.parts(of: key) ?? [],
            operation: Operation(rawValue: row.text(3) ?? "") ?? .update,
            idempotencyKey: row.text(6) ?? "", state: State(rawValue: row.text(7) ?? "") ?? .unknown,
            attempts: Int(row.int64(8)), notBefore: row.text(9), created: row.text(10) ?? "",
            failure: try row.text(11).map(OutboxFailure.init(json:)),
            dependsOn: (JSONText.parts(of: row.text(12) ?? "[]") ?? []).compactMap {
                if case .integer(let id) = $0 { id } else { nil }
            }, hasTemporaryKey: row.int64(13) != 0, mayHaveArrived: row.int64(14) != 0)
        let new = try EditContent(json: row.text(4) ?? "{}", layout, model)
        let old = try row.text(5).map { try EditContent(json: $0, layout, model) }
        for (name, value) in new.columns {
            changes.append(FieldEdit(name: name, old: old?.columns.first { $0.name == name }?.value, new: value))
        }
        for (name, value) in old?.columns ?? [] where !new.columns.contains(where: { $0.name == name }) {
            changes.append(FieldEdit(name: name, old: value, new: nil))
        }
        for (name, keys) in new.links {
            let before = old?.links.first { $0.name == name }?.keys ?? []
            links.append(LinkEdit(relationship: name, old: before, new: keys))
        }
        for (name, keys) in old?.links ?? [] where !new.links.contains(where: { $0.name == name }) {
            links.append(LinkEdit(relationship: name, old: keys, new: []))
        }
    }

    /// Returns the values of the columns that every write sets, in the order of ``OutboxTable``'s statements.
    func columns(of layout: EntityLayout?) -> [StoredValue] {
        var new = EditContent()
        var old = EditContent()
        for change in changes {
            if let value = change.new { new.columns.append((change.name, value)) }
            if let value = change.old { old.columns.append((change.name, value)) }
        }
        for link in links {
            if operation != .delete { new.links.append((link.relationship, link.new)) }
            if operation != .create { old.links.append((link.relationship, link.old)) }
        }
        let depends = JSONText.key(dependsOn.sorted().map { StoredValue.integer($0) }).string
        return [
            .text(entity), .text(operation.rawValue), .text(new.json),
            operation == .create ? .null : .text(old.json), .text(idempotencyKey), .text(state.rawValue),
            .integer(Int64(attempts)), notBefore.map { .text($0) } ?? .null, .text(created),
            failure.map { .text($0.json) } ?? .null, .text(depends), .integer(hasTemporaryKey ? 1 : 0),
            .integer(mayHaveArrived ? 1 : 0),
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
    init(json: String) throws {
        let batch = try JSONParser.batch(json)
        self = withExtendedLifetime(batch) {
            OutboxFailure(
                code: batch[0]["code"]?.text ?? "", message: batch[0]["message"]?.text ?? "",
                remedy: batch[0]["remedy"]?.text, remote: batch[0]["remote"]?.text)
        }
    }

    var json: String {
        let members = [("code", code), ("message", message), ("remedy", remedy), ("remote", remote)]
        return JSONText.object(
            members.compactMap { name, text in text.map { (name: name, value: StoredValue.text($0)) } }
        ).string
    }
}
