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

    /// A number that changes with the members that are known.
    private(set) var version = 0

    /// Clears the cache, after another process has written or a page was rolled back.
    func forget() {
        noted.removeAll()
        version += 1
    }

    /// Saves a member of the records of `entity`; returns whether the table changed.
    func note(_ member: ListedMember, of entity: String, in listing: MemberListing) throws -> Bool {
        // Without a noted member, the table may not exist.
        let isFirst = noted.isEmpty
        guard noted[listing, default: []].insert(member).inserted else { return false }
        if isFirst { try RawStatement(Self.creation, on: connection).run() }
        for (index, text) in [listing.entity, listing.source, entity, member.path, listing.request].enumerated() {
            insertion.bind(text, at: Int32(index + 1))
        }
        guard try insertion.run() > 0 else { return false }
        version += 1
        return true
    }

    /// Returns the members of an entity's listing, whichever request returned them.
    ///
    /// - Parameter source: The further source; empty for the entity's own bridge.
    func members(ofListing entity: Int, source: String = "", in model: CompiledModel) throws -> Set<ListedMember> {
        let table = RawStatement("SELECT 1 FROM sqlite_schema WHERE name = 'bmo_members'", on: connection)
        guard try table.step() else { return [] }
        table.reset()
        let statement = RawStatement(
            "SELECT entity, path FROM bmo_members WHERE listing = ? AND source = ? AND NOT is_gone", on: connection)
        statement.bind(model.entities[entity].name, at: 1)
        statement.bind(source, at: 2)
        defer { statement.reset() }
        var members: Set<ListedMember> = []
        while try statement.step() {
            guard let entity = model.index(of: statement.text(0) ?? "") else { continue }
            members.insert(ListedMember(entity: entity, path: statement.text(1) ?? ""))
        }
        return members
    }

    /// A saved member.
    struct Row {
        let entity: String
        let path: String
        let request: String
        let isGone: Bool
    }

    static func rows(of listing: MemberListing, _ statements: StatementCache) throws -> [Row] {
        // Without a noted member, the table may not exist.
        guard try statements.value("SELECT 1 FROM sqlite_schema WHERE name = 'bmo_members'") != nil else { return [] }
        let select = statements(
            "SELECT entity, path, request, is_gone FROM bmo_members WHERE listing = ? AND source = ?")
        select.bind(listing.entity, at: 1)
        select.bind(listing.source, at: 2)
        defer { select.reset() }
        var rows: [Row] = []
        while try select.step() {
            rows.append(
                Row(
                    entity: select.text(0) ?? "", path: select.text(1) ?? "", request: select.text(2) ?? "",
                    isGone: select.int64(3) != 0))
        }
        return rows
    }
}
