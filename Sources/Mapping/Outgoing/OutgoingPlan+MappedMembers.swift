internal import Model

extension OutgoingPlan {
    /// The names of the members that the entity's records have by the mapping of the entity, its super-entities and its
    /// sub-entities.
    package var mappedMembers: Set<String> {
        let family = Set(model.family(of: entity))
        return Set(model.plans.filter { family.contains($0.entity) }.flatMap { $0.tree.children.map(\.name) })
    }
}
