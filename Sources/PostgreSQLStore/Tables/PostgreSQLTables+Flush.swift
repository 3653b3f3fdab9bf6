internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The statements that write what the transaction has changed.
///
/// They run in an order in which each reference's target exists when the reference is written, so that foreign keys need
/// not be deferred.
extension PostgreSQLTables {
    /// A row that is written with the flush.
    private struct WrittenRow {
        let number: Int64
        let key: RowKey
        let encoded: [[UInt8]?]
    }

    /// The number of rows written by one statement.
    static let rowsPerStatement = 10_000

    /// Writes everything.
    ///
    /// - Parameter isLast: Whether the transaction writes nothing afterwards. Deletions wait for that where the server
    ///   checks foreign keys at once: what still refers to the row may be about to change.
    func flush(isLast: Bool = false) throws {
        try flushRows(isLast: isLast)
        try flushStubs()
        try flushSources()
        try flushChanges()
        try flushOutbox()
    }

    /// Writes the rows and links if a table's rows have changed.
    func flush(_ root: Int) throws {
        if dirtyRows[root]?.isEmpty == false || newRows[root] != nil { try flushRows(isLast: false) }
    }

    // MARK: - Rows and links

    private func flushRows(isLast: Bool) throws {
        guard !dirtyLists.isEmpty || !newRows.isEmpty || dirtyRows.contains(where: { !$0.value.isEmpty }) else {
            return
        }
        noteWritten()
        var written: [Int: [WrittenRow]] = [:]
        var deleted: [Int: [RowKey]] = [:]
        for (root, keys) in dirtyRows {
            var found: [WrittenRow] = []
            for key in keys {
                guard let row = rows[root]?[key], row.isDirty else { continue }
                if let encoded = row.encoded {
                    found.append(WrittenRow(number: row.number, key: key, encoded: encoded))
                } else {
                    deleted[root, default: []].append(key)
                }
            }
            // In the order of their numbers, so that the table's order is that of the listing.
            if !found.isEmpty { written[root] = found.sorted { $0.number < $1.number } }
        }
        for root in sql.order { try insertTargets(of: root, written) }
        for root in sql.order {
            try insertNewRows(root)
            for portion in portions(written[root] ?? []) { try upsert(root, portion) }
        }
        try flushLinks()
        guard isLast || sql.engine.foreignKeys != .immediate else {
            dirtyRows = deleted.mapValues { Set($0) }
            return
        }
        for root in sql.order { try clearReferences(of: root, deleted[root] ?? []) }
        for root in sql.order { try removeUnusedReferences(to: root, deleted[root] ?? []) }
        for root in sql.order.reversed() { try delete(root, deleted[root] ?? []) }
        dirtyRows = [:]
    }

    /// Returns whether a row is deleted that the database still has.
    func isErased(_ root: Int, _ key: RowKey) -> Bool {
        rows[root]?[key].map { $0.isStored && $0.isDirty && $0.values == nil } ?? false
    }

    /// Returns the number of such rows.
    func erasedCount(_ root: Int) -> Int { (dirtyRows[root] ?? []).count { isErased(root, $0) } }

