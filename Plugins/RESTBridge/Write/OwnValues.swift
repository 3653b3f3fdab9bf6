internal import BridgeJSON
internal import BridgeKit

/// The values of the object that is changed, by which a reply shows it.
struct OwnValues {
    /// The sent values, the earlier ones, and the object's.
    private let known: [JSONTree]
    /// The names of the members that identify the object.
    let identities: Set<String>

    init(_ request: WriteRequest) {
        known = [JSONTree(request.values), JSONTree(request.before), JSONTree(request.object)]
        identities = Set(OutcomeWords.identities).union(request.keyPaths.values.compactMap(\.first))
    }

    /// Whether the object has a value of this name.
    func hasName(_ name: String) -> Bool { known.contains { $0[name] != nil } }

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
}
