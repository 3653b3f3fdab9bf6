internal import BridgeHost
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// What a bridge is asked for one edit: `write` of `bmo_bridge.h`.
struct PushRequest: Sendable {
    /// The request as the bridge gets it.
    let batch: RecordBatch
    /// The values in the remote's shape.
    let values: OutgoingValue
    /// The local values of the object, with its key as the remote has it: what `read_one` gets as the parent.
    let object: RecordBatch
    /// The local values of the object's parent, where its entity is walked by one.
    let parent: ParentObject?

    /// - Throws: ``OutgoingPlan/Refusal`` where a value has no remote form; ``SecretError``; ``StoreError``.
    init(_ entry: OutboxEntry, _ index: Int, in workspace: Workspace, _ store: SQLiteStore) throws {
        let model = workspace.model
        let layout = model.entities[index]
        let plan = OutgoingPlan(of: index, in: model)
        let definition = model.model.walked(model.model.entities[index])
        let row = try Self.row(of: entry, layout, store)
        parent = try Self.parent(of: definition, layout, row, workspace, store)

        if let lost = Self.unknownName(in: entry, layout) {
            throw OutgoingPlan.Refusal(
                lost,
                "\(entry.entity) has no \(lost) any more, which this edit sets: put it back into the configuration, or "
                    + "drop the edit")
        }
        var columns: [String: StoredValue] = [:]
        if entry.operation != .delete {
            for change in entry.changes {
                guard let new = change.new else { continue }
                // A new object says nothing of what it has not.
                if entry.operation == .create, new == .null { continue }
                columns[change.name] = new
            }
            // A reference by several columns goes as one.
            for toOne in layout.toOne {
                let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
                guard names.contains(where: { columns[$0] != nil }) else { continue }
                for name in names where columns[name] == nil { columns[name] = row[name] ?? .null }
            }
            if entry.operation == .update || entry.hasTemporaryKey {
                for field in layout.key { columns[layout.fields[field].name] = nil }
            }
        }
        let links = Dictionary(
            entry.operation == .delete ? [] : entry.links.map { ($0.relationship, $0.new) },
            uniquingKeysWith: { $1 })
        values = try plan.object(columns, links: links)
        let key = entry.hasTemporaryKey ? [] : try plan.key(entry.key)
        let section = try Self.section(definition.section, workspace)
        let keys = Dictionary(key.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        object = try Self.batch(layout, row) { keys[$0] }

        let writer = RecordBatchWriter()
        let (values, parent) = (values, parent)
        writer.object {
            writer.member("operation", entry.operation.rawValue)
            writer.member("entity", entry.entity)
            writer.key("section")
            writer.copy(section[0])
            writer.key("key")
            writer.object {
                for (name, value) in key {
                    writer.key(name)
                    value.write(to: writer)
                }
            }
            writer.key("values")
            values.write(to: writer)
            writer.key("object")
            Self.write(layout, row, to: writer) { _ in nil }
            if let parent {
                writer.key("parent")
                writer.copy(parent.values[0])
            }
            writer.member("idempotency_key", entry.idempotencyKey)
        }
        batch = try writer.finish()
    }

    /// What an edit sets and the configuration does not have any more.
    private static func unknownName(in entry: OutboxEntry, _ layout: EntityLayout) -> String? {
        guard entry.operation != .delete else { return nil }
        let fields = Set(layout.fields.map(\.name))
        return entry.changes.first { $0.new != nil && !fields.contains($0.name) }?.name
            ?? entry.links.first { link in !layout.toMany.contains { $0.name == link.relationship } }?.relationship
    }

    /// A section of the configuration, with its secrets.
    static func section(_ value: ConfigValue, _ workspace: Workspace) throws -> RecordBatch {
        var encoder = ConfigEncoder(directory: workspace.configuration.directory)
        return try encoder.batch(value)
    }

    /// The object's local values by column, as the edit has them; of a deleted object as it was.
    private static func row(
        of entry: OutboxEntry, _ layout: EntityLayout, _ store: SQLiteStore
    ) throws -> [String: StoredValue] {
        var row: [String: StoredValue] = [:]
        if entry.operation != .delete { row = try store.object(layout, key: entry.key) ?? [:] }
        for change in entry.changes { row[change.name] = change.new ?? change.old ?? .null }
        for (field, value) in zip(layout.key, entry.key) { row[layout.fields[field].name] = value }
        return row
    }

    private static func parent(
        of entity: Entity, _ layout: EntityLayout, _ row: [String: StoredValue], _ workspace: Workspace,
        _ store: SQLiteStore
    ) throws -> ParentObject? {
        guard let name = entity.parent?.relationship, let index = layout.toOne.firstIndex(where: { $0.name == name })
        else { return nil }
        let toOne = layout.toOne[index]
        let key = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map { row[$0.name] ?? .null }
        guard !key.contains(.null) else {
            throw OutgoingPlan.Refusal(
                name, "\(entity.name).\(name) is null: it names the object below which the remote has this one")
        }
        let target = workspace.model.entities[toOne.target]
        var values = try store.object(target, key: key) ?? [:]
        for (field, value) in zip(target.key, key) { values[target.fields[field].name] = value }
        return try ParentObject(target.fields.map { values[$0.name] ?? .null }, target, relationship: index)
    }

    private static func batch(
        _ layout: EntityLayout, _ row: [String: StoredValue], replacing: (String) -> OutgoingValue?
    ) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        write(layout, row, to: writer, replacing: replacing)
        return try writer.finish()
    }

    private static func write(
        _ layout: EntityLayout, _ row: [String: StoredValue], to writer: RecordBatchWriter,
        replacing: (String) -> OutgoingValue?
    ) {
        writer.object {
            for field in layout.columns {
                writer.key(field.name)
                (replacing(field.name) ?? .local(row[field.name] ?? .null, field.type)).write(to: writer)
            }
        }
    }
}

extension SQLiteStore {
    /// An object's values by column; nil where there is none.
    func object(_ layout: EntityLayout, key: [StoredValue]) throws -> [String: StoredValue]? {
        try rows(of: layout.index, keys: [key]).first.map { row in
            Dictionary(zip(layout.columns.map(\.name), row.values), uniquingKeysWith: { first, _ in first })
        }
    }
}