    /// Divides rows into statements that are neither too long for the engine nor for the server's memory.
    private func portions(_ rows: [WrittenRow]) -> [ArraySlice<WrittenRow>] {
        var portions: [ArraySlice<WrittenRow>] = []
        var (start, bytes) = (0, 0)
        for (index, row) in rows.enumerated() {
            let size = row.encoded.reduce(8) { $0 + 4 + ($1?.count ?? 0) }
            if index > start, bytes + size > sql.engine.longestStatement || index - start == Self.rowsPerStatement {
                portions.append(rows[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        if start < rows.count { portions.append(rows[start...]) }
        return portions
    }

    private func number(_ root: Int, _ key: RowKey) -> Int64 { rows[root]?[key]?.number ?? 0 }

    /// Inserts bare rows for new objects that rows written before them refer to.
    private func insertTargets(of root: Int, _ written: [Int: [WrittenRow]]) throws {
        guard let written = written[root], !written.isEmpty else { return }
        var relationships = sql.forwardReferences(of: root)
        if written.count > Self.rowsPerStatement {
            relationships += model.entities[root].toOne.filter { model.entities[$0.target].root == root }
        }
        for toOne in relationships {
            let target = model.entities[toOne.target].root
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            let wanted = Set(written.compactMap { rows[root]?[$0.key]?.values.map { Array($0[fields]) } })
            let new = wanted.filter { key in
                rows[target]?[key].map { $0.isDirty && !$0.isStored && $0.values != nil } ?? false
            }
            guard !new.isEmpty else { continue }
            try insertBare(target, new.sorted { number(target, $0) < number(target, $1) })
        }
    }

    private func insertBare(_ root: Int, _ keys: [RowKey]) throws {
        let table = try table(root)
        let layout = table.layout
        let fields = Set(layout.key + [layout.discriminator].compactMap { $0 }).sorted()
        let columns = fields.map { Identifier.quoted(layout.fields[$0].name) }
        let codecs = fields.map { table.codecs[$0] }
        var parameters: [SQLParameter] = []
        if !table.isNumbered { parameters.append(.bigints(keys.map { number(root, $0) })) }
        let encoded = keys.compactMap { rows[root]?[$0]?.encoded }
        for (field, codec) in zip(fields, codecs) {
            parameters.append(.array(of: codec.sqlType.transferred, encoded.map { $0[field] }))
        }
        let names = (table.isNumbered ? [] : [RowTableSQL.numberColumn]) + columns
        let types = (table.isNumbered ? [] : [SQLType.bigint]) + codecs.map(\.sqlType)
        let arrays = types.enumerated().map { $1.arrayParameter($0 + 1) }.joined(separator: ", ")
        try connection.send(
            "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) SELECT * FROM unnest(\(arrays))",
            parameters, for: "inserting rows of \(name(root))")
        for key in keys { rows[root]?[key]?.isStored = true }
    }

    private func upsert(_ root: Int, _ written: ArraySlice<WrittenRow>) throws {
        let table = try table(root)
        var parameters: [SQLParameter] = []
        if !table.isNumbered { parameters.append(.bigints(written.map(\.number))) }
        for (field, codec) in table.codecs.enumerated() {
            parameters.append(.array(of: codec.sqlType.transferred, written.lazy.map { $0.encoded[field] }))
        }
        var added = 0
        for row in written {
            if rows[root]?[row.key]?.isStored == false { added += 1 }
            rows[root]?[row.key]?.noteStored()
        }
        try connection.send(
            added == written.count ? table.insert : table.upsert, parameters, for: "writing rows of \(name(root))")
    }

    /// Clears the references of rows to be deleted whose targets are deleted before them.
    private func clearReferences(of root: Int, _ keys: [RowKey]) throws {
        guard !keys.isEmpty else { return }
        let table = try table(root)
        for toOne in sql.forwardReferences(of: root) {
            guard let parameters = table.parameters(keys) else { return }
            let names = (0..<toOne.fieldCount).map {
                "\(Identifier.quoted(table.layout.fields[toOne.firstField + $0].name)) = NULL"
            }
            let statement = table.delete.replacing("DELETE FROM \(table.name) t USING ", with: "")
            try connection.send(
                "UPDATE \(table.name) t SET \(names.joined(separator: ", ")) FROM \(statement)", parameters,
                for: "deleting rows of \(name(root))")
        }
    }

    private func removeUnusedReferences(to root: Int, _ keys: [RowKey]) throws {
        guard !keys.isEmpty, let parameters = try table(root).parameters(keys) else { return }
        for statement in try sql.unusedReferences.statements(to: root, sql, over: connection) {
            try connection.send(statement, parameters, for: "removing unused references to \(name(root))")
        }
    }

    private func delete(_ root: Int, _ keys: [RowKey]) throws {
        guard !keys.isEmpty, let parameters = try table(root).parameters(keys) else { return }
        try connection.send(try table(root).delete, parameters, for: "deleting rows of \(name(root))")
        for key in keys {
            rows[root]?[key]?.isStored = false
            rows[root]?[key]?.isDirty = false
        }
    }

    private func flushLinks() throws {
        for (table, names) in Dictionary(grouping: dirtyLists, by: \.table).sorted(by: { $0.key < $1.key }) {
            let links = try linkTable(table)
            var removed: [RowKey] = []
            var added: [RowKey] = []
            for name in names {
                guard var list = lists[name] else { continue }
                for position in list.dirty.sorted() {
                    if let target = list.targets[position] {
                        added.append(name.key + [.integer(position)] + target)
                        list.stored.insert(position)
                    } else if list.stored.remove(position) != nil {
                        removed.append(name.key + [.integer(position)])
                    }
                }
                list.dirty = []
                lists[name] = list
            }
            let position = ValueCodec(.integer)
            if let parameters = RowTableSQL.parameters(removed, links.sourceCodecs + [position]) {
                try connection.send(links.delete, parameters, for: "deleting links of \(table)")
            }
            let codecs = links.sourceCodecs + [position] + links.targetCodecs
            if let parameters = RowTableSQL.parameters(added, codecs) {
                try connection.send(links.upsert, parameters, for: "writing links of \(table)")
            }
        }
        dirtyLists = []
    }

    // MARK: - Stubs and sources

    private func flushStubs() throws {
        guard !dirtyStubs.isEmpty else { return }
        noteWritten()
        for (root, references) in Dictionary(grouping: dirtyStubs, by: \.root).sorted(by: { $0.key < $1.key }) {
            let (added, removed) = references.reduce(into: ([String](), [String]())) { lists, reference in
                let text = JSONText.key(reference.key).string
                if stubs[root]?[reference.key] == true { lists.0.append(text) } else { lists.1.append(text) }
            }
            if !added.isEmpty {
                try connection.send(
                    """
                    INSERT INTO \(sql.own("bmo_stubs")) SELECT $1::text, * FROM unnest($2::text[]) ON CONFLICT DO NOTHING
                    """, [.text(name(root)), .texts(added)], for: "recording stubs of \(name(root))")
                // Later questions of this transaction read them.
                hasStubs.insert(root)
            }
            if !removed.isEmpty {
                try connection.send(
                    "DELETE FROM \(sql.own("bmo_stubs")) WHERE entity = $1::text AND key = ANY($2::text[])",
                    [.text(name(root)), .texts(removed)], for: "removing stubs of \(name(root))")
            }
        }
        dirtyStubs = []
    }

    private func flushSources() throws {
        if !newSourceScans.isEmpty {
            noteWritten()
            try connection.send(
                """
                INSERT INTO \(sql.own("bmo_source_scans")) SELECT * FROM unnest($1::text[], $2::text[])
                ON CONFLICT DO NOTHING
                """, [.texts(newSourceScans.map { $0[0] }), .texts(newSourceScans.map { $0[1] })],
                for: "recording the sources of entities")
            newSourceScans = []
        }
        guard !dirtySources.isEmpty else { return }
        noteWritten()
        let dirty = dirtySources.map { (name($0.root), JSONText.key($0.key).string, sources[$0] ?? []) }
        try connection.send(
            """
            DELETE FROM \(sql.own("bmo_sources")) t USING unnest($1::text[], $2::text[]) AS u(e, k)
            WHERE t.entity = u.e AND t.key = u.k
            """, [.texts(dirty.map(\.0)), .texts(dirty.map(\.1))], for: "writing the sources of rows")
        let records = dirty.flatMap { entity, key, records in
            records.enumerated().map { (entity, key, Int64($0), $1) }
        }
        for (root, key) in dirtySources.map({ ($0.root, $0.key) })
        where !(sources[RowReference(root: root, key: key)] ?? []).isEmpty {
            hasSources.insert(root)
        }
        dirtySources = []
        guard !records.isEmpty else { return }
        try connection.send(
            """
            INSERT INTO \(sql.own("bmo_sources"))
                (entity, key, ord, bridge, scan, columns, first_run, last_run, location, is_listed)
            SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                $7::bigint[], $8::bigint[], $9::text[], $10::boolean[])
            """,
            [
                .texts(records.map(\.0)), .texts(records.map(\.1)), .bigints(records.map(\.2)),
                .texts(records.map(\.3.bridge)), .texts(records.map(\.3.scan)),
                .texts(records.map { JSONText.key($0.3.columns.sorted().map { StoredValue.text($0) }).string }),
                .array(of: .bigint, records.map { $0.3.firstRun?.bigEndianBytes }),
                .array(of: .bigint, records.map { $0.3.lastRun?.bigEndianBytes }),
                .optionalTexts(records.map(\.3.location)),
                .array(of: .boolean, records.map { [$0.3.isListed ? 1 : 0] }),
            ], for: "writing the sources of rows")
    }
}

extension Array {
    /// Returns consecutive parts of at most `count` elements.
    func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
