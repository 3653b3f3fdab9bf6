internal import BridgeHost
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// A bridge's request for one edit: `write` of `bmo_bridge.h`.
struct PushRequest: Sendable {
    /// The request in the bridge's form.
    let batch: RecordBatch
    /// The values in the remote's shape.
    let values: OutgoingValue
    /// The object's local values, with its key as the remote knows it: the parent object of `read_one`.
    let object: RecordBatch
    /// The same with the values that an update replaces; nil if `read_one` does not mention them.
    let objectBefore: RecordBatch?
    /// The local values of the object's parent, where its entity is scanned by parent.
    let parent: ParentObject?
    /// The nested objects that an update sets only in part.
    let nested: OutgoingPlan.Nested?
    /// What the program said about the edit, if the bridge takes it.
    let userInfo: BridgeOptions?

    /// Creates the request of an outbox entry.
    ///
    /// - Parameter explains: Whether the bridge only describes what it would send.
    /// - Throws: ``OutgoingPlan/Refusal`` where a value has no remote form; ``SecretError``; ``StoreError``.
    init(
        _ entry: OutboxEntry, _ index: Int, in workspace: Workspace, _ store: any Store, explains: Bool = false
    ) throws {
        let model = workspace.model
        let layout = model.entities[index]
        let plan = OutgoingPlan(of: index, in: model)
        let definition = model.model.scanned(model.model.entities[index])
        let row = try Self.row(of: entry, layout, store)
        let rowBefore = Self.remoteRow(of: entry, row)
        parent = try Self.parent(of: definition, layout, rowBefore ?? row, workspace, store)
        // It was stored because the bridge took it: without it, the edit could reach another tenant.
        guard entry.userInfo == nil || workspace.can("user_info", definition.bridge) else {
            throw OutgoingPlan.Refusal(
                "user_info",
                "the edit was saved with a user info, and the bridge \(definition.bridge) takes none any more: load a version of its "
                    + "plugin that does and retry the edit, or drop it and save it again")
        }
        let info = entry.userInfo.flatMap { try? JSONParser.batch($0) }
        userInfo = info.flatMap { BridgeOptions(batch: $0) }

        if let lost = Self.unknownName(in: entry, layout) {
            throw OutgoingPlan.Refusal(
                lost,
                "\(entry.entity) has no \(lost) any more, which this edit sets: put it back into the configuration, or "
                    + "drop the edit")
        }
        let columns = try Self.columns(of: entry, layout, plan, row)
        let links = try Self.links(of: entry, plan)
        values = try plan.object(columns, links: links)
        let isUpdate = entry.operation == .update
        nested = isUpdate ? plan.nested(setting: Set(columns.keys), links: Set(links.keys), in: row) : nil
        let references = plan.references(setting: Set(columns.keys), links: Set(links.keys))
        let old = Dictionary(entry.changes.map { ($0.name, $0.old ?? .null) }, uniquingKeysWith: { first, _ in first })
        let changed =
            isUpdate ? plan.changes(setting: Set(columns.keys), links: Set(links.keys), old: old) : nil
        let readOne = try isUpdate ? definition.readOne.map { try Self.section($0, workspace) } : nil
        let key = entry.hasTemporaryKey ? [] : try plan.key(entry.key)
        let section = try Self.section(definition.section, workspace)
        let keys = Dictionary(key.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        object = try Self.batch(layout, row) { keys[$0] }
        let isAddress = definition.readOne.map { Self.mentions($0, any: old.keys) } ?? false
        objectBefore = isAddress ? try rowBefore.map { row in try Self.batch(layout, row) { keys[$0] } } : nil
        let recordMembers = try Self.recordMembers(entry.operation, index, row, in: model, store)
        let before = entry.operation == .update ? plan.before(Self.old(of: entry)) : nil

        let writer = RecordBatchWriter()
        writer.limit(bytes: Self.maxBytes)
        let (values, parent, nested) = (values, parent, nested)
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
            Self.write(layout.columns, row, to: writer) { _ in nil }
            if let rowBefore {
                writer.key("object_before")
                let old = Self.old(of: entry)
                Self.write(layout.columns.filter { old[$0.name] != nil }, rowBefore, to: writer) { _ in nil }
            }
            if let parent {
                writer.key("parent")
                writer.copy(parent.values[0])
            }
            if let before {
                writer.key("before")
                before.write(to: writer)
            }
            writer.key("key_paths")
            writer.object {
                for (name, _) in key {
                    guard let path = plan.path(of: name) else { continue }
                    writer.key(name)
                    writer.array { for component in path.components { writer.text(component) } }
                }
            }
            writer.key("object_paths")
            writer.object {
                for field in layout.columns {
                    guard let path = plan.path(of: field.name) else { continue }
                    writer.key(field.name)
                    writer.array { for component in path.components { writer.text(component) } }
                }
            }
            if entry.operation == .create {
                writer.key("members")
                writer.array { for member in plan.newMembers { writer.text(member) } }
            }
            if let recordMembers {
                writer.key("record_members")
                writer.array { for member in recordMembers { writer.text(member) } }
            }
            writer.member("idempotency_key", entry.idempotencyKey)
            writer.key("references")
            writer.array {
                for path in references { writer.object { Self.write(path, to: writer) } }
            }
            writer.key("json")
            writer.array { for field in layout.columns where field.type == .json { writer.text(field.name) } }
            if let changed { Self.write(changed, to: writer) }
            if let nested {
                writer.key("nested")
                nested.known.write(to: writer)
            }
            if let readOne {
                writer.key("read_one")
                writer.copy(readOne[0])
            }
            if let info {
                writer.key("user_info")
                writer.copy(info[0])
            }
            if explains { writer.member("explain", true) }
        }
        batch = try writer.finish()
    }

