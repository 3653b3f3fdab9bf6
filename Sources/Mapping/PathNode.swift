/// The paths of an entity's mapping as a tree, so that an object's members are walked once.
struct PathNode: Sendable {
    enum Binding: Sendable, Hashable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
    }

    /// What this node's value feeds.
    var bindings: [Binding] = []
    /// Deeper paths, by member name.
    var children: [(name: String, node: PathNode)] = []

    /// Adds what the value at a path feeds; nil for nothing, so that the path is merely known.
    mutating func insert(_ path: ArraySlice<String>, _ binding: Binding?) {
        guard let first = path.first else {
            if let binding { bindings.append(binding) }
            return
        }
        if let index = children.firstIndex(where: { $0.name.utf8.elementsEqual(first.utf8) }) {
            children[index].node.insert(path.dropFirst(), binding)
        } else {
            var node = PathNode()
            node.insert(path.dropFirst(), binding)
            children.append((first, node))
        }
    }
}
