internal import GRDB
internal import StoreContract
internal import Mapping

/// The members of the records in listings: table `bmo_members`, created with the first one.
final class MemberTable {
    private let connection: OpaquePointer?
    /// The members noted for each listing, so that thousands of scans by parent do not write them again.
    private var noted: [MemberListing: Set<ListedMember>] = [:]

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE IF NOT EXISTS bmo_members (
            listing TEXT NOT NULL, source TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL,
            request TEXT NOT NULL, is_gone INTEGER NOT NULL, PRIMARY KEY (listing, source, entity, path)
        ) STRICT, WITHOUT ROWID
        """

    private let insertion: RawStatement

    init(on connection: OpaquePointer?) {
        self.connection = connection
        insertion = RawStatement(
            """
            INSERT INTO bmo_members (listing, source, entity, path, request, is_gone) VALUES (?, ?, ?, ?, ?, 0)
            ON CONFLICT DO UPDATE SET request = excluded.request, is_gone = 0
            WHERE request <> excluded.request OR is_gone
            """, on: connection)
    }

    /// Clears the cache, after another process has written or a page was rolled back.
    func forget() { noted.removeAll() }

    /// Saves a member of the records of `entity`; returns whether the table changed.
    func note(_ member: ListedMember, of entity: String, in listing: MemberListing) throws -> Bool {
        // Without a noted member, the table may not exist.
        let isFirst = noted.isEmpty
        guard noted[listing, default: []].insert(member).inserted else { return false }
        if isFirst { try RawStatement(Self.creation, on: connection).run() }
        for (index, text) in [listing.entity, listing.source, entity, member.path, listing.request].enumerated() {
            insertion.bind(text, at: Int32(index + 1))
        }
        return try insertion.run() > 0
    }

    /// Returns the members of an entity's own listing, whichever request returned them.
    func members(ofListing entity: String) throws -> [(entity: String, path: String)] {
        let table = RawStatement("SELECT 1 FROM sqlite_schema WHERE name = 'bmo_members'", on: connection)
        guard try table.step() else { return [] }
        table.reset()
        let statement = RawStatement(
            "SELECT entity, path FROM bmo_members WHERE listing = ? AND source = '' AND NOT is_gone", on: connection)
        statement.bind(entity, at: 1)
        defer { statement.reset() }
        var members: [(entity: String, path: String)] = []
        while try statement.step() { members.append((statement.text(0) ?? "", statement.text(1) ?? "")) }
        return members
    }

    /// A saved member.
    struct Row {
        let entity: String
        let path: String
        let request: String
        let isGone: Bool
    }

    static func rows(of listing: MemberListing, in db: Database) throws -> [Row] {
        // Not `tableExists`, which would cache that the table does not exist.
        let table = try db.cachedStatement(sql: "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_members'")
        guard try Int.fetchOne(table) != nil else { return [] }
        return try GRDB.Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT entity, path, request, is_gone FROM bmo_members WHERE listing = ? AND source = ?"),
            arguments: [listing.entity, listing.source]
        ).map { Row(entity: $0["entity"], path: $0["path"], request: $0["request"], isGone: $0["is_gone"]) }
    }
}
