internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

extension ListingScan {
    /// Returns the request of the entity's `read_one` for the object whose key the conditions are; nil without one.
    func objectRequest() async throws -> FetchRequest? {
        let workspace = context.workspace
        guard let definition = plan.entity.readOne else { return nil }
        let layout = workspace.model.entities[plan.index]
        let key = try workspace.key(of: context.options.conditions, layout)
        let row = try await context.thread.run { [context] in
            try context.store.rows(of: layout.index, keys: [key]).first?.values
        }
        var values = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (field, value) in zip(layout.key, key) { values[field] = value }
        var fetch = FetchRequest(entity: plan.entity.name, section: try PushRequest.section(definition, workspace))
        fetch.parent = try ParentObject(row ?? values, layout, relationship: nil).options
        fetch.readsOne = true
        fetch.keyPaths = plan.keyPaths
        fetch.fieldPaths = plan.fieldPaths
        fetch.surroundings = plan.surroundings
        fetch.patience = plan.retryFor
        return fetch
    }
}

extension Workspace {
    /// Returns the options of a sync of one object; nil if the remote cannot be asked for it alone.
    ///
    /// - Parameters:
    ///   - key: The values of the key's columns, as texts.
    ///   - name: The entity.
    func syncOptions(ofObject key: [String], of name: String) async -> SyncOptions? {
        guard let entity = model.model.entity(named: name), let index = model.index(of: name), entity.parent == nil,
            entity.sources.isEmpty
        else { return nil }
        let layout = model.entities[index]
        guard layout.key.count == key.count, !key.isEmpty else { return nil }
        var options = SyncOptions(entities: [name])
        options.conditions = zip(layout.key, key).map {
            LocalCondition(field: layout.fields[$0].name, comparison: .equal, value: $1)
        }
        guard (try? self.key(of: options.conditions, layout)) != nil else { return nil }
        if let one = entity.readOne, can("parent", entity.bridge) {
            // Of an object that is not here yet, only the key is known.
            let known = Set(layout.key.map { "parent.\(layout.fields[$0].name)" })
            let names = one.json.matches(of: /\{([A-Za-z_][A-Za-z0-9_.]*)\}/).map { String($0.1) }
            if !names.isEmpty, names.allSatisfy(known.contains) {
                options.readsOne = true
                return options
            }
        }
        let plan = try? await plan(options, in: nil)
        let isAsked = plan?.scans.allSatisfy { $0.failure == nil && $0.conditions.allSatisfy(\.isPushed) }
        return isAsked == true ? options : nil
    }

    /// Returns the key that conditions on its columns say.
    fileprivate func key(of conditions: [LocalCondition], _ layout: EntityLayout) throws -> [StoredValue] {
        try zip(layout.key, conditions).map { try $1.operand(for: layout.fields[$0], of: layout) }
    }
}
