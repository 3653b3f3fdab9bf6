public import Mapping
public import StoreContract

/// The members of listings.
extension PostgreSQLStore {
    /// Returns the members that the records of a listing have had.
    public func members(of listing: MemberListing) throws -> Set<ListedMember> {
        let known = try read { try $0.members(of: listing) }.filter { $0.request == listing.request }
        return Set(known.compactMap(member))
    }

    /// Marks the members that no record of a complete listing had any more.
    public func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        let present = Set(seen.filter(\.path.isEmpty).map(\.entity))
        let gone = try read { try $0.members(of: listing) }.filter { known in
            guard !known.isGone, let member = member(known) else { return false }
            return present.contains(member.entity) && !seen.contains(member)
        }
        guard !gone.isEmpty else { return [] }
        try keepBooks { try $0.markGone(gone, in: listing) }
        return gone.compactMap { known in
            member(known).map { MissingMember(member: $0, isOfOtherRequest: known.request != listing.request) }
        }.sorted { ExactText($0.member.path) < ExactText($1.member.path) }
    }

    private func member(_ known: PostgreSQLTables.Member) -> ListedMember? {
        model.index(of: known.entity).map { ListedMember(entity: $0, path: known.path) }
    }
}
