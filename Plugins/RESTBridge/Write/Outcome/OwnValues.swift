internal import BridgeJSON
internal import BridgeKit

/// The values of the object that is changed, by which a reply shows it.
struct OwnValues {
    /// The sent values, the earlier ones, and the object's.
    private let known: [JSONTree]
    /// The members that records of the entity have; nil if the host does not know them.
    private let recordMembers: Set<String>?
    /// The key's values, with their paths in a record.
    private let key: [(path: [String], value: String)]
    /// The names of the members that identify the object.
    let identities: Set<String>

    init(_ request: WriteRequest) {
        known = [JSONTree(request.values), JSONTree(request.before), JSONTree(request.object)]
        recordMembers = request.recordMembers.map(Set.init)
        key = request.keyPaths.map { ($0.value, request.key.string($0.key) ?? "") }
        identities = Set(OutcomeWords.identities).union(request.keyPaths.values.compactMap(\.first))
    }

    /// Whether the object, or a record of its entity, has a value of this name.
    func hasName(_ name: String) -> Bool {
        recordMembers?.contains(name) == true || known.contains { $0[name] != nil }
    }

    /// Whether the host knows the members that records of the entity have.
    var knowsRecords: Bool { recordMembers != nil }

    /// Whether no record of the entity has a member of this name, as far as the host knows them.
    func isForeign(_ name: String) -> Bool { recordMembers != nil && !hasName(name) }

    /// Whether a member of a reply is the object's own.
    ///
    /// An outcome may have a `status` or a `code`, too: the name alone does not suffice.
    func contains(_ name: String, _ value: JSONTree) -> Bool {
        guard let found = EarlierValues.scalar(value) else { return hasName(name) }
        return !found.isEmpty
            && known.contains { object in
                object[name].flatMap(EarlierValues.scalar).map { SameNotation.isSame($0, found) } ?? false
            }
    }

    /// Whether members of an object beside its keys have the changed object's values.
    func areShown(in object: JSONTree) -> Bool {
        object.members.contains { name, value in
            !identities.contains(name) && EarlierValues.scalar(value) != nil && contains(name, value)
        }
    }

    /// Whether an object has a key or an ID.
    func isIdentified(_ object: JSONTree) -> Bool {
        identities.contains { EarlierValues.isGiven(object[$0]) }
    }

    /// Whether an object has the changed object's key.
    func haveKey(of object: JSONTree) -> Bool {
        !key.isEmpty
            && key.allSatisfy { path, wanted in
                !wanted.isEmpty
                    && object[path].flatMap(EarlierValues.scalar).map { SameNotation.isSame($0, wanted) } ?? false
            }
    }

    /// Whether an object in an envelope has no values of the changed object, and no key.
    func areAbsent(from object: JSONTree) -> Bool {
        object.isObject && !isIdentified(object) && !areShown(in: object)
    }

    /// Whether an object has a value, beside its keys, of a name that the object or a record of its entity has.
    func hasRecordValue(_ object: JSONTree) -> Bool {
        object.members.contains { $0.value != .null && !identities.contains($0.name) && hasName($0.name) }
    }

    /// Whether an object has no members but keys, nulls, and what tells the outcome of a request.
    func isOutcome(_ object: JSONTree) -> Bool {
        object.members.allSatisfy { name, value in
            value == .null || OutcomeWords.plainMembers.contains(OutcomeWords.plain(name)) || identities.contains(name)
        }
    }
}
