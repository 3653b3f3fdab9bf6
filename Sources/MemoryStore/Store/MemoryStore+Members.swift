public import Mapping
public import StoreContract

/// The members of listings.
extension MemoryStore {
    /// Returns the members that the records of a listing have had.
    public func members(of listing: MemberListing) throws -> Set<ListedMember> {
        Set(try members(of: listing, in: snapshot()).filter { $0.value.request == listing.request }.map(\.member))
    }

    /// Marks the members that no record of a complete listing had any more.
    public func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        let present = Set(seen.filter(\.path.isEmpty).map(\.entity))
        let gone = try members(of: listing, in: snapshot()).filter { known in
            !known.value.isGone && present.contains(known.member.entity) && !seen.contains(known.member)
        }
        guard !gone.isEmpty else { return [] }
        try keepBooks { tables in
            for known in gone { tables.state.members[known.name]?.isGone = true }
        }
        return gone.map { MissingMember(member: $0.member, isOfOtherRequest: $0.value.request != listing.request) }
            .sorted { ExactText($0.member.path) < ExactText($1.member.path) }
    }

    private struct Known {
        var name: DatabaseState.MemberName
        var member: ListedMember
        var value: DatabaseState.Member
    }

    private func members(of listing: MemberListing, in state: DatabaseState) -> [Known] {
        state.members.compactMap { name, value in
            guard name.listing == listing.entity, name.source == listing.source,
                let entity = model.index(of: name.entity)
            else { return nil }
            return Known(name: name, member: ListedMember(entity: entity, path: name.path.string), value: value)
        }
    }
}
