internal import GRDB
internal import Mapping

/// The fields of remote records that nothing reads: table `bmo_unknown_fields`, made with the first one.
final class UnknownFieldTable {
    private let connection: OpaquePointer?
    /// Those that the table has, as `ENTITY PATH`; nil as long as they were not read.
    private var known: Set<String>?

    init(on connection: OpaquePointer?) {
        self.connection = connection
    }

    /// Forgets what was read: another process has written, or a page was taken back.
    func forget() { known = nil }

    /// Keeps a field, and when it came first; returns whether it is new.
    func note(_ entity: String, _ path: String) throws -> Bool {
        let name = "\(entity) \(path)"
        var known = try known ?? read()
        defer { self.known = known }
        guard known.insert(name).inserted else { return false }
        try RawStatement(
            """
            CREATE TABLE IF NOT EXISTS bmo_unknown_fields (
                entity TEXT NOT NULL, path TEXT NOT NULL, first_seen TEXT NOT NULL, PRIMARY KEY (entity, path)
            ) STRICT, WITHOUT ROWID
            """, on: connection
        ).run()
        let insertion = try RawStatement(
            "INSERT INTO bmo_unknown_fields (entity, path, first_seen) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            on: connection)
        insertion.bind(entity, at: 1)
        insertion.bind(path, at: 2)
        insertion.bind(Clock.now(), at: 3)
        return try insertion.run() > 0
    }

    private func read() throws -> Set<String> {
        let table = try RawStatement(
            "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_unknown_fields'", on: connection)
        defer { table.reset() }
        guard try table.step() else { return [] }
        let rows = try RawStatement("SELECT entity || ' ' || path FROM bmo_unknown_fields", on: connection)
        var known: Set<String> = []
        while try rows.step() {
            guard case .text(let name) = rows.value(0) else { continue }
            known.insert(name)
        }
        return known
    }
}

extension SQLiteStore {
    /// A field of remote records that nothing reads.
    public struct UnknownFieldRecord: Sendable, Equatable {
        /// The entity whose records have it.
        public var entity: String
        /// The dot path to it.
        public var path: String
    }

    /// The fields of remote records that nothing reads, by entity and path.
    ///
    /// - Parameter instant: Only those that came first since then, as ISO 8601.
    /// - Throws: ``StoreError``.
    public func unknownFields(since instant: String = "") throws -> [UnknownFieldRecord] {
        try read("reading the unknown fields") { db in
            // Not `tableExists`, which would remember that the table was not there.
            let table = "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_unknown_fields'"
            guard try Int.fetchOne(db, sql: table) != nil else { return [] }
            return try Row.fetchAll(
                db, sql: "SELECT entity, path FROM bmo_unknown_fields WHERE first_seen >= ? ORDER BY entity, path",
                arguments: [instant]
            ).map { UnknownFieldRecord(entity: $0["entity"], path: $0["path"]) }
        }
    }
}
