/// The values of an object by their names in the configuration, as an edit writes them.
public struct ObjectValues: Sendable {
    private var nodes: [String: ObjectNode] = [:]

    init() {}

    init(_ object: some WritableObject) { object.write(to: &self) }

    /// Sets an attribute; nil clears it.
    public mutating func set<Object, Value>(_ attribute: ObjectAttribute<Object, Value>, _ value: Value?) {
        nodes[attribute.name] = .value(value.localValue)
    }

    /// Sets the target of a relationship; nil removes it.
    public mutating func set<Object, Target>(
        _ relationship: ToOneRelationship<Object, Target>, _ target: ObjectReference<Target>?
    ) {
        nodes[relationship.path] = target.map { Self.node(of: $0.key, $0.object) } ?? .value(.null)
    }

    /// Sets the targets of a relationship, in their order; nil leaves them unchanged.
    public mutating func set<Object, Target>(
        _ relationship: ToManyRelationship<Object, Target>, _ targets: [Target]?
    ) {
        nodes[relationship.path] = targets.map { .list($0.map { Self.node(of: $0.objectKey, $0) }) }
    }

    /// The object as an edit refers to it: by its key alone.
    private static func node<Target: BackedObject>(of key: Target.Key, _ object: Target?) -> ObjectNode {
        let values = key.localValues
        guard values.count != 1 else { return .value(values[0]) }
        return .members(zip(Target.Key.attributeNames, values).map { (name: $0, node: .value($1)) })
    }

    /// The content of an edit, in the order of the names.
    var content: ObjectNode { .members(nodes.sorted { $0.key < $1.key }.map { (name: $0.key, node: $0.value) }) }

    /// Returns the values that differ from others.
    func changes(from old: ObjectValues) -> ObjectValues {
        var changes = ObjectValues()
        changes.nodes = nodes.filter { name, node in
            guard let before = old.nodes[name] else { return true }
            return !Self.isSame(node, before)
        }
        return changes
    }

    var isEmpty: Bool { nodes.isEmpty }

    private static func isSame(_ left: ObjectNode, _ right: ObjectNode) -> Bool {
        switch (left, right) {
        case (.value(let left), .value(let right)): left == right
        case (.list(let left), .list(let right)): left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (.members(let left), .members(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.name == $1.name && isSame($0.node, $1.node) }
        default: false
        }
    }
}

/// The values of a new object: those that are assigned are sent, and the remote chooses the others.
///
/// ```swift
/// try await manager.create(Note.self) { $0.title = "milk"; $0.list = ObjectReference(groceries) }
/// ```
@dynamicMemberLookup
public struct ObjectDraft<Object: WritableObject>: Sendable {
    var values = ObjectValues()
    private var assigned: [String: any Sendable] = [:]

    init() {}

    /// The value of an attribute, as assigned here.
    public subscript<Value>(dynamicMember path: KeyPath<Object.Type, ObjectAttribute<Object, Value>>) -> Value? {
        get { assigned[Object.self[keyPath: path].name] as? Value }
        set {
            let attribute = Object.self[keyPath: path]
            assigned[attribute.name] = newValue
            values.set(attribute, newValue)
        }
    }

    /// The target of a relationship, as assigned here.
    public subscript<Target>(
        dynamicMember path: KeyPath<Object.Type, ToOneRelationship<Object, Target>>
    ) -> ObjectReference<Target>? {
        get { assigned[Object.self[keyPath: path].path] as? ObjectReference<Target> }
        set {
            let relationship = Object.self[keyPath: path]
            assigned[relationship.path] = newValue
            values.set(relationship, newValue)
        }
    }

    /// The targets of a relationship, as assigned here.
    public subscript<Target>(
        dynamicMember path: KeyPath<Object.Type, ToManyRelationship<Object, Target>>
    ) -> [Target]? {
        get { assigned[Object.self[keyPath: path].path] as? [Target] }
        set {
            let relationship = Object.self[keyPath: path]
            assigned[relationship.path] = newValue
            values.set(relationship, newValue)
        }
    }
}
