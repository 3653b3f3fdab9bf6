internal import Model

/// A plan's path tree with a number for each node: what is the same for all batches.
struct PlanOutline: Sendable {
    /// A node's properties for the hot path.
    ///
    /// Plain numbers, because access then needs no reference counting.
    struct Step: Sendable {
        /// The index of its first binding in ``bindings``.
        let firstBinding: Int
        let bindingCount: Int
        let hasChildren: Bool
        /// The number of its table of children; without meaning if it has none.
        let table: Int
    }

    struct Node: Sendable {
        let bindings: [PathNode.Binding]
        let hasChildren: Bool
        /// The child nodes in the order of the tree.
        var children: [Int] = []
        /// The children with numeric names: in an array, each may be one of its elements.
        var elements: [Element] = []
    }

    /// A child node that stands for one element of an array.
    typealias Element = (index: Int, child: Int)

    /// Where a member's name leads to a node.
    struct Place: Sendable {
        /// The number of the outer node's table.
        let table: Int
        let child: Int32
    }

    static let root = 0

    private(set) var nodes: [Node] = []
    /// The nodes' properties for the hot path, with the same indexes as ``nodes``.
    private(set) var steps: [Step] = []
    private(set) var bindings: [PathNode.Binding] = []
    /// The paths to the nodes, for reports of unknown fields.
    private(set) var names: [String] = []
    /// Per table: what it has for the members that no path matches.
    private(set) var unmatched: [Int32] = []
    /// The places of each name, in UTF-8: names are compared byte by byte (RFC 8259, section 8.3).
    private(set) var places: [[UInt8]: [Place]] = [:]
    /// The length of the longest name, in bytes.
    private(set) var longestName = 0

    init(_ tree: PathNode) { _ = add(tree, name: "") }

    private mutating func add(_ tree: PathNode, name: String) -> Int {
        let index = nodes.count
        let table = unmatched.count
        names.append(name)
        nodes.append(Node(bindings: tree.bindings, hasChildren: !tree.children.isEmpty))
        steps.append(
            Step(
                firstBinding: bindings.count, bindingCount: tree.bindings.count, hasChildren: !tree.children.isEmpty,
                table: table))
        bindings += tree.bindings
        guard !tree.children.isEmpty else { return index }
        unmatched.append(Self.isReportedElsewhere(tree, name) ? ResolvedPlan.noted : ResolvedPlan.unknown)
        for child in tree.children {
            let node = add(child.node, name: name + RemotePath([child.name]).description + ".")
            nodes[index].children.append(node)
            if let number = RemotePath.elementIndex(child.name) { nodes[index].elements.append((number, node)) }
            let bytes = Array(child.name.utf8)
            places[bytes, default: []].append(Place(table: table, child: Int32(node)))
            longestName = max(longestName, bytes.count)
        }
        return index
    }

    /// Whether other plans report the unknown members below a node: those of an outer object, and of a nested object that a
    /// relationship reads.
    private static func isReportedElsewhere(_ tree: PathNode, _ name: String) -> Bool {
        name.hasPrefix("@parent.")
            || tree.bindings.contains { binding in
                switch binding {
                case .toOne, .toMany: true
                case .attribute, .part, .metadata: false
                }
            }
    }
}
