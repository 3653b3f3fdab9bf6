internal import Model

extension CompiledModel {
    /// Returns the paths of the values that a plan reads in a record, each once; nil if it may read any value.
    ///
    /// A relationship to objects that come only nested leads to the paths that their own plan reads. One to objects with a
    /// listing of their own is read as it is, because a record may hold their key alone.
    public func readPaths(of plan: Int) -> [[String]]? {
        guard plans[plan].readMembers != nil else { return nil }
        var paths: [[String]] = []
        collect(plans[plan].tree, plans[plan], at: [], above: [], into: &paths)
        return paths
    }

    private func collect(
        _ node: PathNode, _ plan: MappingPlan, at path: [String], above: [Int], into paths: inout [[String]]
    ) {
        for (name, child) in node.children {
            // The surroundings and the members that a bridge adds, such as `@key`, are not the remote's.
            guard !name.hasPrefix("@") else { continue }
            let path = path + [name]
            let nested = child.bindings.compactMap { nestedPlan(of: $0, in: plan) }.filter { !above.contains($0) }
            if child.children.isEmpty, nested.isEmpty { paths.append(path) }
            collect(child, plan, at: path, above: above, into: &paths)
            for target in nested {
                if plans[target].readMembers == nil {
                    paths.append(path)
                } else {
                    collect(plans[target].tree, plans[target], at: path, above: above + [target], into: &paths)
                }
            }
        }
    }

    /// Returns the plan of the objects that a relationship leads to, if they come only nested.
    private func nestedPlan(of binding: PathNode.Binding, in plan: MappingPlan) -> Int? {
        let layout = entities[plan.entity]
        let target: Int
        switch binding {
        case .toOne(let index): target = layout.toOne[index].target
        case .toMany(let index): target = layout.toMany[index].target
        case .attribute, .part: return nil
        }
        return family(of: target).contains { model.entities[$0].isScanned } ? nil : target
    }
}
