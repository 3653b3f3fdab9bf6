internal import BridgeKit
internal import RecordBatch

/// Writes a ``RecordTree`` to a batch: names become keys, text becomes typed values, repeated children become arrays.
struct RecordEmitter {
    enum Limits {
        /// Levels of containers in a batch.
        ///
        /// A repeated element takes two; each reference to a reference takes one.
        static let batchDepth = 120
        /// Values of one record: references to references multiply.
        static let values = 500_000
        /// Values of one record before lists are left out of the objects that it refers to: each such list may lead to all
        /// objects of the reply.
        static let sharedValues = 5_000
    }

    let deferred: DeferredValues
    /// Whether a record keeps everything needed to send it back.
    ///
    /// Values keep their text and their xsi:type; elements that the schema does not describe keep their namespace
    /// (`{urn:x}name`). If a record cannot be sent back, its member ``obstacleName`` gives the reason.
    let isExact: Bool
    /// An attachment to which the current record refers and which the reply lacks, or has in an unknown encoding.
    var missingPart: String?
    /// The name of an element whose text is not hexadecimal, as its type says: it would be taken for base64.
    var wrongHex: Int32?
    /// The reason why the current record could not be sent back.
    var obstacle: String?
    /// Not a valid XML name.
    static let obstacleName = "#obstacle"
    /// Whether the record is written for display, even if it lacks an attachment.
    var mayMissParts = false
    private var stamps: [UInt32] = []
    private var tails: [Int32] = []
    private var stamp: UInt32 = 0
    var values = 0
    /// The ids of the open elements: a reference to one of them is a cycle.
    var open: [UInt64] = []
    /// The identities of the open elements that carry one.
    var enclosing: [UInt32] = []
    /// Whether the reply has objects that refer to one another by WCF's numbers.
    var sharesObjects = false
    /// The ids of the elements around the records.
    var outer: Set<UInt64> = []
    /// The ids of objects outside the list that were too large to be kept.
    var largeObjects: Set<UInt64> = []
    /// The id of an object to which the current record refers and which is not kept.
    var missingObject: [UInt8]?
    /// The number of references that led to the current record itself.
    var ownReferences = 0
    /// Whether lists of objects are left out of the objects that the current record refers to.
    var cutsLists = false
    /// The number of values of the current record in the objects that it refers to.
    var sharedCount = 0
    /// Counts by rule and the number of a name.
    private var oddities: [UInt64: Int] = [:]

    init(deferred: DeferredValues, isExact: Bool = false) {
        self.deferred = deferred
        self.isExact = isExact
    }

    /// Counts a tolerated deviation.
    mutating func note(_ rule: ToleratedDeviations.Rule, _ name: Int32) {
        oddities[UInt64(rule.rawValue) << 32 | UInt64(UInt32(bitPattern: name)), default: 0] += 1
    }

    /// Returns the deviations tolerated so far.
    func deviations(_ names: NameTable) -> ToleratedDeviations {
        var found = ToleratedDeviations()
        for (key, count) in oddities.sorted(by: { $0.key < $1.key }) {
            guard let rule = ToleratedDeviations.Rule(rawValue: UInt8(key >> 32)) else { continue }
            found.note(rule, names.name(Int32(truncatingIfNeeded: key)), count: count)
        }
        return found
    }

    /// Writes the record, whose root is node 0, as one object.
    ///
    /// - Returns: The rejected record if an attachment is missing, or a text is not hexadecimal. A missing value must not
    ///   look like null, which would overwrite the known value.
    mutating func write(
        _ tree: inout RecordTree, _ plan: ReplyPlan, _ names: borrowing NameTable,
        to writer: RecordBatchWriter
    ) throws(BridgeError) -> Page.Rejected? {
        if tree.isFlat {
            writeFlat(tree, plan, names, to: writer)
            return nil
        }
        defer { forgetRecord() }
        cutsLists = false
        let (references, depth) = (open, max(0, open.count - 1))
        ownReferences = references.count
        do {
            try writeElement(0, isRecord: true, depth: depth, &tree, plan, names, writer)
        } catch {
            guard !cutsLists, sharedCount > Limits.sharedValues else { throw error }
            cutsLists = true
            writer.abandonRecord()
            forgetRecord()
            open = references
            try writeElement(0, isRecord: true, depth: depth, &tree, plan, names, writer)
        }
        guard !mayMissParts, let reason = try refusal(names) else { return nil }
        // Write it again for display and for a later retry, with the reference in place of the value.
        let shown = RecordBatchWriter()
        forgetRecord()
        open = references
        mayMissParts = true
        let cuts = cutsLists
        cutsLists = cutsLists || sharesObjects
        defer { (mayMissParts, cutsLists) = (false, cuts) }
        try writeElement(0, isRecord: true, depth: depth, &tree, plan, names, shown)
        let representation = (try? shown.finish()).map { $0.count > 0 ? $0[0].json : "{}" } ?? "{}"
        return Page.Rejected(
            index: nil, reason: reason, representation: representation)
    }

