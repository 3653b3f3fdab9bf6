internal import Model
internal import RecordBatch

/// A plan's path tree, resolved for the key indexes of one batch, so that each member lookup is one array access.
final class ResolvedPlan {
    /// In ``tables``: a key that no path matches.
    static let unknown: Int32 = -1
    /// The maximum number of characters of a name in the path of an unknown field.
    private static let maxNameShare = 200
    /// In ``tables``: an unknown key that was already reported.
    private static let noted: Int32 = -2

    /// A node's properties for the hot path.
    ///
    /// Plain numbers, because access then needs no reference counting.
    struct Step {
        /// The index of its first binding in ``bindings``.
        var firstBinding = 0
        var bindingCount = 0
        var hasChildren = false
        /// The index of its table in ``tables``.
        var table = 0
    }

    struct Node {
        let bindings: [PathNode.Binding]
        let hasChildren: Bool
        /// Per key index of the batch: the child node, or ``unknown``.
        var table: [Int32]
        /// The child nodes in the order of the tree.
        var children: [Int]
        /// The children with numeric names: in an array, each may be one of its elements.
        var elements: [Element] = []
    }

    /// A child node that stands for one element of an array.
    typealias Element = (index: Int, child: Int)

    // Constants, because reading a class's variable calls the runtime's exclusivity check.
    let nodes: [Node]
    /// The nodes' properties for the hot path, with the same indexes as ``nodes``.
    let steps: [Step]
    let bindings: [PathNode.Binding]
    /// The concatenated tables of all nodes, in memory owned by this plan, because unknown keys are marked in them.
    let tables: UnsafeMutableBufferPointer<Int32>
    let root = 0
    let mapping: MappingPlan
    /// The paths to the nodes, for reports of unknown fields.
    private let names: [String]

    init(_ mapping: MappingPlan, _ batch: RecordBatch) {
        self.mapping = mapping
        // Names are compared byte by byte (RFC 8259, section 8.3). A plugin may list a key twice.
        var keys: [[UInt8]: [Int]] = [:]
        Self.note(mapping.tree, in: &keys)
        // A batch may have hundreds of thousands of names, but the plan needs only a few.
        let longest = keys.keys.map(\.count).max() ?? 0
        for index in 0..<batch.keyCount {
            let bytes = batch.keyBytes(index)
            if bytes.count <= longest { keys[Array(bytes)]?.append(index) }
        }
        var builder = Builder(keys: keys, keyCount: batch.keyCount)
        _ = builder.add(mapping.tree, name: "")
        var steps: [Step] = []
        var bindings: [PathNode.Binding] = []
        var tables: [Int32] = []
        for node in builder.nodes {
            steps.append(
                Step(
                    firstBinding: bindings.count, bindingCount: node.bindings.count, hasChildren: node.hasChildren,
                    table: tables.count))
            bindings += node.bindings
            tables += node.table
        }
        nodes = builder.nodes
        names = builder.names
        self.steps = steps
        self.bindings = bindings
        self.tables = .allocate(capacity: tables.count)
        _ = self.tables.initialize(from: tables)
    }

    deinit { tables.deallocate() }

    private static func note(_ tree: PathNode, in keys: inout [[UInt8]: [Int]]) {
        for child in tree.children {
            keys[Array(child.name.utf8)] = []
            note(child.node, in: &keys)
        }
    }

    /// Marks an unmatched member as reported; returns whether it is its first occurrence in the batch.
    func markUnknown(_ member: BatchValue, below node: Int) -> Bool {
        let place = steps[node].table + Int(member.keyIndex)
        guard tables[place] == Self.unknown else { return false }
        tables[place] = Self.noted
        return true
    }

    /// Returns a member's path for display.
    ///
    /// Long names are cut, because a remote may send a megabyte as a name.
    func path(to member: BatchValue, below node: Int) -> String {
        names[node] + RemotePath([String(member.key.prefix(Self.maxNameShare))]).description
    }

    private struct Builder {
        let keys: [[UInt8]: [Int]]
        let keyCount: Int
        var nodes: [Node] = []
        var names: [String] = []

