extension LocalObject {
    /// Returns the value of an attribute; nil for null.
    ///
    /// - Throws: ``RequestError`` with the code `model` if the attribute does not fit the configuration.
    public func value<Object, Value>(
        of attribute: ObjectAttribute<Object, Value>
    ) throws(RequestError) -> Value? {
        guard let value = self[attribute.name] else { throw misfit("\(entity) has no value \"\(attribute.name)\"") }
        guard !value.isNull else { return nil }
        guard let converted = Value(localValue: value) else {
            throw misfit("\(id): \(attribute.name) is not a value of type \(Value.self)")
        }
        return converted
    }

    /// Returns the object's key as the type has it.
    ///
    /// - Throws: As ``value(of:)``.
    public func key<Object: BackedObject>(of type: Object.Type) throws(RequestError) -> Object.Key {
        guard let key = Object.Key(localValues: id.key) else {
            throw misfit("the key of \(id) is not of type \(Object.Key.self)")
        }
        return key
    }

    /// Returns the target of a relationship to one, with its object where it is included; nil without a target.
    ///
    /// - Throws: As ``value(of:)``.
    public func reference<Object, Target>(
        of relationship: ToOneRelationship<Object, Target>
    ) throws(RequestError) -> ObjectReference<Target>? {
        if let object = object(relationship.path) { return ObjectReference(try Target(object)) }
        guard schema.toOne(relationship.path) != nil else {
            throw misfit("\(entity) has no relationship \"\(relationship.path)\" to one object")
        }
        guard let id = reference(relationship.path) else { return nil }
        guard let key = Target.Key(localValues: id.key) else {
            throw misfit("the key of \(id) is not of type \(Target.Key.self)")
        }
        return ObjectReference(key: key)
    }

    /// Returns the targets of a relationship, in its order; nil where the query did not include it.
    ///
    /// - Throws: As ``value(of:)``.
    public func objects<Object, Target>(
        of relationship: ToManyRelationship<Object, Target>
    ) throws(RequestError) -> [Target]? {
        guard schema.toMany(relationship.path) != nil else {
            throw misfit("\(entity) has no relationship \"\(relationship.path)\" to many objects")
        }
        guard let objects = objects(relationship.path) else { return nil }
        var targets: [Target] = []
        targets.reserveCapacity(objects.count)
        for object in objects { targets.append(try Target(object)) }
        return targets
    }

    private func misfit(_ message: String) -> RequestError {
        RequestError(
            .answeredLocally, entity: entity, code: "model", message,
            remedy: "generate the Swift types again: `bmo schema --swift`")
    }
}

extension Sequence<LocalObject> {
    /// Returns the objects as values of a type.
    func typed<Object: BackedObject>(as type: Object.Type = Object.self) throws(RequestError) -> [Object] {
        var objects: [Object] = []
        objects.reserveCapacity(underestimatedCount)
        for object in self { objects.append(try Object(object)) }
        return objects
    }
}
