internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

extension EntityScan {
    /// Warns about members that earlier records had and that no record of a complete listing has any more.
    func warnOfMissingMembers(_ plan: ScanPlan, _ listing: ScanListing, _ tally: EntityTally) async throws {
        guard listing.isWhole, listing.skipped.isEmpty, let seen = listing.members else { return }
        let all = seen.union(inherited(seen))
        // Waits at the gate; otherwise this write would become part of another scan's open page.
        let missing = try await context.gate.pass {
            try await context.thread.run { [self] in
                try context.store.noteMissing(in: plan.memberListing, seen: all.union(broughtBySupers(plan, seen)))
            }
        }
        let model = context.workspace.model
        var outcomes: [ListedMember: String] = [:]
        for missing in missing {
            guard let rule = model.absentRule(of: missing.member, source: plan.source?.name) else { continue }
            outcomes[missing.member] =
                rule == .keep || rule == .auto && missing.isOfOtherRequest
                ? "the stored values are kept"
                : "the stored values are now null; if the remote still has them and only stopped sending them, "
                    + "`bmo undo` restores them, and `absent: keep` keeps them"
        }
        for member in missing.map(\.member) {
            guard let outcome = outcomes[member] else { continue }
            // The warning of the super-entity says it.
            if supers(of: member).contains(where: { outcomes[$0] == outcome }) { continue }
            let place = member.entity == index ? "record" : "object of \(model.entities[member.entity].name)"
            let source = plan.source.map { " of the source `\($0.name)`" } ?? ""
            tally.warn(
                "no \(place)\(source) has `\(member.path)` any more, although earlier records did: \(outcome)")
        }
    }

    /// Returns the members of sub-entities that their own records lack, but that records of a super-entity brought to
    /// objects of theirs.
    ///
    /// An object stays one of its sub-entity when its record is one of the super-entity only.
    private func broughtBySupers(_ plan: ScanPlan, _ seen: Set<ListedMember>) throws -> Set<ListedMember> {
        let model = context.workspace.model
        let source = plan.source?.name
        guard model.family(of: index).count > 1 else { return [] }
        return try context.store.members(of: plan.memberListing).filter { member in
            guard member.entity != index, !member.path.isEmpty, !seen.contains(member),
                supers(of: member).contains(where: { seen.contains($0) }),
                model.absentRule(of: member, source: source) != .keep,
                let column = model.column(of: member, source: source)
            else { return false }
            let hasValue = LocalCondition(field: column, comparison: .notEqual, value: nil)
            let query = RowQuery(model.entities[member.entity].name, where: [hasValue], limit: 1)
            return try !context.store.rows(of: query).isEmpty
        }
    }

    /// Returns a member of a sub-entity as one of each of its super-entities.
    private func supers(of member: ListedMember) -> [ListedMember] {
        let model = context.workspace.model
        return model.model.lineage(of: model.model.entities[member.entity]).dropLast().compactMap { entity in
            model.index(of: entity.name).map { ListedMember(entity: $0, path: member.path) }
        }
    }

    /// Returns the members of sub-entities as members of their super-entities, whose records may be sub-entities' now.
    private func inherited(_ seen: Set<ListedMember>) -> [ListedMember] {
        seen.filter { !$0.path.isEmpty }.flatMap(supers)
    }
}