        mutating func add(_ tree: PathNode, name: String) -> Int {
            let index = nodes.count
            names.append(name)
            nodes.append(Node(bindings: tree.bindings, hasChildren: !tree.children.isEmpty, table: [], children: []))
            // Unknown members of an outer object, and of a nested object that a relationship reads, are reported by the
            // plans that map these objects.
            let isAround = name == "@parent." || name.hasPrefix("@parent.")
            let isRelated = tree.bindings.contains { binding in
                switch binding {
                case .toOne, .toMany: true
                default: false
                }
            }
            var table: [Int32] =
                tree.children.isEmpty ? [] : Array(repeating: isAround || isRelated ? noted : unknown, count: keyCount)
            var children: [Int] = []
            for child in tree.children {
                let node = add(child.node, name: name + RemotePath([child.name]).description + ".")
                children.append(node)
                if let number = RemotePath.elementIndex(child.name) { nodes[index].elements.append((number, node)) }
                for key in keys[Array(child.name.utf8)] ?? [] { table[key] = Int32(node) }
            }
            nodes[index].table = table
            nodes[index].children = children
            return index
        }
    }

    /// Calls `body` with every binding below a node, in a fixed order.
    ///
    /// - Parameter elements: Children to skip, because the node's value is an array.
    func eachBinding(below node: Int, besides elements: [Element] = [], _ body: (PathNode.Binding) -> Void) {
        for child in nodes[node].children where !elements.contains(where: { $0.child == child }) {
            nodes[child].bindings.forEach(body)
            eachBinding(below: child, body)
        }
    }

    /// Returns the child of a node with this name.
    func child(_ name: String, of node: Int) -> Int? {
        nodes[node].children.first { names[$0].hasSuffix(name + ".") && names[$0] == names[node] + name + "." }
    }

    /// Returns the children of a node that stand for single elements of an array, without those that its elements have
    /// as members.
    func elements(of array: BatchValue, at node: Int) -> [Element] {
        let elements = nodes[node].elements
        guard !elements.isEmpty else { return [] }
        var members: Set<Int32> = []
        for index in 0..<array.count where array[index].tag == .object {
            let object = array[index]
            for place in 0..<object.count { members.insert(nodes[node].table[Int(object[place].keyIndex)]) }
        }
        return elements.filter { !members.contains(Int32($0.child)) }
    }

    /// Calls `body` with each value below `value` that a binding below `node` reads.
    ///
    /// The first argument of `body` is the binding's position in the order of ``eachBinding(below:besides:_:)``. Arrays
    /// along the path are flattened.
    func collect(
        from value: BatchValue, at node: Int, besides elements: [Element], _ body: (Int, BatchValue) -> Void
    ) {
        collect(from: value, at: node, firstPosition: 0, besides: elements, body)
    }

    private func collect(
        from value: BatchValue, at node: Int, firstPosition: Int, besides elements: [Element] = [],
        _ body: (Int, BatchValue) -> Void
    ) {
        switch value.tag {
        case .array:
            for index in 0..<value.count {
                collect(from: value[index], at: node, firstPosition: firstPosition, besides: elements, body)
            }
        case .object:
            var positions: [Int: Int] = [:]
            var position = firstPosition
            for child in nodes[node].children where !elements.contains(where: { $0.child == child }) {
                positions[child] = position
                position += bindingCount(from: child)
            }
            for index in 0..<value.count {
                let member = value[index]
                let child = Int(nodes[node].table[Int(member.keyIndex)])
                guard child >= 0, let position = positions[child] else { continue }
                for offset in nodes[child].bindings.indices { body(position + offset, member) }
                if nodes[child].hasChildren {
                    collect(
                        from: member, at: child, firstPosition: position + nodes[child].bindings.count, body)
                }
            }
        default: break
        }
    }

    private func bindingCount(from node: Int) -> Int {
        nodes[node].children.reduce(nodes[node].bindings.count) { $0 + bindingCount(from: $1) }
    }
}
