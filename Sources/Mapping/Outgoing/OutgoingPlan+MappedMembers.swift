internal import Model

extension OutgoingPlan {
    /// The names of the members that the entity's records have by the mapping of the entity, its super-entities and its
    /// sub-entities.
    package var mappedMembers: Set<String> {
        let definitions = model.model.entities
        let root = model.model.root(of: definitions[entity]).name
        let plans = model.plans.filter { model.model.root(of: definitions[$0.entity]).name == root }
        return Set(plans.flatMap { $0.tree.children.map(\.name) })
    }
}
