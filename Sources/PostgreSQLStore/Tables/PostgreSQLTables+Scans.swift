internal import Mapping
internal import StoreContract
internal import StoreRules

/// The bookkeeping of scans.
extension PostgreSQLTables {
    private static let scope = "entity = $1::text AND source = $2::text AND parent = $3::text"
    /// The scopes of one scan, which differ in the parent only.
    private static let scopes = "entity = $1::text AND source = $2::text AND parent = ANY($3::text[])"

    private func parameters(_ scope: ScanScope) -> [SQLParameter] {
        [.text(scope.entity), .text(scope.source), .text(scope.parent)]
    }

    private func parameters(_ scopes: [ScanScope]) -> [SQLParameter] {
        [.text(scopes.first?.entity), .text(scopes.first?.source), .texts(scopes.map(\.parent))]
    }

    func prefetchCursors(of scopes: [ScanScope]) throws {
        for (scope, cursor) in zip(scopes, try cursors(of: scopes)) { knownCursors[scope] = .some(cursor) }
    }

    func cursor(of scope: ScanScope) throws -> ScanCursor? {
        if let known = knownCursors[scope] { return known }
        let result = try connection.query(
            """
            SELECT token, newest, newest_remote, request, full_at FROM \(sql.own("bmo_cursors")) WHERE \(Self.scope)
            """, parameters(scope), for: "reading a cursor")
        guard result.count > 0 else { return nil }
        return ScanCursor(
            token: result.text(0, 0), newest: Watermark(json: result.text(0, 1), remote: result.text(0, 2)),
            request: result.text(0, 3) ?? "", fullAt: result.text(0, 4) ?? "")
    }

