internal import StoreContract
internal import StoreRules
internal import Mapping

/// The positions of scans and the rows that they have listed: tables `bmo_progress` and `bmo_seen`.
///
/// Both are written together, so that a resumed scan knows which rows the earlier pages listed.
final class ScanTable {
    private let insertion: RawStatement
    private let deletion: RawStatement
    private let seenInsertion: RawStatement
    private let seenDeletion: RawStatement
    private let seenSelect: RawStatement
    private let schemaVersion: RawStatement
    private var lastSaved: [ScanScope: ContinuousClock.Instant] = [:]
    private var logs: [ScanScope: SeenLog] = [:]

    /// The number of log bytes kept in memory before they are saved.
    private static let maxUnsavedBytes = 4 << 20

    init(on connection: OpaquePointer?) {
        insertion = RawStatement(
            """
            INSERT INTO bmo_progress
                (entity, source, parent, cursor, page, request, newest, newest_remote, schema_version, saved, began)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET cursor = excluded.cursor, page = excluded.page, request = excluded.request,
                newest = excluded.newest, newest_remote = excluded.newest_remote,
                schema_version = excluded.schema_version, saved = excluded.saved,
                began = excluded.began
            """, on: connection)
        let scope = "WHERE entity = ? AND source = ? AND parent = ?"
        deletion = RawStatement("DELETE FROM bmo_progress \(scope)", on: connection)
        seenInsertion = RawStatement(
            "INSERT OR REPLACE INTO bmo_seen (entity, source, parent, page, rows) VALUES (?, ?, ?, ?, ?)",
            on: connection)
        seenDeletion = RawStatement("DELETE FROM bmo_seen \(scope)", on: connection)
        seenSelect = RawStatement(
            "SELECT rows FROM bmo_seen \(scope) AND page <= ? ORDER BY page", on: connection)
        // VACUUM assigns new rowids and changes this version.
        schemaVersion = RawStatement("PRAGMA schema_version", on: connection)
    }

    // MARK: Logs

    /// Begins the log of a scan, empty or with the rows that the pages up to `page` listed.
    func begin(_ scope: ScanScope, afterPage page: Int?) throws {
        logs[scope] = try page.map { try savedLog(of: scope, throughPage: $0) } ?? SeenLog()
    }

    private func savedLog(of scope: ScanScope, throughPage page: Int) throws -> SeenLog {
        var log = SeenLog()
        seenSelect.bind(scope)
        seenSelect.bind(Int64(page), at: 4)
        defer { seenSelect.reset() }
        while try seenSelect.step() {
            if case .bytes(let piece) = seenSelect.value(0) { log.append(saved: piece) }
        }
        return log
    }

    /// Returns the saved rows that an interrupted scan listed.
    func savedRows(of scope: ScanScope) throws -> [Int64] {
        var rows: [Int64] = []
        try savedLog(of: scope, throughPage: Int.max).forEach { rows.append($0) }
        return rows
    }

    /// Returns the log of a scan; nil if the scan has not begun.
    func log(of scope: ScanScope) -> SeenLog? { logs[scope] }

    /// Adds the rows of a committed page; `isSaved` says whether the log was written with it.
    func pageCommitted(_ scope: ScanScope, _ rows: SeenLog, isSaved: Bool) {
        logs[scope]?.append(rows)
        if isSaved { logs[scope]?.markSaved() }
    }

    /// Ends a scan that is complete or was abandoned.
    func end(_ scope: ScanScope) {
        logs[scope] = nil
        lastSaved[scope] = nil
    }

    // MARK: Positions

    /// Saves the position of a scan after a page that listed `rows`; returns what was written.
    ///
    /// - Parameter isOptional: Whether the page changed nothing. Then saving once a second is enough: a scan that
    ///   resumes from an older position loses nothing, and a sync without changes writes nothing.
    func save(
        _ scope: ScanScope, _ progress: ScanProgress?, rows: SeenLog, isOptional: Bool
    ) throws -> Saving {
        guard let progress else {
            for statement in [deletion, seenDeletion] {
                statement.bind(scope)
                try statement.run()
            }
            return .place
        }
        let now = ContinuousClock.now
        let last = lastSaved[scope]
        if isOptional, let last, now - last < .seconds(1) {
            return try saveLogIfLarge(scope, page: progress.page, rows) ? .log : .nothing
        }
        lastSaved[scope] = now
        if isOptional, last == nil { return .nothing }
        // Before the first bind, as the next run of the statement would report a failure between binding and running.
        let schemaVersion = try currentSchemaVersion()
        insertion.bind(scope)
        insertion.bind(progress.cursor, at: 4)
        insertion.bind(Int64(progress.page), at: 5)
        insertion.bind(progress.request, at: 6)
        insertion.bind(progress.newest?.local ?? StoredValue.null, at: 7)
        insertion.bind(progress.newest?.remote, at: 8)
        insertion.bind(schemaVersion, at: 9)
        insertion.bind(Clock.now(), at: 10)
        insertion.bind(progress.began, at: 11)
        try insertion.run()
        try saveLog(scope, page: progress.page, rows)
        return .place
    }

    /// The part of a scan's state that was written with a page.
    enum Saving {
        case nothing
        /// The log only.
        case log
        /// The position, with the log, or the removal of both.
        case place
    }

    private func saveLogIfLarge(_ scope: ScanScope, page: Int, _ rows: SeenLog) throws -> Bool {
        guard let log = logs[scope], log.unsavedBytes > Self.maxUnsavedBytes else { return false }
        try saveLog(scope, page: page, rows)
        return true
    }

    private func saveLog(_ scope: ScanScope, page: Int, _ rows: SeenLog) throws {
        let piece = logs[scope]?.unsaved(with: rows) ?? []
        guard !piece.isEmpty else { return }
        seenInsertion.bind(scope)
        seenInsertion.bind(Int64(page), at: 4)
        seenInsertion.bind(StoredValue.bytes(piece), at: 5)
        try seenInsertion.run()
    }

    private func currentSchemaVersion() throws -> Int64 {
        _ = try schemaVersion.step()
        defer { schemaVersion.reset() }
        return schemaVersion.int64(0)
    }
}

extension RawStatement {
    /// Binds the three columns of a scope to the first three parameters.
    func bind(_ scope: ScanScope) {
        bind(scope.entity, at: 1)
        bind(scope.source, at: 2)
        bind(scope.parent, at: 3)
    }
}
