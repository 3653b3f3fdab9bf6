package import Model

extension CompiledModel {
    /// Returns the paths of the values that a plan reads in a record, each once; nil if it may read any value.
    ///
    /// A relationship to objects that come only nested leads to the paths that their own plan reads. One to objects with a
    /// listing of their own is read as it is, because a record may hold their key alone.
    ///
    /// - Parameters:
    ///   - plan: The index of the plan.
    ///   - isNeeded: Whether a field or relationship of this name is read; all are by default. Of a relationship, all
    ///     values are.
    public func readPaths(of plan: Int, isNeeded: ((String) -> Bool)? = nil) -> [[String]]? {
        guard plans[plan].readMembers != nil else { return nil }
        var paths: [[String]] = []
        collect(plans[plan].tree, plans[plan], at: [], above: [], isNeeded, into: &paths)
        guard isNeeded != nil else { return paths }
        // What says that an object is gone is needed with any field.
        let tombstone = model.root(of: model.entities[plans[plan].entity]).deletes.tombstone
        return paths + (tombstone?.paths ?? []).map { Array($0.components) }.filter { !paths.contains($0) }
    }

    private func collect(
        _ node: PathNode, _ plan: MappingPlan, at path: [String], above: [Int], _ isNeeded: ((String) -> Bool)?,
        into paths: inout [[String]], leavingOut inverses: Set<Int> = []
    ) {
        for (name, child) in node.children {
            // The surroundings and the members that a bridge adds, such as `@key`, are not the remote's.
            guard !name.hasPrefix("@") else { continue }
            let path = path + [name]
            let known = child.bindings.filter { isPart($0, of: inverses, in: plan) }
            if !known.isEmpty, known.count == child.bindings.count, child.children.isEmpty { continue }
            let bindings = child.bindings.filter { binding in
                guard !isPart(binding, of: inverses, in: plan) else { return false }
                return isNeeded.map { self.name(of: binding, in: plan).contains(where: $0) } ?? true
            }
            let targets = bindings.compactMap { target(of: $0, in: plan) }
            // A value that an attribute reads is needed as a whole, whatever other attributes read of it.
            if targets.count < bindings.count {
                paths.append(path)
                continue
            }
            let nested = targets.filter { comeOnlyNested[$0] && !above.contains($0) }
            let count = paths.count
            if child.children.isEmpty, nested.isEmpty, isNeeded == nil || !bindings.isEmpty { paths.append(path) }
            collect(child, plan, at: path, above: above, isNeeded, into: &paths, leavingOut: inverses)
            if nested.isEmpty, !child.children.isEmpty {
                // A reference is needed as a whole unless some of its parts are, and beside these it needs the key.
                if isNeeded != nil, !targets.isEmpty, paths.count == count { paths.append(path) }
                paths += targets.flatMap(keyPaths(of:)).map { path + $0 }
            }
            for target in nested {
                if plans[target].readMembers == nil {
                    paths.append(path)
                } else {
                    // The object around them is known.
                    let inverses = bindings.compactMap { inverse(of: $0, to: target, in: plan) }
                    collect(
                        plans[target].tree, plans[target], at: path, above: above + [target], nil, into: &paths,
                        leavingOut: Set(inverses))
                }
            }
        }
    }

    /// Returns the names of what a binding feeds: the field's, and that of its relationship.
    private func name(of binding: PathNode.Binding, in plan: MappingPlan) -> [String] {
        let layout = entities[plan.entity]
        switch binding {
        case .attribute(let field), .part(let field, _):
            let relationship = layout.fields[field].relationship.map { layout.toOne[$0].name }
            return [layout.fields[field].name] + [relationship].compactMap(\.self)
        case .toOne(let index): return [layout.toOne[index].name]
        case .toMany(let index): return [layout.toMany[index].name]
        case .metadata(let index): return [layout.toMany[plan.metadata[index].list].name]
        }
    }

    /// Returns the entity that a relationship leads to; nil for another value.
    private func target(of binding: PathNode.Binding, in plan: MappingPlan) -> Int? {
        let layout = entities[plan.entity]
        return switch binding {
        case .toOne(let index): layout.toOne[index].target
        case .toMany(let index): layout.toMany[index].target
        case .attribute, .part, .metadata: nil
        }
    }

    /// Returns the relationship to one of the target that stores a list; nil for another binding.
    private func inverse(of binding: PathNode.Binding, to target: Int, in plan: MappingPlan) -> Int? {
        guard case .toMany(let index) = binding else { return nil }
        let list = entities[plan.entity].toMany[index]
        guard list.target == target, case .inverse(let toOne) = list.storage else { return nil }
        return toOne
    }

    /// Whether a binding feeds one of these relationships to one.
    private func isPart(_ binding: PathNode.Binding, of relationships: Set<Int>, in plan: MappingPlan) -> Bool {
        switch binding {
        case .toOne(let index): relationships.contains(index)
        case .part(let field, _):
            entities[plan.entity].fields[field].relationship.map(relationships.contains) ?? false
        case .attribute, .toMany, .metadata: false
        }
    }

    /// Returns the path of each part of an entity's key, with dots, in records that have these attributes; none if a part
    /// has no path.
    package func keyPaths(of entity: Int, in attributes: [Attribute]) -> [String] {
        let layout = entities[entity]
        let paths = layout.key.map { field in
            attributes.first { $0.name == layout.fields[field].name }.flatMap { attribute -> String? in
                if case .path(let path) = attribute.source { path.components.joined(separator: ".") } else { nil }
            }
        }
        return paths.contains(nil) ? [] : paths.compactMap(\.self)
    }

    /// Returns the paths of the values of an entity's key in its own records.
    private func keyPaths(of entity: Int) -> [[String]] {
        let key = Set(entities[entity].key)
        var paths: [[String]] = []
        func search(_ node: PathNode, _ path: [String]) {
            for (name, child) in node.children where !name.hasPrefix("@") {
                let path = path + [name]
                let isKey = child.bindings.contains { binding in
                    switch binding {
                    case .attribute(let field), .part(let field, _): key.contains(field)
                    case .toOne, .toMany, .metadata: false
                    }
                }
                if isKey { paths.append(path) } else { search(child, path) }
            }
        }
        search(plans[entity].tree, [])
        return paths
    }
}
