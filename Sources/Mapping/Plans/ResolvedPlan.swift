internal import Model
internal import RecordBatch

/// A plan's path tree, resolved for the key indexes of one batch, so that each member lookup is one array access.
final class ResolvedPlan {
    /// In ``tables``: a key that no path matches.
    static let unknown: Int32 = -1
    /// In ``tables``: an unknown key that was already reported.
    static let noted: Int32 = -2
    /// The maximum number of characters of a name in the path of an unknown field.
    private static let maxNameShare = 200

    typealias Element = PlanOutline.Element

    // Constants, because reading a class's variable calls the runtime's exclusivity check.
    let nodes: [PlanOutline.Node]
    let steps: [PlanOutline.Step]
    let bindings: [PathNode.Binding]
    /// Per table of the outline, and per key index of the batch: the child node, or ``unknown``.
    ///
    /// In memory owned by this plan, because unknown keys are marked in it.
    let tables: UnsafeMutableBufferPointer<Int32>
    let root = PlanOutline.root
    let mapping: MappingPlan
    private let keyCount: Int

    init(_ mapping: MappingPlan, _ batch: RecordBatch) {
        self.mapping = mapping
        let outline = mapping.outline
        (nodes, steps, bindings) = (outline.nodes, outline.steps, outline.bindings)
        keyCount = batch.keyCount
        tables = .allocate(capacity: outline.unmatched.count * batch.keyCount)
        for (table, child) in outline.unmatched.enumerated() {
            tables[table * keyCount..<(table + 1) * keyCount].initialize(repeating: child)
        }
        // A batch may have hundreds of thousands of names, but the plan needs only a few. A plugin may list a key twice.
        for index in 0..<batch.keyCount {
            let bytes = batch.keyBytes(index)
            guard bytes.count <= outline.longestName else { continue }
            for place in outline.places[Array(bytes)] ?? [] { tables[place.table * keyCount + index] = place.child }
        }
    }

    deinit { tables.deallocate() }

    /// Returns where a node's table begins in ``tables``; only for a node with children.
    func table(of node: Int) -> Int { steps[node].table * keyCount }

    /// Marks an unmatched member as reported; returns whether it is its first occurrence in the batch.
    func markUnknown(_ member: BatchValue, below node: Int) -> Bool {
        let place = table(of: node) + Int(member.keyIndex)
        guard tables[place] == Self.unknown else { return false }
        tables[place] = Self.noted
        return true
    }

    /// Returns a member's path for display.
    ///
    /// Long names are cut, because a remote may send a megabyte as a name.
    func path(to member: BatchValue, below node: Int) -> String {
        mapping.outline.names[node] + RemotePath([String(member.key.prefix(Self.maxNameShare))]).description
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
        let names = mapping.outline.names
        return nodes[node].children.first { names[$0].hasSuffix(name + ".") && names[$0] == names[node] + name + "." }
    }

    /// Returns the children of a node that stand for single elements of an array, without those that its elements have
    /// as members.
    func elements(of array: BatchValue, at node: Int) -> [Element] {
        let elements = nodes[node].elements
        guard !elements.isEmpty else { return [] }
        var members: Set<Int32> = []
        for index in 0..<array.count where array[index].tag == .object {
            let object = array[index]
            for place in 0..<object.count { members.insert(tables[table(of: node) + Int(object[place].keyIndex)]) }
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
                let child = Int(tables[table(of: node) + Int(member.keyIndex)])
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