    /// Writes a flat record as the general code does, which looks for lists, references and attributes, too.
    private mutating func writeFlat(
        _ tree: borrowing RecordTree, _ plan: ReplyPlan, _ names: borrowing NameTable, to writer: RecordBatchWriter
    ) {
        writer.beginObject()
        tree.text.withUnsafeBytes { text in
            for member in tree.members {
                names.withName(member.name) { writer.key(utf8: $0) }
                let value = UnsafeRawBufferPointer(
                    rebasing: text[Int(member.textStart)..<Int(member.textStart + member.textCount)])
                write(value, plan.types[Int(member.type)], name: member.name, writer)
            }
        }
        writer.endObject()
    }

    /// Returns why the record cannot be written; nil if it can.
    private func refusal(_ names: borrowing NameTable) throws(BridgeError) -> String? {
        if let missingObject, let fault = try sharedFault(missingObject) {
            return "the record refers to the object \"\(String(decoding: missingObject, as: UTF8.self))\", \(fault)"
        }
        if let missingPart {
            if let encoding = deferred.encoding(ofPart: missingPart) {
                return "the attachment \"\(missingPart)\" of the record is encoded as \(encoding), which is not "
                    + "supported"
            }
            return "the record refers to the attachment \"\(missingPart)\", which is not in the reply"
        }
        return wrongHex.map { "the text of <\(names.name($0))> is not hexadecimal, as its type says" }
    }

    /// Resets the counts of a record and the references that led to it.
    mutating func forgetRecord() {
        values = 0
        obstacle = nil
        missingPart = nil
        wrongHex = nil
        missingObject = nil
        sharedCount = 0
        open.removeAll(keepingCapacity: true)
        enclosing.removeAll(keepingCapacity: true)
    }

    private mutating func writeElement(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        guard tree.isDeferred else {
            return try writeValue(index, isRecord: isRecord, depth: depth, &tree, plan, names, writer)
        }
        try countValue()
        guard let reference = tree.reference(of: tree.nodes[Int(index)]) else {
            let identity = tree.nodes[Int(index)].identity
            if identity != 0 { enclosing.append(identity) }
            defer { if identity != 0 { enclosing.removeLast() } }
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
            if isExact { obstacle = "it refers to something that is not in the reply" }
            writer.null()
        }
    }

    /// Writes an element that is not a reference as null, list, text or object.
    private mutating func writeValue(
        _ index: Int32, isRecord: Bool, depth: Int, _ tree: inout RecordTree, _ plan: ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        let node = tree.nodes[Int(index)]
        guard depth < Limits.batchDepth else { throw Self.tooDeep }
        if isExact, let words = node.obstacle.words { obstacle = words }
        if node.isNil {
            if isExact, hasAttributes(node, tree, plan) { obstacle = "it has attributes on an element that is nil" }
            return writer.null()
        }
        if node.isArray, !isRecord {
            if isExact, !plan.types[Int(node.type)].isArray {
                obstacle = "it has an array that the schema does not describe"
            }
            return try writeArray(of: node, depth: depth, &tree, plan, names, writer)
        }
        let type = plan.types[Int(node.type)]
        if !isRecord, !isExact, let first = wrapped(node, type, tree, plan) {
            group(node, &tree, plan)
            return try writeList(from: first, depth: depth - 1, &tree, plan, names, writer)
        }
        guard isRecord || type.isComplex || type.isAlwaysObject || isObject(node, tree, plan) else {
            return try writeText(of: node, type, tree, writer)
        }
        writer.beginObject()
        group(node, &tree, plan)
        let hasElements = try writeMembers(of: node, type, depth: depth, &tree, plan, names, writer)
        try writeObjectText(of: node, type, hasElements: hasElements, tree, plan, names, writer)
        // A null here would overwrite a known value.
        if isRecord, missingPart != nil || missingObject != nil || wrongHex != nil, !mayMissParts {
            return writer.abandonRecord()
        }
        if isRecord, let obstacle {
            writer.key(Self.obstacleName)
            writer.text(obstacle)
        }
        writer.endObject()
    }

