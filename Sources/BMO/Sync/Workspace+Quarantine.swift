internal import Importer
public import Mapping
internal import Model
internal import RecordBatch
public import StoreContract

/// The result of retrying quarantined records.
public struct RetryReport: Sendable {
    /// A record that stays in quarantine.
    public struct Kept: Sendable {
        /// The record.
        public var record: QuarantineEntry
        /// The reason.
        public var reason: String
    }

    /// The records that were imported and have left the quarantine.
    public var imported: [QuarantineEntry] = []
    /// The records that stay in quarantine.
    public var kept: [Kept] = []
    /// The number of the run; nil when nothing was imported.
    public var run: Int64?
}

extension Workspace {
    /// Imports quarantined records again, using the current mapping.
    ///
    /// Records that fit leave the quarantine, each in its own transaction. A record stays if a later run has imported or
    /// deleted its object, or if a newer record of its object is in quarantine, too. Bridges are not called.
    ///
    /// - Parameters:
    ///   - entity: Limits the retry to this entity's records.
    ///   - store: The database, with the file lock: see ``openLockedStore(command:timeout:rehearsing:onWait:)``.
    /// - Throws: `StoreError`; records imported before the error stay imported.
    public func retryQuarantine(of entity: String? = nil, in store: any Store) throws -> RetryReport {
        var report = RetryReport()
        try store.beginRun(kind: "retry")
        do {
            let records = try store.quarantined(entity: entity)
            let newest = Self.newest(of: records)
            var imported: Set<[String]> = []
            for record in records where newest[record.objectName] ?? record.id == record.id {
                if let reason = try retry(record, in: store) {
                    report.kept.append(RetryReport.Kept(record: record, reason: reason))
                } else {
                    report.imported.append(record)
                    imported.insert(record.objectName)
                }
            }
            // The import of the newest record has released the others.
            for record in records where !imported.contains(record.objectName) {
                guard let id = newest[record.objectName], id != record.id else { continue }
                report.kept.append(
                    RetryReport.Kept(record: record, reason: "record \(id) of the same object is newer"))
            }
            report.kept.sort { $0.record.id < $1.record.id }
        } catch {
            _ = try? store.endRun(outcome: "failed", summary: nil, always: false, keeping: configuration.history)
            throw error
        }
        report.run = try store.endRun(
            outcome: "finished", summary: nil, always: !report.imported.isEmpty, keeping: configuration.history)
        return report
    }

    /// Returns the ID of the record that was seen last, for each object whose key is known.
    private static func newest(of records: [QuarantineEntry]) -> [[String]: Int64] {
        var newest: [[String]: QuarantineEntry] = [:]
        for record in records where record.record.key != nil {
            if let known = newest[record.objectName], known.lastSeen > record.lastSeen { continue }
            newest[record.objectName] = record
        }
        return newest.mapValues(\.id)
    }

    /// Returns why the record stays; nil when it was imported.
    private func retry(_ quarantined: QuarantineEntry, in store: any Store) throws -> String? {
        let record = quarantined.record
        guard let index = model.index(of: record.entity) else { return "the configuration has no \(record.entity)" }
        if let size = record.cutFrom {
            return "only the beginning of its \(size) bytes was kept; a sync fetches it again"
        }
        if record.isRow {
            return "it is a row from before `bmo migrate`, with local values; "
                + "the next full sync brings the object again"
        }
        let batch: RecordBatch
        do {
            batch = try JSONParser.batch(record.representation)
        } catch {
            return "the bridge could not represent it as a record; a sync fetches it again"
        }
        let scan: RecordScan
        switch try recordScan(of: record, index, in: store) {
        case .success(let found): scan = found
        case .failure(let refusal): return refusal.reason
        }
        let mapper = Mapper(model)
        let mapped = MappedBatch(batch, by: mapper, as: scan.plan, parent: scan.parentKey)
        if let reason = mapped.firstRejection { return reason }
        if batch.count == 1, let key = mapper.key(of: batch[0], as: scan.plan, parent: scan.parentKey),
            let reason = try laterChange(of: index, key, than: quarantined, in: store)
        {
            return reason
        }
        var origin = PageImport.Origin(bridge: record.bridge, page: record.page, scan: scan.target)
        (origin.source, origin.parent) = (scan.source, record.parent)
        let page = try PageImport(index, of: model, from: origin, into: store)
        do {
            if record.reason.hasPrefix(PageImport.deletion) {
                try page.delete(mapped, location: record.location)
            } else {
                try page.add(mapped, location: record.location)
            }
            if let reason = page.refusal {
                page.rollback()
                return reason
            }
            try store.removeQuarantined(quarantined.id)
            try page.commitKeepingProgress()
        } catch {
            page.rollback()
            throw error
        }
        return nil
    }

    /// Returns a row's origin and changes, and the quarantined records that seem to belong to it.
    ///
    /// - Throws: `StoreError`.
    public func history(of entity: Int, key: [StoredValue], in store: any Store) throws -> RowHistory {
        var history = try store.history(of: entity, key: key)
        let wanted = key.map(\.description)
        let attributes = model.model.entities[entity].keyAttributes
        history.quarantined = try store.quarantined(entity: history.entity).filter { quarantined in
            guard let batch = try? JSONParser.batch(quarantined.record.representation), batch.count == 1 else {
                return false
            }
            return withExtendedLifetime(batch) {
                let isRow = quarantined.record.isRow
                return attributes.map { isRow ? Self.text(batch[0][$0.name]) : Self.text(of: $0, in: batch[0]) }
                    == wanted
            }
        }
        return history
    }

    /// Returns a record's value at an attribute's path, before any transformer.
    private static func text(of attribute: Attribute, in record: BatchValue) -> String? {
        guard case .path(let path) = attribute.source else { return nil }
        var value: BatchValue? = record
        for name in path.components { value = value?[name] }
        return text(value)
    }

    private static func text(_ value: BatchValue?) -> String? {
        guard let value else { return nil }
        return value.text ?? value.integer.map(String.init)
    }
}
