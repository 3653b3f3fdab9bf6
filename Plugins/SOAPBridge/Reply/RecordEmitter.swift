internal import BridgeKit
internal import RecordBatch

/// Writes a ``RecordTree`` into a batch: names to keys, text to typed values, repeated children to arrays.
struct RecordEmitter {
    /// Levels of containers in a batch: an element that repeats takes two.
    static let batchDepth = 120

    private var stamps: [UInt32] = []
    private var tails: [Int32] = []
    private var stamp: UInt32 = 0

    /// Writes the record, whose root is node 0, as one object.
    mutating func write(
        _ tree: inout RecordTree, _ plan: borrowing ReplyPlan, _ names: borrowing NameTable,
        to writer: RecordBatchWriter
    ) throws(BridgeError) {
        try writeElement(0, isRecord: true, depth: 0, &tree, plan, names, writer)
    }

    private mutating func writeElement(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        let node = tree.nodes[Int(index)]
        let type = plan.types[Int(node.type)]
        guard depth < Self.batchDepth else {
            throw BridgeError(
                .limit, "a record of the reply nests deeper than \(Self.batchDepth) levels of objects and lists")
        }
        if node.isNil {
            writer.null()
            return
        }
        var hasMembers = false
        var child = node.firstChild
        while child >= 0 {
            if tree.nodes[Int(child)].kind != .text { hasMembers = true }
            child = tree.nodes[Int(child)].nextSibling
        }
        guard hasMembers || isRecord || type.isComplex || type.isAlwaysObject else {
            writeText(of: node, kind: type.text ?? .text, tree, writer)
            return
        }
        writer.beginObject()
        group(node, &tree)
        child = node.firstChild
        var hasElements = false
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            let next = member.nextSibling
            defer { child = next }
            if member.kind == .text || member.isFollower { continue }
            names.withName(member.name) { writer.key(utf8: $0) }
            if member.kind == .attribute {
                let kind = type.attributes.first { $0.name == member.name }?.kind ?? .text
                tree.text.withUnsafeBytes {
                    LexicalValue.write(Self.span($0, member), as: kind, to: writer)
                }
                continue
            }
            hasElements = true
            guard member.isRepeated || member.nextOfName >= 0 else {
                try writeElement(child, isRecord: false, depth: depth + 1, &tree, plan, names, writer)
                continue
            }
            writer.beginArray()
            var element = child
            while element >= 0 {
                let following = tree.nodes[Int(element)].nextOfName
                try writeElement(element, isRecord: false, depth: depth + 2, &tree, plan, names, writer)
                element = following
            }
            writer.endArray()
        }
        writeObjectText(of: node, type, hasElements: hasElements, tree, plan, names, writer)
        writer.endObject()
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

    /// The member `#text`: always for simple content, in mixed content where there is any.
    private func writeObjectText(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, hasElements: Bool, _ tree: borrowing RecordTree,
        _ plan: borrowing ReplyPlan, _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) {
        let isSimple = type.text != nil || (!hasElements && !type.isComplex)
        if !isSimple {
            var child = node.firstChild
            var isBlank = true
            while child >= 0, isBlank {
                let run = tree.nodes[Int(child)]
                if run.kind == .text {
                    isBlank = tree.text.withUnsafeBytes { LexicalValue.trimmed(Self.span($0, run)).isEmpty }
                }
                child = run.nextSibling
            }
            if isBlank { return }
        } else if type.text == nil, !Self.hasText(node, tree) {
            return
        }
        names.withName(plan.textName) { writer.key(utf8: $0) }
        if isSimple || type.isMixed {
            writeText(of: node, kind: type.text ?? .text, tree, writer)
            return
        }
        // Text where the schema has elements only: its runs without the white space around them.
        var joined: [UInt8] = []
        var child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text {
                tree.text.withUnsafeBytes {
                    let text = LexicalValue.trimmed(Self.span($0, run))
                    if !joined.isEmpty, !text.isEmpty { joined.append(0x20) }
                    joined.append(contentsOf: text)
                }
            }
            child = run.nextSibling
        }
        joined.withUnsafeBytes { writer.text(utf8: $0) }
    }

    private static func hasText(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        var child = node.firstChild
        while child >= 0 {
            if tree.nodes[Int(child)].kind == .text { return true }
            child = tree.nodes[Int(child)].nextSibling
        }
        return false
    }

    private func writeText(
        of node: RecordTree.Node, kind: SimpleKind, _ tree: borrowing RecordTree, _ writer: RecordBatchWriter
    ) {
        var only: RecordTree.Node?
        var count = 0
        var child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text {
                only = run
                count += 1
            }
            child = run.nextSibling
        }
        guard let only else {
            LexicalValue.write(UnsafeRawBufferPointer(start: nil, count: 0), as: kind, to: writer)
            return
        }
        if count == 1 {
            tree.text.withUnsafeBytes { LexicalValue.write(Self.span($0, only), as: kind, to: writer) }
            return
        }
        var joined: [UInt8] = []
        child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text { tree.text.withUnsafeBytes { joined.append(contentsOf: Self.span($0, run)) } }
            child = run.nextSibling
        }
        joined.withUnsafeBytes { LexicalValue.write($0, as: kind, to: writer) }
    }

    private static func span(_ text: UnsafeRawBufferPointer, _ node: RecordTree.Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[node.textStart..<(node.textStart + node.textCount)])
    }
}
