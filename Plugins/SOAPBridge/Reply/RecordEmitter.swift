internal import BridgeKit
internal import RecordBatch

/// Writes a ``RecordTree`` into a batch: names to keys, text to typed values, repeated children to arrays.
struct RecordEmitter {
    enum Limits {
        /// Levels of containers in a batch: an element that repeats takes two, and each reference to a reference one.
        static let batchDepth = 120
        /// Values of one record: references to references multiply.
        static let values = 500_000
    }

    let deferred: DeferredValues
    private var stamps: [UInt32] = []
    private var tails: [Int32] = []
    private var stamp: UInt32 = 0
    var values = 0
    /// The ids of the elements that are being written: a reference to one of them is a circle.
    var open: [UInt64] = []
    /// By rule and the number of a name.
    private var oddities: [UInt64: Int] = [:]

    init(deferred: DeferredValues) { self.deferred = deferred }

    /// Counts something forgiven.
    mutating func note(_ rule: Forgiveness.Rule, _ name: Int32) {
        oddities[UInt64(rule.rawValue) << 32 | UInt64(UInt32(bitPattern: name)), default: 0] += 1
    }

    /// What was forgiven so far.
    func forgiveness(_ names: NameTable) -> Forgiveness {
        var found = Forgiveness()
        for (key, count) in oddities.sorted(by: { $0.key < $1.key }) {
            guard let rule = Forgiveness.Rule(rawValue: UInt8(key >> 32)) else { continue }
            found.note(rule, names.name(Int32(truncatingIfNeeded: key)), count: count)
        }
        return found
    }

    /// Writes the record, whose root is node 0, as one object.
    mutating func write(
        _ tree: inout RecordTree, _ plan: borrowing ReplyPlan, _ names: borrowing NameTable,
        to writer: RecordBatchWriter
    ) throws(BridgeError) {
        defer { forgetRecord() }
        try writeElement(0, isRecord: true, depth: max(0, open.count - 1), &tree, plan, names, writer)
    }

    /// Forgets what a record counted, and what it was reached through.
    mutating func forgetRecord() {
        values = 0
        open.removeAll(keepingCapacity: true)
    }

    private mutating func writeElement(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        guard tree.isDeferred else {
            return try writeValue(index, isRecord: isRecord, depth: depth, &tree, plan, names, writer)
        }
        try countValue()
        guard let reference = tree.reference(of: tree.nodes[Int(index)]) else {
            return try writeValue(index, isRecord: isRecord, depth: depth, &tree, plan, names, writer)
        }
        let count = open.count
        defer { open.removeLast(open.count - count) }
        switch try follow(tree.bytes(of: reference), depth: depth) {
        case .element(var target):
            let hops = open.count - count
            try writeValue(0, isRecord: isRecord, depth: depth + hops - 1, &target, plan, names, writer)
        case .nothing(let rule):
            note(rule, tree.nodes[Int(index)].name)
            writer.null()
        }
    }

    /// Writes an element that stands here as null, list, text or object.
    private mutating func writeValue(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        let node = tree.nodes[Int(index)]
        guard depth < Limits.batchDepth else { throw Self.tooDeep }
        if node.isNil { return writer.null() }
        if node.isArray, !isRecord {
            return try writeArray(of: node, depth: depth, &tree, plan, names, writer)
        }
        let type = plan.types[Int(node.type)]
        guard isRecord || type.isComplex || type.isAlwaysObject || isObject(node, tree, plan) else {
            return writeText(of: node, type, tree, writer)
        }
        writer.beginObject()
        group(node, &tree)
        let hasElements = try writeMembers(of: node, type, depth: depth, &tree, plan, names, writer)
        writeObjectText(of: node, type, hasElements: hasElements, tree, plan, names, writer)
        writer.endObject()
    }

    /// Writes attributes and elements, each name once; says whether there are elements.
    private mutating func writeMembers(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, depth: Int, _ tree: inout RecordTree,
        _ plan: borrowing ReplyPlan, _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) -> Bool {
        var child = node.firstChild
        var hasElements = false
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            let next = member.nextSibling
            defer { child = next }
            if member.kind == .attribute {
                names.withName(member.name) { writer.key(utf8: $0) }
                writeAttribute(member, type, tree, plan, writer)
                continue
            }
            guard member.kind == .element, !member.isFollower else { continue }
            hasElements = true
            let isList = member.isRepeated || member.nextOfName >= 0
            guard isList || canWrite(member, tree) else { continue }
            names.withName(member.name) { writer.key(utf8: $0) }
            if isList {
                try writeList(from: child, depth: depth, &tree, plan, names, writer)
            } else {
                try writeElement(child, isRecord: false, depth: depth + 1, &tree, plan, names, writer)
            }
        }
        return hasElements
    }

    /// Writes the elements of one name, of which this is the first, as a list.
    private mutating func writeList(
        from first: Int32, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        writer.beginArray()
        var element = first
        while element >= 0 {
            let following = tree.nodes[Int(element)]
            if canWrite(following, tree) {
                try writeElement(element, isRecord: false, depth: depth + 2, &tree, plan, names, writer)
            }
            element = following.nextOfName
        }
        writer.endArray()
    }

    /// Attributes and elements make an object; a lone xsi:type beside a text does not.
    private func isObject(_ node: RecordTree.Node, _ tree: borrowing RecordTree, _ plan: borrowing ReplyPlan) -> Bool {
        var child = node.firstChild
        var hasText = false
        var hasType = false
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            switch member.kind {
            case .element: return true
            case .attribute:
                if member.name != plan.typeName { return true }
                hasType = true
            default: hasText = true
            }
            child = member.nextSibling
        }
        return hasType && !hasText
    }

    private mutating func writeArray(
        of node: RecordTree.Node, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        writer.beginArray()
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            if member.kind == .element, canWrite(member, tree) {
                try writeElement(child, isRecord: false, depth: depth + 1, &tree, plan, names, writer)
            }
            child = member.nextSibling
        }
        writer.endArray()
    }

    /// Leads from each child to the next one of its name.
    private mutating func group(_ node: RecordTree.Node, _ tree: inout RecordTree) {
        guard node.firstChild != node.lastChild else { return }
        stamp &+= 1
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            if member.kind == .element {
                let name = Int(member.name)
                while stamps.count <= name {
                    stamps.append(0)
                    tails.append(-1)
                }
                if stamps[name] == stamp { tree.markFollower(child, after: tails[name]) }
                stamps[name] = stamp
                tails[name] = child
            }
            child = member.nextSibling
        }
    }
}
