internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// The scan that a quarantined record comes from, as the configuration and the database have it now.
struct RecordScan {
    /// The further source; empty for the entity's own bridge.
    let source: String
    /// The index of the mapping's plan in the compiled model.
    let plan: Int
    /// The key of the object whose scan returned the record.
    let parentKey: [StoredValue]?
    let target: ScanTarget

    /// The reason why a record cannot be imported.
    struct Refusal: Error {
        let reason: String
    }
}

extension Workspace {
    private static let remedy = "the next full sync brings the object again"

    /// Returns the scan of a quarantined record, or why it is not known any more.
    func recordScan(
        of record: QuarantinedRecord, _ index: Int, in store: any Store
    ) throws -> Result<RecordScan, RecordScan.Refusal> {
        func refusal(_ reason: String) -> Result<RecordScan, RecordScan.Refusal> {
            .failure(RecordScan.Refusal(reason: "\(reason); \(Self.remedy)"))
        }
        let entity = model.model.entities[index]
        guard let name = sourceName(of: record, entity) else {
            return refusal("an earlier bmo did not record which source it comes from")
        }
        let source = entity.sources.first { $0.name == name }
        guard name.isEmpty || source != nil, let plan = model.plan(of: index, source: name.isEmpty ? nil : name) else {
            return refusal("the configuration has no source \(name) of \(entity.name)")
        }
        var target = ScanTarget(
            scope: ScanScope(entity: entity.name, source: name, parent: record.parent ?? ""), entity: index,
            isListing: name.isEmpty)
        guard let scan = name.isEmpty ? entity.parent : source?.parent else {
            guard record.parent == nil else {
                return refusal("the configuration does not fetch \(entity.name) by parent any more")
            }
            return .success(RecordScan(source: name, plan: plan, parentKey: nil, target: target))
        }
        guard let text = record.parent else {
            guard record.source != nil else { return refusal("an earlier bmo did not record its parent") }
            // A request for objects, whichever parent they have.
            return .success(RecordScan(source: name, plan: plan, parentKey: nil, target: target))
        }
        let layout = model.entities[index]
        let relationship = scan.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let parent = relationship.map { layout.toOne[$0].target } ?? index
        let key: [StoredValue]
        do {
            key = try store.key(of: parent, from: Self.texts(ofKey: text))
        } catch is StoreError {
            return refusal("\(text) is not a key of its parent, a \(model.entities[parent].name)")
        }
        let row = try store.history(of: parent, key: key)
        guard row.values != nil, !row.isStub else {
            return refusal("the database does not have its parent, \(model.entities[parent].name) \(text)")
        }
        target.parent = relationship.map { ($0, key) }
        return .success(RecordScan(source: name, plan: plan, parentKey: key, target: target))
    }

    /// Returns the name of a record's further source, empty for the entity's own bridge; nil if it is not known.
    private func sourceName(of record: QuarantinedRecord, _ entity: Entity) -> String? {
        if let source = record.source { return source }
        let own = entity.bridge == record.bridge ? [""] : []
        let names = own + entity.sources.filter { $0.bridge == record.bridge }.map(\.name)
        return names.count == 1 ? names[0] : nil
    }

    /// Returns the parts of a key that is written as a JSON array.
    private static func texts(ofKey text: String) -> [String] {
        guard let batch = try? JSONParser.batch(text) else { return [] }
        return withExtendedLifetime(batch) {
            batch[0].elements.map { $0.text ?? $0.integer.map(String.init) ?? $0.json }
        }
    }

    /// Returns what a later run has done with a quarantined record's object; nil if the record may be the newest.
    func laterChange(
        of index: Int, _ key: [StoredValue], than quarantined: QuarantineEntry, in store: any Store
    ) throws -> String? {
        let record = quarantined.record
        let history = try store.history(of: index, key: key)
        let layout = model.entities[index]
        // An edit that was dropped or undone never reached the remote.
        let lastEdit = history.events.last { ["edit", "drop", "undo"].contains($0.kind) }
        let isAccepted = try lastEdit?.kind == "edit" && store.outbox(entity: layout.name, key: key).isEmpty
        // A record whose key is known leaves the quarantine when a newer one is imported, but not when only changes are. The
        // history does not say which source a change came from.
        let mayBeImported = record.key != JSONText.key(key).string || model.model.entities[index].sources.isEmpty
        for event in history.events where event.started > quarantined.lastSeen {
            // What a user does with records and runs says nothing about the remote.
            guard event.kind != "retry", event.kind != "undo" else { continue }
            // An edit that waits meets the record like one of a sync; one that the remote has is newer than the record.
            if event.kind == "edit", isAccepted {
                return "run \(event.run) has edited its object since, and the remote has the edit"
            }
            if event.change.isDeletion(in: layout) {
                return "run \(event.run) has deleted its object since; \(Self.remedy)"
            }
            guard mayBeImported, event.change.bridge == record.bridge, event.change.scan == record.entity else {
                continue
            }
            if event.change.kind != .loaded || history.values != nil && !history.isStub && history.isListed {
                return "run \(event.run) has imported a newer record of its object"
            }
        }
        return nil
    }
}

extension QuarantineEntry {
    /// What the records of one object from one source have in common; the record's own ID if the object is not known.
    var objectName: [String] {
        guard let key = record.key else { return [String(id)] }
        return [record.entity, record.source ?? "", key]
    }
}

extension RowChange {
    /// Returns whether the object was deleted, even if a stub remains of it.
    fileprivate func isDeletion(in layout: EntityLayout) -> Bool {
        // The removal of a stub has no values but the key.
        let key = layout.key.map { layout.fields[$0].name }
        return kind == .deleted || kind == .stubbed && columns.contains { $0.old != nil && !key.contains($0.name) }
    }
}