    /// Writes attributes and elements, each name once; returns whether there are elements.
    private mutating func writeMembers(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, depth: Int, _ tree: inout RecordTree,
        _ plan: ReplyPlan, _ names: borrowing NameTable, _ writer: RecordBatchWriter
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

    /// Writes the elements of one name as a list; `first` is the first of them.
    private mutating func writeList(
        from first: Int32, depth: Int, _ tree: inout RecordTree, _ plan: ReplyPlan,
        _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        writer.beginArray()
        var element = first
        while element >= 0 {
            let following = tree.nodes[Int(element)]
            if canWrite(following, tree), !isCut(following, tree) {
                try writeElement(element, isRecord: false, depth: depth + 2, &tree, plan, names, writer)
            }
            element = following.nextOfName
        }
        writer.endArray()
    }

    /// Returns the first element of a wrapper that is read as a plain list; negative for an empty one.
    ///
    /// Returns nil if the node is not a wrapper or holds anything that a list cannot represent.
    private func wrapped(
        _ node: RecordTree.Node, _ type: ReplyPlan.ContentType, _ tree: borrowing RecordTree,
        _ plan: ReplyPlan
    ) -> Int32? {
        guard type.wrapped >= 0 else { return nil }
        var first: Int32 = -1
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            switch member.kind {
            case .element where member.name == type.wrapped: if first < 0 { first = child }
            case .attribute where member.name == plan.typeName: break
            case .text where tree.text.withUnsafeBytes({ XMLSpace.isAll(of: Self.span($0, member)) }): break
            default: return nil
            }
            child = member.nextSibling
        }
        return first
    }

    /// Returns whether a node becomes an object: attributes and elements make one, a lone xsi:type beside a text does
    /// not.
    private func isObject(_ node: RecordTree.Node, _ tree: borrowing RecordTree, _ plan: ReplyPlan) -> Bool {
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
        return hasType && (isExact || !hasText)
    }

    private func hasAttributes(
        _ node: RecordTree.Node, _ tree: borrowing RecordTree, _ plan: ReplyPlan
    ) -> Bool {
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            if member.kind == .attribute, member.name != plan.typeName { return true }
            child = member.nextSibling
        }
        return false
    }

    private mutating func writeArray(
        of node: RecordTree.Node, depth: Int, _ tree: inout RecordTree, _ plan: ReplyPlan,
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

    /// Links each child to the next one of the same name.
    private mutating func group(_ node: RecordTree.Node, _ tree: inout RecordTree, _ plan: ReplyPlan) {
        guard node.firstChild != node.lastChild else { return }
        if isExact, isReordered(node, tree, plan) {
            obstacle = "it has elements of a repeated choice, whose order would change"
        }
        stamp &+= 1
        var last: Int32 = -1
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            if member.kind == .element {
                let name = Int(member.name)
                while stamps.count <= name {
                    stamps.append(0)
                    tails.append(-1)
                }
                if stamps[name] == stamp {
                    if isExact, last != member.name { obstacle = "it repeats several elements in alternation" }
                    tree.markFollower(child, after: tails[name])
                }
                last = member.name
                stamps[name] = stamp
                tails[name] = child
            }
            child = member.nextSibling
        }
    }

    /// Returns whether elements of a repeated choice are in another order than that in which a request would have them:
    /// the schema's, with those that it lacks at the end.
    private func isReordered(_ node: RecordTree.Node, _ tree: borrowing RecordTree, _ plan: ReplyPlan) -> Bool {
        let type = plan.types[Int(node.type)]
        var last = -1
        var child = node.firstChild
        while child >= 0 {
            let member = tree.nodes[Int(child)]
            child = member.nextSibling
            guard member.kind == .element else { continue }
            guard let found = plan.child(member.name, of: node.type, after: -1) else {
                last = Int(type.childCount)
                continue
            }
            guard plan.child(found.index, of: type).isMixed else { continue }
            if found.index < last { return true }
            last = found.index
        }
        return false
    }
}
