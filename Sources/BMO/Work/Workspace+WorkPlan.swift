internal import Model
internal import StoreContract

extension Workspace {
    /// The units that a round begins with: one per scan, or two if a scan by parent is divided into ranges.
    func workPlan() -> [WorkUnit] {
        var units: [WorkUnit] = []
        for index in syncOrder(nil) {
            let entity = model.model.entities[index]
            var needs = parents(of: index).subtracting([index]).sorted().flatMap { parent in
                scanOrder(of: model.model.entities[parent]).map { group(model.model.entities[parent], $0) }
            }
            for source in scanOrder(of: entity) {
                let group = group(entity, source)
                func unit(_ suffix: String, _ task: WorkUnit.Task, _ needs: [String]) -> WorkUnit {
                    WorkUnit(
                        name: group + suffix, group: group, entity: entity.name, source: source?.name ?? "",
                        task: task, needs: needs)
                }
                if canDivide(index, source) {
                    units += [unit("", .split, needs), unit(" end", .end, needs)]
                } else {
                    units.append(unit("", .listing, needs))
                }
                needs = [group]
            }
        }
        units.append(WorkUnit(name: "end of the round", group: "", entity: "", task: .close))
        return units
    }

    /// The name of a scan.
    private func group(_ entity: Entity, _ source: EntitySource?) -> String {
        source.map { "\(entity.name).\($0.name)" } ?? entity.name
    }

    /// Whether a scan is by parent and all parents are known when it begins, as they are not in a tree.
    private func canDivide(_ index: Int, _ source: EntitySource?) -> Bool {
        let entity = model.model.entities[index]
        guard let parent = source == nil ? entity.parent : source?.parent else { return false }
        return !(source == nil && parent.relationship != nil && model.model.isTree(entity))
    }
}