    func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?] {
        // The scopes of one scan differ in the parent only.
        let groups = Dictionary(grouping: scopes) { ScanScope(entity: $0.entity, source: $0.source) }
        var found: [ScanScope: ScanCursor] = [:]
        for (scan, scopes) in groups {
            let result = try connection.query(
                """
                SELECT token, newest, newest_remote, request, full_at, parent FROM \(sql.own("bmo_cursors"))
                WHERE \(Self.scopes)
                """, parameters(scopes), for: "reading cursors")
            for row in 0..<result.count {
                let scope = ScanScope(entity: scan.entity, source: scan.source, parent: result.text(row, 5) ?? "")
                found[scope] = ScanCursor(
                    token: result.text(row, 0),
                    newest: Watermark(json: result.text(row, 1), remote: result.text(row, 2)),
                    request: result.text(row, 3) ?? "", fullAt: result.text(row, 4) ?? "")
            }
        }
        return scopes.map { found[$0] }
    }

    func forgetStates(ofParents parents: [String], in scan: ScanScope) throws {
        knownCursors = [:]
        let changed = try connection.query(
            """
            UPDATE \(sql.own("bmo_cursors")) SET request = split_part(request, $4::text, 1)
            WHERE entity = $1::text AND source = $2::text AND strpos(request, $4::text) > 0
                AND parent = ANY($3::text[])
            """,
            [.text(scan.entity), .text(scan.source), .texts(parents), .text(ScanCursor.parentMark)],
            for: "noting the parents that changed")
        if changed.changed > 0 { noteWritten() }
    }

    func setCursor(_ cursor: ScanCursor, of scope: ScanScope) throws {
        noteWritten()
        knownCursors[scope] = nil
        try connection.send(
            """
            INSERT INTO \(sql.own("bmo_cursors"))
            VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text)
            ON CONFLICT (entity, source, parent) DO UPDATE SET token = excluded.token, newest = excluded.newest,
                newest_remote = excluded.newest_remote, request = excluded.request, full_at = excluded.full_at,
                saved = excluded.saved
            """,
            parameters(scope) + [
                .text(cursor.token), .text(cursor.newest.map { JSONText.value($0.local) }),
                .text(cursor.newest?.remote), .text(cursor.request), .text(cursor.fullAt), .text(Clock.now()),
            ], for: "saving a cursor")
    }

    func savedProgress(of scopes: [ScanScope]) throws -> [SavedProgress?] {
        guard let scan = scopes.first else { return [] }
        let result = try connection.query(
            """
            SELECT cursor, page, request, newest, newest_remote, saved, began, parent FROM \(sql.own("bmo_progress"))
            WHERE \(Self.scopes) AND schema_version = (SELECT schema_version FROM \(sql.own("bmo_database")))
            """, parameters(scopes), for: "reading the positions of scans")
        var found: [ScanScope: SavedProgress] = [:]
        for row in 0..<result.count {
            let scope = ScanScope(entity: scan.entity, source: scan.source, parent: result.text(row, 7) ?? "")
            let progress = ScanProgress(
                cursor: result.text(row, 0) ?? "", page: Int(result.bigint(row, 1) ?? 0),
                request: result.text(row, 2) ?? "",
                newest: Watermark(json: result.text(row, 3), remote: result.text(row, 4)),
                began: result.text(row, 6) ?? "")
            found[scope] = SavedProgress(progress: progress, saved: result.text(row, 5) ?? "")
        }
        return scopes.map { found[$0] }
    }

    func savedTimes(ofScansOf entities: [String]) throws -> [String] {
        let result = try connection.query(
            """
            SELECT saved FROM \(sql.own("bmo_progress")) WHERE entity = ANY($1::text[]) AND source = ''
                AND schema_version = (SELECT schema_version FROM \(sql.own("bmo_database")))
            """, [.texts(entities)], for: "reading the positions of scans")
        return (0..<result.count).map { result.text($0, 0) ?? "" }
    }

    func savedScan(of scope: ScanScope) throws -> SavedScan? {
        guard let saved = try savedProgress(of: scope) else { return nil }
        let state = try connection.query(
            "SELECT waiting, has_unknown, repeated FROM \(sql.own("bmo_progress")) WHERE \(Self.scope)",
            parameters(scope), for: "reading the position of a scan")
        let seen = try connection.query(
            "SELECT page, rows, owners FROM \(sql.own("bmo_seen")) WHERE \(Self.scope) AND page <= $4::bigint ORDER BY page",
            parameters(scope) + [.bigint(Int64(saved.progress.page))], for: "reading what a scan has listed")
        var log = ScanLog()
        let repeated = Set(ScanLogText.rows(state.bytes(0, 2)))
        for row in 0..<seen.count {
            for number in ScanLogText.rows(seen.bytes(row, 1)) {
                log.append(number, isRewritten: repeated.contains(number))
            }
            log.owners.append(contentsOf: try ScanLogText.owners(seen.text(row, 2) ?? "[]", model))
            log.endPage(Int(seen.bigint(row, 0) ?? 0))
        }
        for list in try ScanLogText.lists(state.text(0, 0) ?? "[]", model) { log.waiting[list.owner] = list }
        log.hasUnknown = state.boolean(0, 1)
        log.endPage(saved.progress.page)
        return SavedScan(progress: saved.progress, saved: saved.saved, log: log)
    }

    func setSavedScan(_ scan: SavedScan?, of scope: ScanScope) throws {
        guard let scan else { return try forget([scope]) }
        try save(scan.progress, scan.log, of: scope, from: (0, 0))
    }

    /// Forgets the positions of scans that are complete.
    func forget(_ scopes: [ScanScope]) throws {
        for (_, scopes) in Dictionary(grouping: scopes, by: { ScanScope(entity: $0.entity, source: $0.source) }) {
            // One round trip: most scans by parent have one page, and nothing was saved of them.
            let deleted = try connection.query(
                """
                WITH p AS (DELETE FROM \(sql.own("bmo_progress")) WHERE \(Self.scopes) RETURNING 1),
                    s AS (DELETE FROM \(sql.own("bmo_seen")) WHERE \(Self.scopes) RETURNING 1)
                SELECT (SELECT count(*) FROM p) + (SELECT count(*) FROM s)
                """, parameters(scopes), for: "ending scans")
            if deleted.bigint(0, 0) ?? 0 > 0 { noteWritten() }
        }
    }

    /// Saves the position of a scan, with what it has listed since it was saved last.
    ///
    /// - Parameter saved: The numbers of rows and owners that are saved already.
    func save(_ progress: ScanProgress, _ log: ScanLog, of scope: ScanScope, from saved: (rows: Int, owners: Int))
        throws
    {
        noteWritten()
        if saved == (0, 0) { try forget([scope]) }
        let waiting = ScanLogText.json(Array(log.waiting.values), model)
        try connection.send(
            """
            INSERT INTO \(sql.own("bmo_progress"))
            VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::text, $9::bigint,
                $10::text, $11::text, $12::text, $13::boolean, $14::bytea)
            ON CONFLICT (entity, source, parent) DO UPDATE SET cursor = excluded.cursor, page = excluded.page,
                request = excluded.request, newest = excluded.newest, newest_remote = excluded.newest_remote,
                schema_version = excluded.schema_version, saved = excluded.saved, began = excluded.began,
                waiting = excluded.waiting, has_unknown = excluded.has_unknown, repeated = excluded.repeated
            """,
            parameters(scope) + [
                .text(progress.cursor), .bigint(Int64(progress.page)), .text(progress.request),
                .text(progress.newest.map { JSONText.value($0.local) }), .text(progress.newest?.remote),
                .bigint(counters.schemaVersion), .text(Clock.now()), .text(progress.began), .text(waiting),
                .boolean(log.hasUnknown), .bytes(ScanLogText.bytes(log.repeatedRows)),
            ], for: "saving the position of a scan")
        try connection.send(
            """
            INSERT INTO \(sql.own("bmo_seen")) VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bytea, $6::text)
            ON CONFLICT (entity, source, parent, page) DO UPDATE SET rows = excluded.rows, owners = excluded.owners
            """,
            parameters(scope) + [
                .bigint(Int64(progress.page)), .bytes(ScanLogText.bytes(log.rows.elements(from: saved.rows))),
                .text(ScanLogText.json(log.owners[saved.owners...], model)),
            ], for: "saving what a scan has listed")
    }

    func forgetScans(of entity: String, parent: String?) throws {
        knownCursors = [:]
        for table in ["bmo_cursors", "bmo_progress", "bmo_seen"] {
            let deleted = try connection.query(
                """
                DELETE FROM \(sql.own(table)) WHERE entity = $1::text AND ($2::text IS NULL OR parent = $2)
                """, [.text(entity), .text(parent)], for: "deleting scans of \(entity)")
            if deleted.changed > 0 { noteWritten() }
        }
    }

    func forgetCursors(of entity: String, returning: String?) throws {
        knownCursors = [:]
        let deleted = try connection.query(
            """
            DELETE FROM \(sql.own("bmo_cursors"))
            WHERE entity = $1::text AND (entity IS DISTINCT FROM $2::text OR source <> '' AND parent = '')
            """, [.text(entity), .text(returning)], for: "deleting cursors of \(entity)")
        if deleted.changed > 0 { noteWritten() }
    }

    func origin(of entity: String) throws -> String? {
        let result = try connection.query(
            "SELECT origin FROM \(sql.own("bmo_origins")) WHERE entity = $1::text", [.text(entity)],
            for: "reading where rows came from")
        return result.count > 0 ? result.text(0, 0) : nil
    }

    func setOrigin(_ origin: String, of entity: String) throws {
        noteWritten()
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_origins")) VALUES ($1::text, $2::text)
            ON CONFLICT (entity) DO UPDATE SET origin = excluded.origin
            """, [.text(entity), .text(origin)], for: "recording where rows came from")
    }

    // MARK: - Orphans

    func addOrphan(_ orphan: RowReference, scan: String) throws {
        noteWritten()
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_orphans")) (scan, root, key) VALUES ($1::text, $2::text, $3::text)
            ON CONFLICT DO NOTHING
            """, [.text(scan), .text(name(orphan.root)), .text(JSONText.key(orphan.key).string)],
            for: "recording an orphan")
    }

    func takeOrphans(scan: String) throws -> [RowReference] {
        let result = try connection.query(
            "SELECT root, key FROM \(sql.own("bmo_orphans")) WHERE scan = $1::text ORDER BY ord", [.text(scan)],
            for: "reading orphans")
        guard result.count > 0 else { return [] }
        noteWritten()
        try connection.query(
            "DELETE FROM \(sql.own("bmo_orphans")) WHERE scan = $1::text", [.text(scan)], for: "forgetting orphans")
        return (0..<result.count).compactMap { row in
            guard let root = model.index(of: result.text(row, 0) ?? ""),
                let key = model.entities[root].key(from: result.text(row, 1) ?? "")
            else { return nil }
            return RowReference(root: root, key: key)
        }
    }

    func renameOrphans(_ root: Int, from old: RowKey, to new: RowKey) throws {
        try connection.query(
            """
            DELETE FROM \(sql.own("bmo_orphans")) o WHERE root = $1::text AND key = $2::text AND EXISTS (
                SELECT 1 FROM \(sql.own("bmo_orphans")) n WHERE n.scan = o.scan AND n.root = o.root AND n.key = $3::text)
            """, [.text(name(root)), .text(JSONText.key(old).string), .text(JSONText.key(new).string)],
            for: "renaming an orphan")
        let renamed = try connection.query(
            "UPDATE \(sql.own("bmo_orphans")) SET key = $3::text WHERE root = $1::text AND key = $2::text",
            [.text(name(root)), .text(JSONText.key(old).string), .text(JSONText.key(new).string)],
            for: "renaming an orphan")
        if renamed.changed > 0 { noteWritten() }
    }
}

extension Watermark {
    init?(json: String?, remote: String?) {
        guard let json, let local = StoredValue(json: json) else { return nil }
        self.init(local: local, remote: remote ?? "")
    }
}
