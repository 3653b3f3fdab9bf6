internal import BridgeKit
internal import RecordBatch

/// Writes a ``RecordTree`` into a batch: names to keys, text to typed values, repeated children to arrays.
struct RecordEmitter {
    enum Limits {
        /// Levels of containers in a batch: an element that repeats takes two.
        static let batchDepth = 120
        /// Values of one record: references to references multiply.
        static let values = 500_000
    }

    private let deferred: DeferredValues
    private var stamps: [UInt32] = []
    private var tails: [Int32] = []
    private var stamp: UInt32 = 0
    private var values = 0
    /// The ids of the elements that are being written: a reference to one of them is a circle.
    private var open: [UInt64] = []
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
        values = 0
        open.removeAll(keepingCapacity: true)
        try writeElement(0, isRecord: true, depth: 0, &tree, plan, names, writer)
    }

    private mutating func writeElement(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: borrowing ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        let node = tree.nodes[Int(index)]
        guard depth < Limits.batchDepth else {
            throw BridgeError(
                .limit, "a record of the reply nests deeper than \(Limits.batchDepth) levels of objects and lists")
        }
        if tree.isDeferred {
            values += 1
            guard values <= Limits.values else {
                throw BridgeError(.limit, "the references of a record lead to more than \(Limits.values) values")
            }
            if let reference = tree.reference(of: node) {
                let id = DeferredValues.hash(tree.bytes(of: reference))
                guard var target = try deferred.element(id) else { return writer.null() }
                open.append(id)
                try writeElement(0, isRecord: isRecord, depth: depth, &target, plan, names, writer)
                open.removeLast()
                return
            }
        }
        if node.isNil {
            writer.null()
            return
        }
        if node.isArray, !isRecord {
            return try writeArray(of: node, depth: depth, &tree, plan, names, writer)
        }
        let type = plan.types[Int(node.type)]
        guard isRecord || type.isComplex || type.isAlwaysObject || isObject(node, tree, plan) else {
            writeText(of: node, type, tree, writer)
            return
        }
        writer.beginObject()
        group(node, &tree)
        var child = node.firstChild
        var hasElements = false
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            let next = member.nextSibling
            defer { child = next }
            if member.kind == .attribute {
                names.withName(member.name) { writer.key(utf8: $0) }
                writeAttribute(member, type, tree, writer)
                continue
            }
            guard member.kind == .element, !member.isFollower else { continue }
            hasElements = true
            let isList = member.isRepeated || member.nextOfName >= 0
            guard isList || canWrite(member, tree) else { continue }
            names.withName(member.name) { writer.key(utf8: $0) }
            guard isList else {
                try writeElement(child, isRecord: false, depth: depth + 1, &tree, plan, names, writer)
                continue
            }
            writer.beginArray()
            var element = child
            while element >= 0 {
                let following = tree.nodes[Int(element)]
                if canWrite(following, tree) {
                    try writeElement(element, isRecord: false, depth: depth + 2, &tree, plan, names, writer)
                }
                element = following.nextOfName
            }
            writer.endArray()
        }
        writeObjectText(of: node, type, hasElements: hasElements, tree, plan, names, writer)
        writer.endObject()
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

    /// Whether what an element refers to is there, and is not one of those that hold it.
    private mutating func canWrite(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        guard tree.isDeferred, let reference = tree.reference(of: node) else { return true }
        let id = DeferredValues.hash(tree.bytes(of: reference))
        if open.contains(id) {
            note(.cycle, node.name)
        } else if deferred.has(id) {
            return true
        } else {
            note(.danglingReference, node.name)
        }
        return false
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

    // MARK: Text

    private mutating func writeAttribute(
        _ node: RecordTree.Node, _ type: ReplyPlan.ContentType, _ tree: borrowing RecordTree,
        _ writer: RecordBatchWriter
    ) {
        let kind = type.attributes.first { $0.name == node.name }?.kind ?? .text
        let fits = tree.text.withUnsafeBytes { text in
            let value = Self.span(text, node)
            if value.isEmpty, kind == .integer || kind == .decimal || kind == .double || kind == .boolean {
                writer.null()
                return true
            }
            return LexicalValue.write(value, as: kind, to: writer)
        }
        if !fits { note(.misfit, node.name) }
    }

    /// The member `#text`: always for simple content, in mixed content where there is any.
    private mutating func writeObjectText(
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
                    isBlank = tree.text.withUnsafeBytes { LexicalValue.isBlank(Self.span($0, run)) }
                }
                child = run.nextSibling
            }
            if isBlank { return }
        } else if type.text == nil, !Self.hasText(node, tree) {
            return
        }
        names.withName(plan.textName) { writer.key(utf8: $0) }
        if isSimple || type.isMixed {
            writeText(of: node, type, tree, writer)
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
            let kind = tree.nodes[Int(child)].kind
            if kind == .text || kind == .attachment { return true }
            child = tree.nodes[Int(child)].nextSibling
        }
        return false
    }

    private mutating func writeText(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, _ tree: borrowing RecordTree,
        _ writer: RecordBatchWriter
    ) {
        var only: RecordTree.Node?
        var count = 0
        var child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text {
                only = run
                count += 1
            } else if run.kind == .attachment {
                return writeAttachment(tree.bytes(of: child), node, writer)
            }
            child = run.nextSibling
        }
        guard let only else {
            return write(UnsafeRawBufferPointer(start: nil, count: 0), type, node, writer)
        }
        if count == 1 {
            tree.text.withUnsafeBytes { write(Self.span($0, only), type, node, writer) }
            return
        }
        var joined: [UInt8] = []
        child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text { tree.text.withUnsafeBytes { joined.append(contentsOf: Self.span($0, run)) } }
            child = run.nextSibling
        }
        joined.withUnsafeBytes { write($0, type, node, writer) }
    }

    private mutating func write(
        _ text: UnsafeRawBufferPointer, _ type: ReplyPlan.ContentType, _ node: RecordTree.Node,
        _ writer: RecordBatchWriter
    ) {
        let kind = type.text ?? .text
        if type.isList { return writeList(text, kind, node, writer) }
        if type.isEmptyNull, LexicalValue.isBlank(text) {
            note(.emptyValue, node.name)
            return writer.null()
        }
        if !LexicalValue.write(text, as: kind, to: writer) { note(.misfit, node.name) }
    }

    /// Values with white space between them (XSD part 2, section 4.1.2.2).
    private mutating func writeList(
        _ text: UnsafeRawBufferPointer, _ kind: SimpleKind, _ node: RecordTree.Node, _ writer: RecordBatchWriter
    ) {
        writer.beginArray()
        var rest = text[...]
        while true {
            rest = rest.drop(while: LexicalValue.isSpace)
            guard !rest.isEmpty else { break }
            let word = rest.prefix { !LexicalValue.isSpace($0) }
            if !LexicalValue.write(UnsafeRawBufferPointer(rebasing: word), as: kind, to: writer) {
                note(.misfit, node.name)
            }
            rest = rest.dropFirst(word.count)
        }
        writer.endArray()
    }

    private mutating func writeAttachment(_ href: [UInt8], _ node: RecordTree.Node, _ writer: RecordBatchWriter) {
        let name = AttachmentName.decoded(String(decoding: href, as: UTF8.self))
        guard let bytes = try? deferred.part(name) else {
            note(.missingAttachment, node.name)
            return writer.null()
        }
        bytes.withUnsafeBytes { writer.bytes($0) }
    }

    private static func span(_ text: UnsafeRawBufferPointer, _ node: RecordTree.Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[node.textStart..<(node.textStart + node.textCount)])
    }
}
