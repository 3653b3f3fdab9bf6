/// Whether the database has triggers, which may do anything with an inserted row.
///
/// Use it only inside an access to the connection, and call ``forget()`` before the access ends.
final class TriggerCheck {
    /// Returns 1 if the database has triggers, also temporary ones.
    static let sql = """
        SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger')
            OR EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE type = 'trigger')
        """

    private let any: RawStatement
    private var known: Bool?

    init(on connection: OpaquePointer?) {
        any = RawStatement(Self.sql, on: connection)
    }

    func isAny() throws -> Bool {
        if let known { return known }
        defer { any.reset() }
        _ = try any.step()
        let isAny = any.int64(0) != 0
        known = isAny
        return isAny
    }

    /// Forgets the answer, as another program may add a trigger.
    func forget() { known = nil }
}
