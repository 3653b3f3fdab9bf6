internal import GRDB
public import StoreContract
public import Mapping

extension SQLiteStore {
    /// Returns the members of the listing's records, from this scan or an earlier one.
    ///
    /// - Throws: `StoreError`.
    public func members(of listing: MemberListing) throws -> Set<ListedMember> {
        try readPrepared("reading the members of a listing") { _, statements in try members(of: listing, statements) }
    }

    func members(of listing: MemberListing, _ statements: StatementCache) throws -> Set<ListedMember> {
        let rows = try MemberTable.rows(of: listing, statements).filter { $0.request == listing.request }
        return Set(rows.compactMap(member))
    }

    /// Marks the members that no record of a complete listing had any more.
    ///
    /// - Parameters:
    ///   - listing: The listing.
    ///   - seen: The members received; the path "" stands for the records of an entity themselves.
    /// - Returns: Those seen before but not now; each is reported once for as long as it is missing.
    /// - Throws: `StoreError`.
    public func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        let present = Set(seen.filter(\.path.isEmpty).map(\.entity))
        let gone = try readPrepared("reading the members of a listing") { _, statements in
            try MemberTable.rows(of: listing, statements).filter { !$0.isGone }.compactMap { row in
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
        return gone.sorted { ExactText($0.member.path) < ExactText($1.member.path) }
    }

    private func member(_ row: MemberTable.Row) -> ListedMember? {
        model.index(of: row.entity).map { ListedMember(entity: $0, path: row.path) }
    }
}
