/// The paths of an entity's mapping as a tree, so that each object's members are visited once.
struct PathNode: Sendable {
    enum Binding: Sendable, Hashable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
        /// A part of an attribute that joins several paths: the attribute's field, and the part's index.
        case part(Int, Int)
        /// A value beside a list, with its index in ``MappingPlan/metadata``.
        case metadata(Int)
    }

    /// The bindings that this node's value feeds.
    var bindings: [Binding] = []
    /// The deeper paths, by member name.
    private(set) var children: [(name: String, node: PathNode)] = []
    /// The places in ``children``, by name: a record may have thousands of members.
    private var places: [ExactText: Int] = [:]

    /// Adds a binding at a path; nil only marks the path as known.
    mutating func insert(_ path: ArraySlice<String>, _ binding: Binding?) {
        guard let first = path.first else {
            if let binding { bindings.append(binding) }
            return
        }
        if let index = places[ExactText(first)] {
            children[index].node.insert(path.dropFirst(), binding)
        } else {
            var node = PathNode()
            node.insert(path.dropFirst(), binding)
            places[ExactText(first)] = children.count
            children.append((first, node))
        }
    }
}
