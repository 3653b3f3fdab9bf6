internal import Model

extension OutgoingPlan {
    /// Returns the remote's values before an update, as far as the earlier local values reveal them.
    ///
    /// For a bridge that reads the object before it writes: a different value there is a concurrent change. Values that
    /// may differ on the remote are omitted: those read through transformers, and those sent to another path than they
    /// are read from.
    package func before(_ columns: [String: StoredValue]) -> OutgoingValue {
        let known = columns.filter { name, value in isTold(name, value) && (try? object([name: value])) != nil }
        return (try? object(known)) ?? .object([])
    }

    /// The paths of all values that can be set in a new object.
    package var writtenPaths: [[String]] {
        let layout = model.entities[entity]
        var paths: [[String]] = []
        for field in layout.fields where field.relationship == nil && refusal(of: field.name, isNew: true) == nil {
            guard let attribute = attributes[field.name], case .path(let path) = attribute.source else { continue }
            paths.append((attribute.write.path ?? path).components)
        }
        let names = layout.toOne.map(\.name) + layout.toMany.map(\.name)
        for relationship in model.model.relationships(of: model.model.entities[entity])
        where names.contains(relationship.name) {
            paths.append((relationship.write.path ?? relationship.source).components)
        }
        return paths
    }

    private func isTold(_ name: String, _ value: StoredValue) -> Bool {
        guard let attribute = attributes[name], attribute.write.path == nil, attribute.type != .json else {
            return false
        }
        return attribute.transformers.allSatisfy { transformer in
            switch transformer {
            case .unit, .format: true
            default: false
            }
        }
    }
}
