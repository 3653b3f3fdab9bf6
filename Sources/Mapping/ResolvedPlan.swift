internal import Model
internal import RecordBatch

/// A plan's path tree with the key indexes of one batch, so that a member's place is one array access away.
final class ResolvedPlan {
    /// In ``tables``: a key that no path has.
    static let unknown: Int32 = -1
    /// The same, and it was noted.
    private static let noted: Int32 = -2

    /// What the hot path wants to know of a node: plain numbers, so that a look at one counts no references.
    struct Step {
        /// Where its bindings begin in ``bindings``.
        var firstBinding = 0
        var bindingCount = 0
        var hasChildren = false
        /// Where its table begins in ``tables``.
        var table = 0
    }

    struct Node {
        let bindings: [PathNode.Binding]
        let hasChildren: Bool
        /// Per key index of the batch: the child node, or ``unknown``.
        var table: [Int32]
        /// The children in the order of the tree.
        var children: [Int]
        /// The children whose names are numbers: over an array, each may be one of its elements.
        var elements: [Element] = []
    }

    /// A child that stands for one element of an array.
    typealias Element = (index: Int, child: Int)

    // Constants, all of them: a look at a class's variable costs a call of the runtime (exclusive access).
    let nodes: [Node]
    /// As ``nodes``.
    let steps: [Step]
    let bindings: [PathNode.Binding]
    /// The tables of all nodes, one after the other; memory of this plan's own, since unknown keys are noted in it.
    let tables: UnsafeMutableBufferPointer<Int32>
    let root = 0
    let mapping: MappingPlan
    /// The paths to the nodes, which only unknown fields need.
    private let names: [String]

    init(_ mapping: MappingPlan, _ batch: RecordBatch) {
        self.mapping = mapping
        // Names are compared byte by byte (RFC 8259, section 8.3), and nothing keeps a plugin from listing a key twice.
        var keys: [[UInt8]: [Int]] = [:]
        for index in 0..<batch.keyCount { keys[Array(batch.keyBytes(index)), default: []].append(index) }
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

    /// The path of a member that no path of the plan has, when it is met for the first time in the batch.
    func noteUnknown(_ member: BatchValue, below node: Int) -> String? {
        let place = steps[node].table + Int(member.keyIndex)
        guard tables[place] == Self.unknown else { return nil }
        tables[place] = Self.noted
        return names[node] + RemotePath([member.key]).description
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
            var table: [Int32] = tree.children.isEmpty ? [] : Array(repeating: unknown, count: keyCount)
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

    /// Every binding below a node, in a fixed order.
    ///
    /// - Parameter elements: Without these, as the node's value is an array.
    func eachBinding(below node: Int, besides elements: [Element] = [], _ body: (PathNode.Binding) -> Void) {
        for child in nodes[node].children where !elements.contains(where: { $0.child == child }) {
            nodes[child].bindings.forEach(body)
            eachBinding(below: child, body)
        }
    }

    /// The children of a node that stand for single elements of an array: not those that its elements have as members.
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

    /// Hands each value below `value` that a binding below `node` wants to `body`.
    ///
    /// Its first argument is the binding's position in the order of ``eachBinding(below:besides:_:)``. Arrays on the way are
    /// flattened.
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
