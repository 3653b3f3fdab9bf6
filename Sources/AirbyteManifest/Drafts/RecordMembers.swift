/// Where the members of a connector's records come from, after the transformations so far.
struct RecordMembers {
    enum Origin: Equatable {
        /// A path in the record that the API sends.
        case path([String])
        /// The attribute that stands for the member, such as a constant or joined texts.
        case attribute
        /// A transformation has removed the member, or its value is not known.
        case lost
    }

    private var changed: [String: Origin] = [:]

    mutating func set(_ member: String, _ origin: Origin) { changed[member] = origin }

    /// Returns the origin of a path in the transformed record.
    func origin(of path: [String]) -> Origin {
        guard let first = path.first, let origin = changed[first] else { return .path(path) }
        if case .path(let own) = origin { return .path(own + path.dropFirst()) }
        return path.count == 1 ? origin : .lost
    }
}