    private static func write(_ changed: [OutgoingPlan.Change], to writer: RecordBatchWriter) {
        writer.key("changed")
        writer.array {
            for change in changed {
                writer.object {
                    write(change.path, to: writer)
                    writer.key("before")
                    change.before.write(to: writer)
                }
            }
        }
    }

    private static func write(_ path: RemotePath, to writer: RecordBatchWriter) {
        writer.key("path")
        writer.array { for name in path.components { writer.text(name) } }
    }

    /// Returns the values that an edit sets and that are sent.
    private static func columns(
        of entry: OutboxEntry, _ layout: EntityLayout, _ plan: OutgoingPlan, _ row: [String: StoredValue]
    ) throws(OutgoingPlan.Refusal) -> [String: StoredValue] {
        guard entry.operation != .delete else { return [:] }
        let isNew = entry.operation == .create
        let key = Set(layout.key.map { layout.fields[$0].name })
        var columns: [String: StoredValue] = [:]
        for change in entry.changes {
            guard let new = change.new else { continue }
            // A new object omits null values.
            if isNew, new == .null { continue }
            if !key.contains(change.name) { try check(change.name, entry, plan) }
            columns[change.name] = new
        }
        // A reference with several columns is sent as a whole.
        for toOne in layout.toOne {
            let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
            guard names.contains(where: { columns[$0] != nil }) else { continue }
            for name in names where columns[name] == nil { columns[name] = row[name] ?? .null }
        }
        // A new object's changes have the parts of its key that the remote does not assign.
        for name in key where !isNew || !entry.changes.contains(where: { $0.name == name }) { columns[name] = nil }
        return columns
    }

    private static func links(
        of entry: OutboxEntry, _ plan: OutgoingPlan
    ) throws(OutgoingPlan.Refusal) -> [String: [[StoredValue]]] {
        guard entry.operation != .delete else { return [:] }
        var links: [String: [[StoredValue]]] = [:]
        for link in entry.links {
            try check(link.relationship, entry, plan)
            links[link.relationship] = link.new
        }
        return links
    }

    /// Checks that the configuration still allows a value of an edit to be sent.
    ///
    /// An update may set what only a new object can have: a part of its create that had to wait for another object.
    private static func check(_ name: String, _ entry: OutboxEntry, _ plan: OutgoingPlan) throws(OutgoingPlan.Refusal) {
        guard let refusal = plan.refusal(of: name, isNew: true) else { return }
        throw OutgoingPlan.Refusal(
            name, "\(refusal); allow it in the configuration, or drop the edit with `bmo outbox drop \(entry.id)`")
    }

    /// Returns the values that an edit replaces, as they were last imported.
    private static func old(of entry: OutboxEntry) -> [String: StoredValue] {
        entry.changes.reduce(into: [:]) { old, change in if let value = change.old { old[change.name] = value } }
    }

    /// Returns a name that an edit sets and that the configuration no longer has.
    private static func unknownName(in entry: OutboxEntry, _ layout: EntityLayout) -> String? {
        guard entry.operation != .delete else { return nil }
        let fields = Set(layout.fields.map(\.name))
        return entry.changes.first { $0.new != nil && !fields.contains($0.name) }?.name
            ?? entry.links.first { link in !layout.toMany.contains { $0.name == link.relationship } }?.relationship
    }

