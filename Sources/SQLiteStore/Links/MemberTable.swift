internal import GRDB
public import StoreContract
public import Mapping

/// The members of the records in listings: table `bmo_members`, created with the first one.
final class MemberTable {
    private let connection: OpaquePointer?
    /// The members noted for each listing, so that thousands of scans by parent do not write them again.
    private var noted: [MemberListing: Set<ListedMember>] = [:]

    init(on connection: OpaquePointer?) { self.connection = connection }

    /// Clears the cache, after another process has written or a page was rolled back.
    func forget() { noted.removeAll() }

    /// Saves a member of the records of `entity`; returns whether the table changed.
    func note(_ member: ListedMember, of entity: String, in listing: MemberListing) throws -> Bool {
        guard noted[listing, default: []].insert(member).inserted else { return false }
        try RawStatement(
            """
            CREATE TABLE IF NOT EXISTS bmo_members (
                listing TEXT NOT NULL, source TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL,
                request TEXT NOT NULL, is_gone INTEGER NOT NULL, PRIMARY KEY (listing, source, entity, path)
            ) STRICT, WITHOUT ROWID
            """, on: connection
        ).run()
        let statement = try RawStatement(
            """
            INSERT INTO bmo_members (listing, source, entity, path, request, is_gone) VALUES (?, ?, ?, ?, ?, 0)
            ON CONFLICT DO UPDATE SET request = excluded.request, is_gone = 0
            WHERE request <> excluded.request OR is_gone
            """, on: connection)
        for (index, text) in [listing.entity, listing.source, entity, member.path, listing.request].enumerated() {
            statement.bind(text, at: Int32(index + 1))
        }
        return try statement.run() > 0
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
        guard try Int.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_members'") != nil else {
            return []
        }
        return try GRDB.Row.fetchAll(
            db, sql: "SELECT entity, path, request, is_gone FROM bmo_members WHERE listing = ? AND source = ?",
            arguments: [listing.entity, listing.source]
        ).map { Row(entity: $0["entity"], path: $0["path"], request: $0["request"], isGone: $0["is_gone"]) }
    }
}

extension SQLiteStore {
    /// Returns the members of the listing's records, from this scan or an earlier one.
    ///
    /// - Throws: ``StoreError``.
    public func members(of listing: MemberListing) throws -> Set<ListedMember> {
        try read("reading the members of a listing") { db in
            let rows = try MemberTable.rows(of: listing, in: db).filter { $0.request == listing.request }
            return Set(rows.compactMap { row in member(row) })
        }
    }

    /// Marks the members that no record of a complete listing had any more.
    ///
    /// - Parameter seen: The members received; the path "" stands for the records of an entity themselves.
    /// - Returns: Those seen before but not now; each is reported once for as long as it is missing.
    /// - Throws: ``StoreError``.
    public func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        let present = Set(seen.filter(\.path.isEmpty).map(\.entity))
        let gone = try read("reading the members of a listing") { db in
            try MemberTable.rows(of: listing, in: db).filter { !$0.isGone }.compactMap { row in
                member(row).map { MissingMember(member: $0, isOfOtherRequest: row.request != listing.request) }
            }
        }.filter { present.contains($0.member.entity) && !seen.contains($0.member) }
        guard !gone.isEmpty else { return [] }
        try SQLiteStore.translating("keeping the members of a listing") {
            try writer.writeWithoutTransaction { db in
                try writers.members.forget()
                for missing in gone {
                    try db.execute(
                        sql: """
                            UPDATE bmo_members SET is_gone = 1
                            WHERE listing = ? AND source = ? AND entity = ? AND path = ?
                            """,
                        arguments: [
                            listing.entity, listing.source, model.entities[missing.member.entity].name,
                            missing.member.path,
                        ])
                }
            }
        }
        return gone.sorted { $0.member.path < $1.member.path }
    }

    private func member(_ row: MemberTable.Row) -> ListedMember? {
        model.index(of: row.entity).map { ListedMember(entity: $0, path: row.path) }
    }
}
