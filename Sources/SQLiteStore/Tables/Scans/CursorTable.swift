internal import StoreContract
internal import Mapping

/// The cursors that complete scans leave for the next ones: table `bmo_cursors`.
final class CursorTable {
    private let reader: CursorReader
    private let insertion: RawStatement
    private let forgetting: RawStatement
    private let deletion: RawStatement

    init(on connection: OpaquePointer?) {
        reader = CursorReader(RawStatement(CursorReader.sql, on: connection))
        insertion = RawStatement(
            """
            INSERT OR REPLACE INTO bmo_cursors
                (entity, source, parent, token, newest, newest_remote, request, full_at, saved)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
        deletion = RawStatement(
            "DELETE FROM bmo_cursors WHERE entity = ?1 AND (entity IS NOT ?2 OR source <> '' AND parent = '')",
            on: connection)
        forgetting = RawStatement(
            """
            UPDATE bmo_cursors SET request = substr(request, 1, instr(request, ?4) - 1)
            WHERE entity = ?1 AND source = ?2 AND parent = ?3 AND instr(request, ?4) > 0
            """, on: connection)
    }

    /// Removes the states of parents from the cursors of a scan, so that these parents are due.
    ///
    /// - Returns: Whether there were any.
    func forgetStates(ofParents parents: [String], in scan: ScanScope) throws -> Bool {
        var count = 0
        for parent in parents {
            forgetting.bind(ScanScope(entity: scan.entity, source: scan.source, parent: parent))
            forgetting.bind(ScanCursor.parentMark, at: 4)
            count += try forgetting.run()
        }
        return count > 0
    }

    /// Forgets the cursors of an entity's scans that had brought values of an object that returns; see
    /// `ScanTables.forgetCursors(of:returning:)`.
    func forget(of entity: String, returning: String?) throws {
        deletion.bind(entity, at: 1)
        deletion.bind(returning, at: 2)
        try deletion.run()
    }

    /// Saves a cursor unless it is unchanged, so that a sync without changes writes nothing.
    ///
    /// - Parameter followsStored: Whether it is only worth something together with the stored one.
    func save(_ cursor: ScanCursor, of scope: ScanScope, followsStored: Bool = false) throws {
        let stored = try reader.cursor(of: scope)
        guard stored != cursor, stored != nil || !followsStored else { return }
        insertion.bind(scope)
        insertion.bind(cursor.token, at: 4)
        insertion.bind(cursor.newest?.local ?? StoredValue.null, at: 5)
        insertion.bind(cursor.newest?.remote, at: 6)
        insertion.bind(cursor.request, at: 7)
        insertion.bind(cursor.fullAt, at: 8)
        insertion.bind(Clock.now(), at: 9)
        try insertion.run()
    }
}

extension Watermark {
    /// Reads two columns of the current row; returns nil if they are null.
    init?(_ statement: RawStatement, local: Int32, remote: Int32) {
        let value = statement.value(local)
        guard value != .null, let text = statement.text(remote) else { return nil }
        self.init(local: value, remote: text)
    }
}

/// The reading of single cursors, which each scan begins with.
struct CursorReader {
    /// The statement's text.
    static let sql = """
        SELECT token, newest, newest_remote, request, full_at FROM bmo_cursors
        WHERE entity = ? AND source = ? AND parent = ?
        """

    private let select: RawStatement

    /// - Parameter select: The prepared statement ``sql``.
    init(_ select: RawStatement) { self.select = select }

    /// Returns the cursor of a scan; nil if none is stored.
    func cursor(of scope: ScanScope) throws -> ScanCursor? {
        select.bind(scope)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return ScanCursor(
            token: select.text(0), newest: Watermark(select, local: 1, remote: 2), request: select.text(3) ?? "",
            fullAt: select.text(4) ?? "")
    }
}
