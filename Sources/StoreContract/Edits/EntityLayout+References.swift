package import Mapping

extension EntityLayout {
    /// Checks the references to one object that an edit sets.
    ///
    /// - Parameters:
    ///   - columns: The columns that are set, by name.
    ///   - row: The row before the edit; nil if there was none.
    ///   - model: The model.
    ///   - exists: Returns whether there is a row, by its root entity and key.
    /// - Throws: ``StoreError`` of the code `request` if a reference has only part of a key, or no target.
    package func checkReferences(
        _ columns: [String: StoredValue], row: [StoredValue]?, in model: CompiledModel,
        exists: (_ root: Int, _ key: [StoredValue]) throws -> Bool
    ) throws {
        for toOne in toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            guard fields.contains(where: { columns[self.fields[$0].name] != nil }) else { continue }
            let key = fields.map { columns[self.fields[$0].name] ?? row?[$0] ?? .null }
            guard key.contains(where: { $0 != .null }) else { continue }
            guard !key.contains(.null) else {
                let names = fields.map { self.fields[$0].name }.joined(separator: ", ")
                throw StoreError(
                    .request, "\(name).\(toOne.name) is set to a part of a key",
                    remedy: "set all of \(names), or all of them to null")
            }
            // An object may refer to itself before it exists.
            let isItself = key == self.key.map { columns[self.fields[$0].name] ?? row?[$0] ?? .null }
            if model.entities[toOne.target].root == root, isItself { continue }
            try model.checkTarget(toOne.target, key, of: "\(name).\(toOne.name)", exists: exists)
        }
    }

    /// Checks a target of a to-many relationship; returns its key with the types of the target's attributes.
    ///
    /// - Parameters:
    ///   - key: The key as the edit gives it.
    ///   - toMany: The relationship.
    ///   - model: The model.
    ///   - exists: Returns whether there is a row, by its root entity and key.
    /// - Throws: ``StoreError`` of the code `request` if it is not the key of an object.
    package func checkLink(
        _ key: [StoredValue], _ toMany: ToMany, in model: CompiledModel,
        exists: (_ root: Int, _ key: [StoredValue]) throws -> Bool
    ) throws -> [StoredValue] {
        let target = model.entities[toMany.target]
        guard key.count == target.key.count else {
            throw StoreError(
                .request, "\(name).\(toMany.name) is given a key of \(key.count) parts",
                remedy: "keys of \(target.name) have \(target.key.count)")
        }
        let values = Dictionary(
            zip(target.key, key).map { (target.fields[$0].name, $1) }, uniquingKeysWith: { $1 })
        let checked = try EditedValues(values, of: target, in: model)
        let fitting = target.key.map { checked.value($0) ?? .null }
        try model.checkTarget(toMany.target, fitting, of: "\(name).\(toMany.name)", exists: exists)
        return fitting
    }
}

extension CompiledModel {
    fileprivate func checkTarget(
        _ target: Int, _ key: [StoredValue], of what: String,
        exists: (_ root: Int, _ key: [StoredValue]) throws -> Bool
    ) throws {
        guard try !exists(entities[target].root, key) else { return }
        let name = key.map(\.description).joined(separator: ", ")
        throw StoreError(
            .request, "\(what) is to refer to \(entities[target].name) \(name), which does not exist",
            remedy: "create that first, or sync it")
    }
}