    /// Whether one of the texts in a section may contain a variable of one of these names.
    private static func mentions(_ section: ConfigValue, any names: some Collection<String>) -> Bool {
        switch section {
        case .string(let text): names.contains(where: text.contains)
        case .array(let elements): elements.contains { mentions($0, any: names) }
        case .object(let members): members.contains { mentions($0.value, any: names) }
        case .null, .bool, .int, .double, .decimal, .secret: false
        }
    }

    /// Returns a section of the configuration, with its secrets.
    static func section(_ value: ConfigValue, _ workspace: Workspace) throws -> RecordBatch {
        var encoder = ConfigEncoder(
            directory: workspace.configuration.directory, session: workspace.session,
            needsNoSecrets: workspace.needsNoSecrets)
        return try encoder.batch(value)
    }

    /// Returns the object's local values by column as of the edit, without later edits of it; for a deleted object, as of
    /// before the deletion.
    private static func row(
        of entry: OutboxEntry, _ layout: EntityLayout, _ store: any Store
    ) throws -> [String: StoredValue] {
        var row: [String: StoredValue] = [:]
        if entry.operation != .delete { row = try store.object(layout, key: entry.key) ?? [:] }
        // A new object's later edits wait in its own entry, unless that is under way.
        if entry.operation == .update { row = try before(later: entry, row, store) }
        for change in entry.changes { row[change.name] = change.new ?? change.old ?? .null }
        for (field, value) in zip(layout.key, entry.key) { row[layout.fields[field].name] = value }
        return row
    }

    /// Returns the row without the edits after this one, which the remote has not received.
    private static func before(
        later entry: OutboxEntry, _ row: [String: StoredValue], _ store: any Store
    ) throws -> [String: StoredValue] {
        var row = row
        for later in try store.outbox(entity: entry.entity, key: entry.key).reversed() where later.id > entry.id {
            for change in later.changes { if let old = change.old { row[change.name] = old } }
        }
        return row
    }

    /// Returns the row of an update as the remote has it, which keeps the object under its old parent, and at its old
    /// address, until then; nil for another edit.
    private static func remoteRow(of entry: OutboxEntry, _ row: [String: StoredValue]) -> [String: StoredValue]? {
        entry.operation == .update ? row.merging(old(of: entry)) { $1 } : nil
    }

    private static func parent(
        of entity: Entity, _ layout: EntityLayout, _ row: [String: StoredValue], _ workspace: Workspace,
        _ store: any Store
    ) throws -> ParentObject? {
        guard let name = entity.parent?.relationship, let index = layout.toOne.firstIndex(where: { $0.name == name })
        else { return nil }
        let toOne = layout.toOne[index]
        let key = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map { row[$0.name] ?? .null }
        guard !key.contains(.null) else {
            throw OutgoingPlan.Refusal(
                name, "\(entity.name).\(name) is null: it names the object under which the remote keeps this one")
        }
        let target = workspace.model.entities[toOne.target]
        var values = try store.object(target, key: key) ?? [:]
        for (field, value) in zip(target.key, key) { values[target.fields[field].name] = value }
        return try ParentObject(target.fields.map { values[$0.name] ?? .null }, target, relationship: index)
    }

    /// The limit of an encoded edit.
    ///
    /// It exceeds the default that bounds remote data: a file's content may be large, and it is the user's own.
    private static let maxBytes = 512 << 20

    private static func batch(
        _ layout: EntityLayout, _ row: [String: StoredValue], replacing: (String) -> OutgoingValue?
    ) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.limit(bytes: maxBytes)
        write(layout.columns, row, to: writer, replacing: replacing)
        return try writer.finish()
    }

    private static func write(
        _ columns: some Sequence<EntityLayout.Field>, _ row: [String: StoredValue], to writer: RecordBatchWriter,
        replacing: (String) -> OutgoingValue?
    ) {
        writer.object {
            for field in columns {
                writer.key(field.name)
                (replacing(field.name) ?? .local(row[field.name] ?? .null, field.type)).write(to: writer)
            }
        }
    }
}

extension Store {
    /// Returns an object's values by column; nil for an unknown key.
    func object(_ layout: EntityLayout, key: [StoredValue]) throws -> [String: StoredValue]? {
        try rows(of: layout.index, keys: [key]).first.map { row in
            Dictionary(zip(layout.columns.map(\.name), row.values), uniquingKeysWith: { first, _ in first })
        }
    }
}
