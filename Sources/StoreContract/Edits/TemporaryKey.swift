package import Mapping
internal import Model

/// Keys for new objects that the remote has not assigned a key yet.
///
/// Text becomes `bmo:` and a UUID, and an integer becomes a negative number below all others; the remote's key replaces
/// them. A UUID is permanent, unless the configuration says that it comes only from the remote.
package struct TemporaryKey {
    private let model: CompiledModel
    private let least: (EntityLayout, Int) throws -> StoredValue
    private let nextEntry: () throws -> Int64

    /// Creates a maker of keys.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - least: Returns the least value of a field in an entity's table; null in an empty table.
    ///   - nextEntry: Returns the ID of the next outbox entry, which no earlier one had.
    package init(
        _ model: CompiledModel, least: @escaping (_ layout: EntityLayout, _ field: Int) throws -> StoredValue,
        nextEntry: @escaping () throws -> Int64
    ) {
        self.model = model
        self.least = least
        self.nextEntry = nextEntry
    }

    /// Returns the key of a new object: the given parts, and new values for the others.
    ///
    /// - Parameters:
    ///   - given: The whole key, or empty.
    ///   - values: The values of the edit, which may include parts of the key.
    package func key(
        of layout: EntityLayout, given: [StoredValue], _ values: EditedValues
    ) throws -> (key: [StoredValue], temporary: Set<Int>) {
        guard !layout.key.isEmpty else {
            throw StoreError(
                .request, "objects of \(layout.name) have no key (unique: none), so none can be created here",
                remedy: "give the entity a key in the configuration")
        }
        guard given.isEmpty || given.count == layout.key.count else {
            throw StoreError(
                .request,
                "the key of \(layout.name) has \(layout.key.count) parts, but the given key has \(given.count)",
                remedy: "its parts are: \(layout.key.map { layout.fields[$0].name }.joined(separator: ", "))")
        }
        if layout.isSingleton { return ([.integer(1)], []) }
        var key: [StoredValue] = []
        var temporary: Set<Int> = []
        for (part, field) in layout.key.enumerated() {
            let value = values.value(field)
            if !given.isEmpty {
                let checked = try EditedValues([layout.fields[field].name: given[part]], of: layout, in: model)
                    .fields[0].value
                guard value == nil || value == checked else {
                    throw StoreError(
                        .request,
                        "\(layout.name).\(layout.fields[field].name) is given twice, as \(checked) and "
                            + "\(value ?? .null)", remedy: "give one of them")
                }
                key.append(checked)
            } else if let value {
                key.append(value)
            } else {
                let made = try make(layout, field)
                key.append(made.value)
                if made.isTemporary { temporary.insert(field) }
            }
            guard key[part] != .null else {
                throw StoreError(
                    .request, "\(layout.name).\(layout.fields[field].name) is part of the key and cannot be null",
                    remedy: "give a value, or leave it out if the remote assigns it")
            }
        }
        return (key, temporary)
    }

    /// Returns a value for a part of a key, and whether the remote's value will replace it.
    package func make(_ layout: EntityLayout, _ field: Int) throws -> (value: StoredValue, isTemporary: Bool) {
        switch layout.fields[field].type {
        case .uuid: return (.uuid(RandomUUID.text()), comesFromRemote(layout, field))
        case .text: return (.text("bmo:\(RandomUUID.text())"), true)
        case .url: return (.url("bmo:\(RandomUUID.text())"), true)
        case .integer:
            // IDs of entries are never reused, so neither are the keys of earlier objects.
            var number = -(try nextEntry())
            if case .integer(let least) = try least(layout, field), least <= number {
                guard least > .min else {
                    throw StoreError(
                        .request, "no number is left below all of \(layout.name).\(layout.fields[field].name)",
                        remedy: "give the key")
                }
                number = least - 1
            }
            return (.integer(number), true)
        case let type:
            throw StoreError(
                .request,
                "\(layout.name).\(layout.fields[field].name) is part of the key, and of the type \(type.rawValue) none "
                    + "can be created here", remedy: "give it")
        }
    }

    /// Returns whether the part of the key is never sent (`write: false`).
    private func comesFromRemote(_ layout: EntityLayout, _ field: Int) -> Bool {
        OutgoingPlan(of: layout.root, in: model).isSetByRemote(layout.fields[field].name)
    }
}

extension OutboxEntry {
    /// Whether the temporary key was generated here, unlike the former key of an object that is created again because the
    /// remote deleted it.
    ///
    /// A UUID does not show it, but no other object has it.
    package var hasGeneratedKey: Bool {
        hasTemporaryKey
            && key.contains { part in
                switch part.form {
                case .integer(let number): number < 0
                case .text(let text): text.hasPrefix("bmo:")
                default: false
                }
            }
    }
}
