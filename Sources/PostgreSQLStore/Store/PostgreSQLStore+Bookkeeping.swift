public import Mapping
internal import RecordBatch
public import StoreContract
internal import StoreRules

/// Status, quarantine, and fields that nothing reads.
extension PostgreSQLStore {
    /// Returns the status of each entity of the model.
    public func status() throws -> [EntityStatus] {
        try read { tables in try model.entities.map { try status(of: $0, tables) } }
    }

    private func status(of layout: EntityLayout, _ tables: PostgreSQLTables) throws -> EntityStatus {
        let table = try tables.table(layout.root)
        var condition = SQLCondition(layout, table)
        try condition.addKinds()
        var rows =
            try tables.connection.query(
                "SELECT count(*) FROM \(table.name) t WHERE \(condition.text)", condition.parameters,
                for: "counting rows of \(layout.name)"
            ).bigint(0, 0) ?? 0
        let keys = try tables.stubs(of: layout.root)
        try tables.prefetch(layout.root, keys)
        for key in keys { if let row = try tables.row(layout.root, key), layout.contains(row) { rows -= 1 } }
        let own = try tables.connection.query(
            """
            SELECT (SELECT count(*) FROM \(sql.own("bmo_quarantine")) WHERE entity = $1::text),
                (SELECT max(run) FROM \(sql.own("bmo_changes")) WHERE entity = $1)
            """, [.text(layout.name)], for: "reading the status of \(layout.name)")
        let lastRun = own.bigint(0, 1)
        let run = try lastRun.flatMap { try tables.runs(where: "id = $1::bigint", [.bigint($0)]).first }
        let interrupted = try tables.connection.query(
            """
            SELECT page, saved FROM \(sql.own("bmo_progress")) WHERE entity = $1::text ORDER BY saved DESC LIMIT 1
            """, [.text(layout.name)], for: "reading the scans of \(layout.name)")
        return EntityStatus(
            name: layout.name, rows: Int(rows), stubs: layout.index == layout.root ? keys.count : 0,
            quarantined: Int(own.bigint(0, 0) ?? 0), lastRun: lastRun, lastChanged: run?.started,
            interrupted: interrupted.count == 0
                ? nil
                : EntityStatus.Scan(
                    page: Int(interrupted.bigint(0, 0) ?? 0), saved: interrupted.text(0, 1) ?? "",
                    isFresh: (interrupted.text(0, 1) ?? "") > Clock.text(secondsAgo: 3600)),
            cursors: try cursors(of: layout.name, tables))
    }

    private func cursors(of entity: String, _ tables: PostgreSQLTables) throws -> [String] {
        let result = try tables.connection.query(
            """
            SELECT source, newest, token IS NOT NULL, saved, full_at FROM \(sql.own("bmo_cursors"))
            WHERE entity = $1::text ORDER BY source
            """, [.text(entity)], for: "reading the cursors of \(entity)")
        return Dictionary(grouping: 0..<result.count, by: { result.text($0, 0) ?? "" }).sorted { $0.key < $1.key }
            .map { source, rows in
                let values = rows.compactMap { result.text($0, 1).flatMap(StoredValue.init(json:)) }
                let newest = values.reduce(nil as StoredValue?) { newest, value in
                    newest.map { Watermark.isNewer(value, than: $0) ? value : $0 } ?? value
                }
                let saved = rows.compactMap { result.text($0, 3) }.max() ?? ""
                let hasToken = rows.contains { result.boolean($0, 2) }
                let from =
                    newest.map { "what is newer than \($0)" } ?? (hasToken ? "what changed since \(saved)" : "all")
                let parts = [
                    "the next scan" + (source.isEmpty ? "" : " of \(source)") + " asks for \(from)",
                    rows.count > 1 ? "by \(rows.count) parents" : nil,
                    "it was last fetched in full at \(rows.compactMap { result.text($0, 4) }.max() ?? "")",
                ]
                return parts.compactMap { $0 }.joined(separator: "; ")
            }
    }

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    public func stubs(of entity: String) throws -> [String] {
        guard let index = model.index(of: entity), model.entities[index].root == index else { return [] }
        return try read { try $0.stubs(of: index) }.map { ExactText(JSONText.key($0).string) }
            .sorted().map(\.string)
    }

    /// Returns the quarantined records, oldest first.
    public func quarantined(entity: String?) throws -> [QuarantineEntry] {
        try read { try $0.quarantined(where: "$1::text IS NULL OR entity = $1", [.text(entity)]) }
    }

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    public func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        guard !instant.isEmpty else { return 0 }
        return try read { tables in
            try tables.quarantined(
                where: "entity = $1::text AND last_seen >= $2::text", [.text(entity), .text(instant)]
            ).count
        }
    }

    /// Removes a record from quarantine, as part of the open page.
    public func removeQuarantined(_ id: Int64) throws { try keepBooks { try $0.release([id]) } }

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    public func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool
    ) throws {
        let old = try read { tables in
            try tables.quarantined(
                where: "entity = $1::text AND last_seen < $2::text", [.text(entity), .text(instant)])
        }
        let released = old.filter { isListed(($0.record.representation, $0.record.cutFrom)) }.map(\.id)
        guard !released.isEmpty else { return }
        try keepBooks { try $0.release(released) }
    }

    /// Returns the fields of remote records that nothing reads, by entity and path.
    public func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        try read { tables in
            let result = try tables.connection.query(
                """
                SELECT entity, path FROM \(sql.own("bmo_unknown_fields")) WHERE seen >= $1::text ORDER BY entity, path
                """, [.text(instant)], for: "reading fields that nothing reads")
            return (0..<result.count).map {
                UnknownFieldRecord(entity: result.text($0, 0) ?? "", path: result.text($0, 1) ?? "")
            }
        }
    }

    /// Returns the values in the column of unknown fields that are not null; empty if the entity has no such column.
    public func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        guard let field = layout.extra else { return [] }
        return try read { tables in
            let table = try tables.table(layout.root)
            let column = "t." + Identifier.quoted(layout.fields[field].name)
            // Each text has at least one member; some may be null.
            let result = try tables.connection.query(
                "SELECT \(column) FROM \(table.name) t WHERE \(column) IS NOT NULL ORDER BY t.\(table.numberName) LIMIT $1::bigint",
                [.bigint(Int64(limit))], for: "reading fields that nothing reads")
            var values: [ExtraValue] = []
            for row in 0..<result.count where values.count < limit {
                let batch = try JSONParser.batch(result.text(row, 0) ?? "{}")
                withExtendedLifetime(batch) {
                    for (name, value) in batch[0].members where value.tag != .null {
                        values.append(ExtraValue(name: name, value))
                    }
                }
            }
            return Array(values.prefix(limit))
        }
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
