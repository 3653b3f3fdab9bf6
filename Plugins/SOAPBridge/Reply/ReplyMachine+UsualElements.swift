internal import BridgeKit
internal import BridgeXML

/// Records and members without attributes that the schema declares, as most elements of a long reply are.
///
/// The general code makes the same of them, in more steps.
extension ReplyMachine {
    /// What the next record of the open list has in common with the last one.
    struct UsualRecord {
        let name: Int32
        let type: ReplyPlan.TypeNumber
        /// The number of elements around a record.
        let depth: Int
    }

    /// The place of an open member whose value is a text.
    enum OpenValue {
        case none
        /// The last member of a flat record.
        case member
        case node(Int32)
    }

    /// Starts a record or a member of one without attributes; returns false for other elements.
    mutating func startUsual(_ element: XMLStartElement) throws(BridgeError) -> Bool {
        pushOpenValue()
        let depth = frames.count
        guard element.attributeCount == 0, element.namespaceCount == 0, depth > 0, depth < Limits.depth else {
            return false
        }
        switch frames[depth - 1].role {
        case .scanned: return try startUsualRecord(element)
        case .record: return try startMember(element, below: depth - 1)
        default: return false
        }
    }

    /// Remembers how a record of this name begins, for those that follow it in the same list.
    mutating func noteUsualRecord(_ element: XMLStartElement, _ frame: Frame, below parent: Frame) {
        guard element.attributeCount == 0, element.namespaceCount == 0, !frame.isArray else { return }
        let name = number(of: element)
        guard parent.memberType >= 0 || plan.child(name, of: parent.type, after: -1) != nil else { return }
        usualRecord = UsualRecord(name: name, type: frame.type, depth: frames.count)
    }

    private mutating func startUsualRecord(_ element: XMLStartElement) throws(BridgeError) -> Bool {
        guard let record = usualRecord, record.depth == frames.count, number(of: element) == record.name else {
            return false
        }
        tree.clear()
        push(try tree.add(RecordTree.Node(name: record.name, type: record.type, kind: .element), to: -1), record.type)
        let type = plan.types[Int(record.type)]
        if type.isComplex, !type.isMixed, !type.repeatsNames, !isExact { tree.beginFlat() }
        return true
    }

    private mutating func startMember(_ element: XMLStartElement, below last: Int) throws(BridgeError) -> Bool {
        guard frames[last].memberType < 0 else { return false }
        let name = number(of: element)
        let before = frames[last].lastChild
        guard let child = plan.child(name, of: frames[last].type, after: before), !child.isNamesake else {
            return false
        }
        let type = plan.types[Int(child.type)]
        guard !type.isArray else { return false }
        frames[last].lastChild = child.index
        if tree.isFlat, type.isPlain, child.index > before, !child.isRepeated {
            try tree.addMember(name, child.type)
            openValue = .member
            return true
        }
        var node = RecordTree.Node(name: name, type: child.type, kind: .element)
        node.isRepeated = child.isRepeated
        let added = try tree.add(node, to: frames[last].node)
        if type.isPlain { openValue = .node(added) } else { push(added, child.type) }
        return true
    }

    /// Adds the frame of an element without attributes.
    private mutating func push(_ node: Int32, _ type: ReplyPlan.TypeNumber) {
        var frame = Frame(role: .record)
        frame.type = type
        frame.node = node
        frame.textStart = tree.text.count
        frames.append(frame)
    }

    /// Makes the frame of an open value, because an element follows inside.
    private mutating func pushOpenValue() {
        let node: Int32
        switch openValue {
        case .none: return
        case .member: node = tree.unflatten()
        case .node(let open): node = open
        }
        push(node, tree.nodes[Int(node)].type)
        openValue = .none
    }

    /// Ends a member of a record that needs no further work; returns false for other elements.
    mutating func endMember() -> Bool {
        if case .none = openValue {
        } else {
            openValue = .none
            return true
        }
        let last = frames.count - 1
        guard last >= 0, frames[last].role == .record, frames[last].node != 0, frames[last].id == 0,
            frames[last].namespaceCount == 0
        else { return false }
        frames.removeLast()
        return true
    }
}
