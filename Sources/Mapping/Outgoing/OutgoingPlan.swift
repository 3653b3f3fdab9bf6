package import Model

/// A plan that maps local values of one entity's objects to remote ones, and knows which values can be written.
///
/// The inverse of the entity's ``MappingPlan``: mapping its result yields the same row.
package struct OutgoingPlan: Sendable {
    /// The reason why a value cannot be written.
    package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        /// The attribute or relationship.
        package var name: String
        /// The full message.
        package var description: String

        package init(_ name: String, _ description: String) {
            self.name = name
            self.description = description
        }
    }

    /// The entity's index in the ``CompiledModel``.
    package let entity: Int
    let model: CompiledModel
    private let name: String
    private let isWritable: Bool
    let attributes: [String: Attribute]
    let relationships: [String: Relationship]
    /// Names that only further sources provide, with the source.
    let sources: [String: String]
    /// The to-one relationship to the parent, whose key is part of the request path.
    let parent: String?
    /// The attributes that hold the parent's key in a scan per parent.
    private let parentKey: Set<String>

    /// Creates the plan of an entity.
    package init(of entity: Int, in model: CompiledModel) {
        self.entity = entity
        self.model = model
        let definition = model.model.entities[entity]
        name = definition.name
        isWritable = model.model.isWritable(definition)
        attributes = Dictionary(
            model.model.attributes(of: definition).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        relationships = Dictionary(
            model.model.relationships(of: definition).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let root = model.model.root(of: definition)
        sources = Dictionary(
            root.sources.flatMap { source in
                (source.attributes.map(\.name) + source.relationships.map(\.name))
                    .filter(root.sourcedNames.contains).map { ($0, source.name) }
            }, uniquingKeysWith: { first, _ in first })
        parent = model.model.scanned(definition).parent?.relationship
        parentKey = Set(model.plans[entity].parentKey.map { model.entities[entity].fields[$0.field].name })
    }

    var layout: EntityLayout { model.entities[entity] }

    // MARK: - Permissions

    /// Returns the reason why a column or to-many relationship cannot be set; nil if it can.
    ///
    /// - Parameter isNew: Whether the object is being created.
    package func refusal(of name: String, isNew: Bool) -> Refusal? {
        let what = "\(self.name).\(name)"
        guard isWritable else {
            return Refusal(name, "\(self.name) is not writable; add \"writable: true\" to the entity")
        }
        if let many = layout.toMany.first(where: { $0.name == name }) { return refusal(of: many, what, isNew) }
        guard let index = layout.fields.firstIndex(where: { $0.name == name }) else {
            return Refusal(name, "\(self.name) has no attribute or relationship \"\(name)\"")
        }
        let field = layout.fields[index]
        let rule: WriteRule
        if let relationship = field.relationship.map({ layout.toOne[$0].name }) {
            guard let found = relationships[relationship] else { return foreign(name, what) }
            if let source = sources[relationship] { return sourced(name, what, source) }
            rule = found.write
            if !isNew, relationship == parent, !rule.isExplicit {
                return Refusal(
                    name,
                    "\(what) is the parent, which is sent in the path only, so the object stays where it is: "
                        + "\"write: true\" sends it in the body, to a remote that moves objects so")
            }
        } else {
            guard let attribute = attributes[name] else { return foreign(name, what) }
            if let source = sources[name] { return sourced(name, what, source) }
            if case .paths(let paths) = attribute.source {
                return Refusal(name, "\(what) is joined from \(paths.map(\.description).joined(separator: ", "))")
            }
            if case .path(let path) = attribute.source, path.isOfSurroundings, attribute.write.path == nil {
                return Refusal(name, "\(what) is outside the object (\(path)), not a member of it")
            }
            if case .constant = attribute.source { return Refusal(name, "\(what) is a constant of the configuration") }
            if case .path(let path) = attribute.source, attribute.write.path == nil,
                attribute.type == .json && path.components.count > 1 || path.mayLeadToElement
            {
                return Refusal(
                    name,
                    "\(what) comes from the path \(path), which may lead \(path.mayLeadToElement ? "into" : "across") a "
                        + "list; \"write: {to: PATH}\" says where it goes")
            }
            rule = attribute.write
        }
        if !isNew, layout.key.contains(index) {
            return Refusal(name, "\(what) is part of the key, which cannot be changed")
        }
        return refusal(of: rule, name, what, isNew)
    }

    /// Returns whether a column or to-many relationship is left out of what bmo sends of its own accord, such as all values
    /// of an object that is created again: the user did not set it, so that it need not be writable.
    package func leavesOut(_ name: String, isNew: Bool) -> Bool {
        guard isWritable else { return false }
        return refusal(of: name, isNew: isNew) != nil
            || attributes[name].map { $0.transformers.contains { !$0.hasInverse } } == true
    }

    /// Returns whether the remote alone sets an attribute, as it assigns most keys.
    package func isSetByRemote(_ attribute: String) -> Bool {
        sources[attribute] != nil || attributes[attribute]?.write.permission == .never
    }

    private func refusal(of many: EntityLayout.ToMany, _ what: String, _ isNew: Bool) -> Refusal? {
        guard let relationship = relationships[many.name] else { return foreign(many.name, what) }
        if let source = sources[many.name] { return sourced(many.name, what, source) }
        guard case .links = many.storage else {
            let definition = model.model.entities[entity]
            guard case .inverse(let other, let name)? = model.model.storage(of: relationship, in: definition) else {
                return Refusal(many.name, "\(what) is stored by its target: set it there")
            }
            return Refusal(many.name, "\(what) is stored by the other side: set \(other).\(name)")
        }
        return refusal(of: relationship.write, many.name, what, isNew)
    }

    private func refusal(of rule: WriteRule, _ name: String, _ what: String, _ isNew: Bool) -> Refusal? {
        switch rule.permission {
        case .never: Refusal(name, "\(what) comes from the remote only (\"write: false\")")
        case .createOnly where !isNew: Refusal(name, "\(what) can be set in a new object only (\"write: create_only\")")
        case .always, .createOnly: nil
        }
    }

    private func foreign(_ name: String, _ what: String) -> Refusal {
        let definition = model.model.entities[entity]
        let others = model.model.family(of: model.model.root(of: definition)).filter { other in
            other.attributes.contains { $0.name == name } || other.relationships.contains { $0.name == name }
        }
        guard let other = others.first else {
            return Refusal(name, "\(what) is not an attribute of \(self.name): bmo maintains that column itself")
        }
        return Refusal(
            name, "\(self.name) has no \(name), which \(other.name) has: edit the object as \(other.name)")
    }

    private func sourced(_ name: String, _ what: String, _ source: String) -> Refusal {
        Refusal(name, "\(what) comes from the source \"\(source)\", which cannot be written")
    }

    /// The members of the remote's object that a new one can have, in the order of the columns, without nested ones.
    package var newMembers: [String] {
        var members: [String] = []
        func add(_ path: RemotePath, _ column: String) {
            guard path.components.count == 1, refusal(of: column, isNew: true) == nil,
                !members.contains(path.components[0])
            else { return }
            members.append(path.components[0])
        }
        for field in layout.fields {
            if let index = field.relationship {
                let toOne = layout.toOne[index]
                guard let relationship = relationships[toOne.name],
                    toOne.name != parent || relationship.write.isExplicit
                else { continue }
                add(relationship.write.path ?? relationship.source, field.name)
            } else if let attribute = attributes[field.name], case .path(let path) = attribute.source,
                !isOfParent(attribute)
            {
                add(attribute.write.path ?? path, field.name)
            }
        }
        return members
    }

    // MARK: - Values

    /// Returns the remote form of columns and to-many relationships.
    ///
    /// - Parameters:
    ///   - columns: Local values by column. A relationship whose target has several key attributes needs all its
    ///     columns.
    ///   - links: The keys of the targets, by relationship.
    /// - Throws: ``Refusal`` if a value has no remote form, or two values have the same path.
    package func object(
        _ columns: [String: StoredValue], links: [String: [[StoredValue]]] = [:]
    ) throws(Refusal) -> OutgoingValue {
        var object = OutgoingValue.object([])
        func put(_ value: OutgoingValue, _ path: RemotePath, _ name: String) throws(Refusal) {
            guard object.put(value, at: path.components[...]) else {
                throw Refusal(
                    name, "\(self.name).\(name) goes to \(path), as another value of the object does")
            }
        }
        for field in layout.fields where field.relationship == nil {
            guard let value = columns[field.name], let attribute = attributes[field.name],
                case .path(let path) = attribute.source, !isOfParent(attribute)
            else { continue }
            try put(try remote(value, of: attribute), attribute.write.path ?? path, field.name)
        }
        for toOne in layout.toOne {
            let fields = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount]
            guard fields.contains(where: { columns[$0.name] != nil }), let relationship = relationships[toOne.name]
            else {
                continue
            }
            // In a scan per parent, the parent is already in the request path.
            if toOne.name == parent, !relationship.write.isExplicit { continue }
            let key = fields.map { columns[$0.name] ?? .null }
            let value = try reference(to: toOne.target, key, relationship)
            try put(value, relationship.write.path ?? relationship.source, toOne.name)
        }
        for many in layout.toMany {
            guard let keys = links[many.name], let relationship = relationships[many.name] else { continue }
            var list: [OutgoingValue] = []
            for key in keys { list.append(try reference(to: many.target, key, relationship)) }
            try put(.array(list), relationship.write.path ?? relationship.source, many.name)
        }
        return object
    }

    /// Returns whether an attribute reads the parent's key, which is part of the request path in a scan per parent.
    func isOfParent(_ attribute: Attribute) -> Bool {
        !attribute.write.isExplicit && parentKey.contains(attribute.name)
            && layout.key.contains { layout.fields[$0].name == attribute.name }
    }

    /// Returns the remote values of a key by local names, for URLs and requests.
    package func key(_ key: [StoredValue]) throws(Refusal) -> [(name: String, value: OutgoingValue)] {
        var values: [(name: String, value: OutgoingValue)] = []
        for (index, value) in zip(layout.key, key) {
            let field = layout.fields[index]
            guard let attribute = attributes[field.name] else {
                values.append((field.name, OutgoingValue(RemoteScalar(stored: value))))
                continue
            }
            values.append((field.name, try remote(value, of: attribute)))
        }
        return values
    }

    /// Returns an attribute's path in the records.
    package func path(of attribute: String) -> RemotePath? {
        guard case .path(let path)? = attributes[attribute]?.source else { return nil }
        return path
    }

    func reference(
        to target: Int, _ key: [StoredValue], _ relationship: Relationship
    ) throws(Refusal) -> OutgoingValue {
        let definition = model.model.entities[target]
        let keys = model.model.key(of: definition)
        guard !key.contains(.null) else {
            guard let none = relationship.nullValues.first else { return .null }
            let number = keys.first?.type == .integer ? Int64(none) : nil
            return OutgoingValue(number.map { RemoteScalar.int($0) } ?? .text(none))
        }
        let own = Dictionary(
            model.model.attributes(of: definition).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let isBare = relationship.write.form.map { $0 == .key } ?? (keys.count == 1)
        var object = OutgoingValue.object([])
        for (declared, value) in zip(keys, key) {
            let attribute = own[declared.name] ?? declared
            let remote: OutgoingValue
            do {
                remote = try OutgoingConverter(attribute, model.code).convert(value)
            } catch {
                throw Refusal(relationship.name, Self.words(name, relationship.name, value, error))
            }
            if isBare, keys.count == 1 { return remote }
            guard case .path(let path) = attribute.source else { continue }
            _ = object.put(remote, at: path.components[...])
        }
        return object
    }

    func remote(_ value: StoredValue, of attribute: Attribute) throws(Refusal) -> OutgoingValue {
        do {
            return try OutgoingConverter(attribute, model.code).convert(value)
        } catch {
            throw Refusal(attribute.name, Self.words(name, attribute.name, value, error))
        }
    }

    private static func words(
        _ entity: String, _ name: String, _ value: StoredValue, _ misfit: ValueConverter.Misfit
    ) -> String {
        "\(entity).\(name): \(OutgoingConverter.shown(value)) cannot be written: \(misfit.reason)"
    }
}

extension RemoteScalar {
    /// Creates a scalar from a local value, without conversion.
    init(stored value: StoredValue) {
        switch value.form {
        case .null: self = .null
        case .integer(let value): self = .int(value)
        case .real(let value): self = .double(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .bytes(value)
        }
    }
}
