internal import Mapping
internal import StoreContract
internal import StoreRules

/// Stubs, and the sources of rows.
extension PostgreSQLTables {
    /// The number of an entity's stubs that are read at once.
    private static let mostStubs = 20_000

    /// Reads which rows are stubs, and their sources.
    func prefetchState(_ root: Int, _ keys: some Sequence<RowKey>) throws {
        guard hasStubs.contains(root) || hasSources.contains(root) else { return }
        let keys = Set(keys)
        if hasStubs.contains(root), !completeStubs.contains(root) {
            let wanted = keys.filter { stubs[root]?[$0] == nil }
            try readStubs(root, wanted)
        }
        if hasSources.contains(root) {
            try readSources(root, keys.filter { sources[RowReference(root: root, key: $0)] == nil })
        }
    }

    private func readStubs(_ root: Int, _ keys: Set<RowKey>) throws {
        guard !keys.isEmpty else { return }
        for key in keys { stubs[root, default: [:]][key] = false }
        let result = try connection.query(
            "SELECT key FROM \(sql.own("bmo_stubs")) WHERE entity = $1::text AND key = ANY($2::text[])",
            [.text(name(root)), .texts(keys.map { JSONText.key($0).string })], for: "reading stubs of \(name(root))")
        for row in 0..<result.count {
            if let key = rowKey(result, row, of: root) { stubs[root]?[key] = true }
        }
    }

    func stubs(of root: Int) throws -> [RowKey] {
        try flush()
        let result = try connection.query(
            "SELECT key FROM \(sql.own("bmo_stubs")) WHERE entity = $1::text ORDER BY key", [.text(name(root))],
            for: "reading the stubs of \(name(root))")
        return (0..<result.count).compactMap { rowKey(result, $0, of: root) }
    }

    /// The key that the first column holds as JSON.
    ///
    /// A String cannot stand for it where keys are compared: to Swift, composed and decomposed letters are equal.
    private func rowKey(_ result: QueryResult, _ row: Int, of root: Int) -> RowKey? {
        result.text(row, 0).flatMap { model.entities[root].key(from: $0) }
    }

    func isStub(_ root: Int, _ key: RowKey) throws -> Bool {
        if let known = stubs[root]?[key] { return known }
        guard hasStubs.contains(root), !completeStubs.contains(root) else { return false }
        // A single question is often the first of many.
        let result = try connection.query(
            "SELECT key FROM \(sql.own("bmo_stubs")) WHERE entity = $1::text LIMIT \(Self.mostStubs + 1)",
            [.text(name(root))], for: "reading the stubs of \(name(root))")
        guard result.count <= Self.mostStubs else {
            try readStubs(root, [key])
            return stubs[root]?[key] ?? false
        }
        for row in 0..<result.count {
            guard let stub = rowKey(result, row, of: root) else { continue }
            if stubs[root]?[stub] == nil { stubs[root, default: [:]][stub] = true }
        }
        completeStubs.insert(root)
        return stubs[root]?[key] ?? false
    }

    func setStub(_ root: Int, _ key: RowKey, _ isStub: Bool) throws -> Bool {
        guard try self.isStub(root, key) != isStub else { return false }
        stubs[root, default: [:]][key] = isStub
        dirtyStubs.insert(RowReference(root: root, key: key))
        return true
    }

    // MARK: - Sources

    private func readSources(_ root: Int, _ keys: Set<RowKey>) throws {
        guard !keys.isEmpty else { return }
        for key in keys { sources[RowReference(root: root, key: key)] = [] }
        let result = try connection.query(
            """
            SELECT key, bridge, scan, columns, first_run, last_run, location, is_listed FROM \(sql.own("bmo_sources"))
            WHERE entity = $1::text AND key = ANY($2::text[]) ORDER BY key, ord
            """, [.text(name(root)), .texts(keys.map { JSONText.key($0).string })],
            for: "reading the sources of \(name(root))")
        for row in 0..<result.count {
            guard let key = rowKey(result, row, of: root) else { continue }
            let columns = JSONText.parts(of: result.text(row, 3) ?? "[]") ?? []
            sources[RowReference(root: root, key: key), default: []].append(
                ProvenanceRecord(
                    bridge: result.text(row, 1) ?? "", scan: result.text(row, 2) ?? "",
                    columns: Set(columns.map(\.description)), firstRun: result.bigint(row, 4),
                    lastRun: result.bigint(row, 5), location: result.text(row, 6), isListed: result.boolean(row, 7)))
        }
    }

    func provenance(_ root: Int, _ key: RowKey) throws -> [ProvenanceRecord] {
        let name = RowReference(root: root, key: key)
        if let known = sources[name] { return known }
        guard hasSources.contains(root) else { return [] }
        try readSources(root, [key])
        return sources[name] ?? []
    }

    func setProvenance(_ root: Int, _ key: RowKey, _ records: [ProvenanceRecord]) throws {
        let name = RowReference(root: root, key: key)
        guard try provenance(root, key) != records else { return }
        sources[name] = records
        dirtySources.insert(name)
        for scan in Set(records.map(\.scan)) { newSourceScans.insert([self.name(root), scan]) }
    }

    func forgetProvenance(of root: Int) throws {
        sources = sources.filter { $0.key.root != root }
        dirtySources = dirtySources.filter { $0.root != root }
        guard hasSources.remove(root) != nil else { return }
        try connection.query(
            "DELETE FROM \(sql.own("bmo_sources")) WHERE entity = $1::text", [.text(name(root))],
            for: "deleting the sources of \(name(root))")
        noteWritten()
    }

    func sourceScans(of entity: String) throws -> Set<String> {
        let result = try connection.query(
            "SELECT scan FROM \(sql.own("bmo_source_scans")) WHERE entity = $1::text", [.text(entity)],
            for: "reading the sources of \(entity)")
        let unsaved = newSourceScans.filter { $0[0] == entity }.map { $0[1] }
        return Set((0..<result.count).compactMap { result.text($0, 0) } + unsaved)
    }
}
