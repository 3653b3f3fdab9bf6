internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

extension EntityWalk {
    /// Warns of members that earlier records had, and that no record of a whole listing has any more.
    func warnOfMissingMembers(_ plan: WalkPlan, _ listing: WalkListing, _ tally: EntityTally) async throws {
        guard listing.isWhole, listing.spared.isEmpty, let seen = listing.members else { return }
        // Through the gate: otherwise this would become part of another walk's open page.
        let missing = try await context.gate.pass {
            try await context.thread.run { [context] in
                try context.store.noteMissing(in: plan.memberListing, seen: seen)
            }
        }
        let model = context.workspace.model
        for missing in missing {
            let member = missing.member
            guard let rule = model.absentRule(of: member, source: plan.source?.name) else { continue }
            let source = plan.source.map { " of the source `\($0.name)`" } ?? ""
            let outcome =
                rule == .keep || rule == .auto && missing.isOfOtherRequest
                ? "what is stored stays"
                : "what was stored is null now; if the remote only stopped to send it, `bmo undo` takes that back, and "
                    + "`absent: keep` keeps it"
            tally.warn(
                "no record\(source) has `\(member.path)` any more, which records used to have: \(outcome)")
        }
    }
}
