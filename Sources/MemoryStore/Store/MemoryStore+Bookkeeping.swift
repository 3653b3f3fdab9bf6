public import Mapping
internal import RecordBatch
public import StoreContract
internal import StoreRules

/// Status, quarantine, and fields that nothing reads.
extension MemoryStore {
    /// Returns the status of each entity of the model.
    public func status() throws -> [EntityStatus] {
        let tables = try read()
        return try model.entities.map { layout in try status(of: layout, tables) }
    }

    private func status(of layout: EntityLayout, _ tables: MemoryTables) throws -> EntityStatus {
        let state = tables.state
        let filter = try RowFilter(layout)
        var rows = 0
        try tables.forEachRow(of: layout.root) { _, key, values in
            if filter.contains(values), !tables.isStub(layout.root, key) { rows += 1 }
        }
        let lastRun = state.changes.last { $0.entity == layout.name }?.run
        let interrupted = state.scans.filter { $0.key.entity == layout.name }.map(\.value.scan)
            .max { $0.saved < $1.saved }
        return EntityStatus(
            name: layout.name, rows: rows,
            stubs: layout.index == layout.root ? tables.stubs(of: layout.index).count : 0,
            quarantined: state.quarantine.count { $0.record.entity == layout.name }, lastRun: lastRun,
            lastChanged: state.runs.last { $0.id == lastRun }?.started,
            interrupted: interrupted.map { scan in
                EntityStatus.Scan(
                    page: scan.progress.page, saved: scan.saved, isFresh: scan.saved > Clock.text(secondsAgo: 3600))
            }, cursors: cursors(of: layout.name, state))
    }

    private func cursors(of entity: String, _ state: DatabaseState) -> [String] {
        let own = state.cursors.filter { $0.key.entity == entity }
        return Dictionary(grouping: own, by: \.key.source).sorted { $0.key < $1.key }.map { source, cursors in
            let newest = cursors.compactMap(\.value.cursor.newest?.local).max { ValueOrder.compare($0, $1) < 0 }
            let saved = cursors.map(\.value.saved).max() ?? ""
            let hasToken = cursors.contains { $0.value.cursor.token != nil }
            let from =
                newest.map { "what is newer than \($0)" } ?? (hasToken ? "what changed since \(saved)" : "all")
            let parts = [
                "the next scan" + (source.isEmpty ? "" : " of \(source)") + " asks for \(from)",
                cursors.count > 1 ? "by \(cursors.count) parents" : nil,
                "it was last fetched in full at \(cursors.map(\.value.cursor.fullAt).max() ?? "")",
            ]
            return parts.compactMap { $0 }.joined(separator: "; ")
        }
    }

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    public func stubs(of entity: String) throws -> [String] {
        guard let index = model.index(of: entity), model.entities[index].root == index else { return [] }
        return try read().stubs(of: index).map { ExactText(JSONText.key($0).string) }
            .sorted().map(\.string)
    }

    /// Returns the quarantined records, oldest first.
    public func quarantined(entity: String?) throws -> [QuarantineEntry] {
        try snapshot().quarantine.filter { entity == nil || $0.record.entity == entity }
    }

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    public func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        guard !instant.isEmpty else { return 0 }
        return try snapshot().quarantine.count { $0.record.entity == entity && $0.lastSeen >= instant }
    }

    /// Removes a record from quarantine, as part of the open page.
    public func removeQuarantined(_ id: Int64) throws {
        try keepBooks { $0.state.quarantine.removeAll { $0.id == id } }
    }

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    public func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool
    ) throws {
        let released = try snapshot().quarantine.filter { entry in
            entry.record.entity == entity && entry.lastSeen < instant
                && isListed((entry.record.representation, entry.record.cutFrom))
        }.map(\.id)
        guard !released.isEmpty else { return }
        try keepBooks { $0.state.quarantine.removeAll { released.contains($0.id) } }
    }

    /// Returns the fields of remote records that nothing reads, by entity and path.
    public func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        try snapshot().unknownFields.sorted { $0.key < $1.key }.flatMap { entity, paths in
            paths.filter { $0.value >= instant }.keys.sorted().map {
                UnknownFieldRecord(entity: entity, path: $0.string)
            }
        }
    }

    /// Returns the values in the column of unknown fields that are not null; empty if the entity has no such column.
    public func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        guard let field = layout.extra else { return [] }
        var values: [ExtraValue] = []
        try read().forEachRow(of: layout.root) { _, _, row in
            guard values.count < limit, case .text(let text) = row[field].form else { return }
            let batch = try JSONParser.batch(text)
            withExtendedLifetime(batch) {
                for (name, value) in batch[0].members where value.tag != .null {
                    values.append(ExtraValue(name: name, value))
                }
            }
        }
        return Array(values.prefix(limit))
    }
}

extension ExtraValue {
    /// Creates a value with the type's name that SQL's JSON functions give it.
    fileprivate init(name: String, _ value: BatchValue) {
        switch value.tag {
        case .array: self.init(name: name, type: "array")
        case .object: self.init(name: name, type: "object")
        case .bool: self.init(name: name, type: value.bool ? "true" : "false", text: value.bool ? "1" : "0")
        case .int64: self.init(name: name, type: "integer", text: String(value.int64))
        case .decimal, .double: self.init(name: name, type: "real", text: value.json)
        default: self.init(name: name, type: "text", text: value.string)
        }
    }
}
