internal import Foundation
internal import StoreContract

extension LocalObject {
    /// Returns the value of an attribute; nil for null.
    ///
    /// - Throws: ``RequestError`` with the code `model` if the attribute does not fit the configuration, and `value` for a
    ///   value that the type cannot represent, such as a decimal of more than 38 digits.
    public func value<Object, Value>(
        of attribute: ObjectAttribute<Object, Value>
    ) throws(RequestError) -> Value? {
        guard let value = self[attribute.name] else { throw misfit("\(entity) has no value \"\(attribute.name)\"") }
        guard !value.isNull else { return nil }
        guard let converted = Value(localValue: value) else {
            guard value.isKind(of: Value.self) else {
                throw misfit("\(id): \(attribute.name) is not a value of type \(Value.self)")
            }
            throw unfit(attribute.name, value, Value.self)
        }
        return converted
    }

    /// Returns the object's key as the type has it.
    ///
    /// - Throws: As ``value(of:)``.
    public func key<Object: BackedObject>(of type: Object.Type) throws(RequestError) -> Object.Key {
        guard let key = Object.Key(localValues: id.key) else { throw misfit(of: id, Object.Key.self) }
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
        guard let key = Target.Key(localValues: id.key) else { throw misfit(of: id, Target.Key.self) }
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

    /// Returns the error for a key that is not of a type, or that the type cannot represent.
    private func misfit(of id: ObjectID, _ type: Any.Type) -> RequestError {
        guard id.key.count == 1, id.key[0].isKind(of: type) else {
            return misfit("the key of \(id) is not of type \(type)")
        }
        return unfit("the key of \(id.entity)", id.key[0], type)
    }

    private func unfit(_ name: String, _ value: LocalValue, _ type: Any.Type) -> RequestError {
        RequestError(
            .answeredLocally, entity: entity, code: RequestError.unfitCode,
            "\(id): \(name) is \(value.described), which Swift's \(type) cannot represent",
            remedy: "read the object by its name, as a `LocalObject`, which has every value")
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

    /// Returns the objects as values of a type, without those that have a value which the type cannot represent.
    func readable<Object: BackedObject>(
        as type: Object.Type = Object.self
    ) throws(RequestError) -> ReadableObjects<Object> {
        var readable = ReadableObjects<Object>()
        for (place, object) in enumerated() {
            do throws(RequestError) {
                readable.objects.append(try Object(object))
            } catch {
                guard error.code == RequestError.unfitCode else { throw error }
                readable.misfits.append(error)
                readable.gaps.insert(place)
            }
        }
        return readable
    }
}

/// The objects of a list that a type can represent.
struct ReadableObjects<Object: BackedObject>: Sendable {
    /// The objects, in the list's order.
    var objects: [Object] = []
    /// Why others are left out.
    var misfits: [RequestError] = []
    /// The places of those in the list.
    var gaps: Set<Int> = []

    /// Returns the rows of the objects.
    ///
    /// - Parameter rows: The rows of the whole list.
    func rows(among rows: [EntityRow]) -> [EntityRow] {
        gaps.isEmpty ? rows : rows.enumerated().filter { !gaps.contains($0.offset) }.map(\.element)
    }
}

extension LocalValue {
    /// Whether the values of this kind have a type in generated models: one that the type refuses is too large for it, or
    /// has a form that it does not know.
    fileprivate func isKind(of type: Any.Type) -> Bool {
        switch self {
        case .decimal: type == Decimal.self
        case .url: type == URL.self
        case .integer: type == Int.self
        case .uuid: type == UUID.self
        case .date: type == CalendarDate.self
        case .timestamp: type == Date.self
        default: false
        }
    }
}
