internal import BridgeKit
internal import BridgeXML

/// Objects that WCF writes once and refers to afterwards: `z:Id` and `z:Ref` of a contract with `IsReference`.
///
/// Records that are sent back keep both as they are.
extension ReplyMachine {
    /// Returns the hash of the id that WCF gave to an object; nil if it has none.
    func sharedIdentifier(_ element: XMLStartElement) -> UInt64? {
        guard !isExact else { return nil }
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("Id"), attribute.isOfSerialization else {
                continue
            }
            return DeferredValues.hash(attribute.rawValue)
        }
        return nil
    }

    /// Notes the id of an element on the path to the records: what refers to it is inside.
    mutating func noteShared(_ element: XMLStartElement, _ frame: Frame) {
        guard element.attributeCount > 0, frame.recordMatch > 0, Int(frame.recordMatch) < plan.recordPath.count,
            emitter.outer.count < DeferredValues.mostShared, let id = sharedIdentifier(element)
        else { return }
        emitter.outer.insert(id)
    }

    /// Starts an object outside the list of the records, because records may refer to it; nil for other elements.
    ///
    /// An object that is not in a list may also say that the reply failed, so that its values are noted, too.
    mutating func startOutside(
        _ element: XMLStartElement, _ frame: inout Frame, below parent: Frame
    ) throws(BridgeError) -> Frame? {
        frame.isOutside = frame.isBeside || parent.role == .body || parent.isOutside
        guard frame.isOutside else { return nil }
        let number = number(of: element)
        let child = parent.type == ReplyPlan.anyType ? nil : plan.child(number, of: parent.type, after: -1)
        frame.type = child?.type ?? ReplyPlan.anyType
        frame.isData = parent.isData || child?.isRepeated == true
        guard element.attributeCount > 0, let id = sharedIdentifier(element) else { return nil }
        tree.clear()
        var object = try startNode(element, number, frame.type, isRepeated: false, role: .target, parent: -1)
        object.id = id
        tree.setIdentity(object.node, id)
        object.isPart = frame.isPart
        isInOtherPart = !frame.isPart
        guard !frame.isData, frame.isBeside else { return object }
        (object.isBeside, object.isRepeated, object.isUnexpected) = (true, frame.isRepeated, frame.isUnexpected)
        (object.isNoted, object.signs, object.name) = (frame.isNoted, frame.signs, frame.name)
        object.strayRecord = frame.strayRecord
        if !object.isNoted { beginNotice(element, &object, below: parent, onPath: false) }
        return object
    }

    /// Starts an element inside one that others refer to.
    mutating func startInside(
        _ element: XMLStartElement, _ number: Int32, _ type: ReplyPlan.TypeNumber, isRepeated: Bool, below parent: Frame
    ) throws(BridgeError) -> Frame {
        var frame: Frame
        do {
            frame = try startNode(element, number, type, isRepeated: isRepeated, role: .target, parent: parent.node)
        } catch {
            try abandonObject(error, at: sharedIdentifier(element))
            frame = Frame(role: .skipped)
            (frame.type, frame.isOutside, frame.isPart) = (type, true, parent.isPart)
        }
        frame.isPart = parent.isPart
        if parent.isBeside { noteInside(element, &frame, below: parent, isRepeated: isRepeated) }
        return frame
    }

    /// Notes what an element says inside an object that is not in a list.
    mutating func noteInside(
        _ element: XMLStartElement, _ frame: inout Frame, below parent: Frame, isRepeated: Bool
    ) {
        noteUnexpected(parent)
        if isRepeated, frame.id != 0 { return }
        (frame.isBeside, frame.isRepeated) = (true, parent.isRepeated)
        beginNotice(element, &frame, below: parent, onPath: false)
    }

    /// Forgets an object outside the list that is larger than a record may be, but not those inside it that are over.
    ///
    /// - Throws: The error unless it is that of such an object.
    mutating func abandonObject(_ error: BridgeError, at id: UInt64? = nil) throws(BridgeError) {
        guard error.code == .limit, let root = frames.firstIndex(where: { $0.role == .target }), frames[root].node == 0,
            !tree.isEmpty, tree.nodes[0].identity != 0
        else { throw error }
        tree.clear()
        if let id { emitter.largeObjects.insert(id) }
        for index in frames[root...].indices {
            if frames[index].id != 0 { emitter.largeObjects.insert(frames[index].id) }
            (frames[index].role, frames[index].id, frames[index].node) = (.skipped, 0, -1)
            frames[index].isOutside = true
        }
    }
}

extension XMLAttribute {
    /// Whether the attribute is in the namespace of WCF's serialization: its numbers have no meaning outside the reply.
    var isOfSerialization: Bool { isIn("http://schemas.microsoft.com/2003/10/Serialization/") }
}
