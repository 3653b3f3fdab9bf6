internal import BridgeXML

/// Elements in the list of the records that are not records: Exchange has several kinds of items in one list.
///
/// The service counts them: in its total, and from where the next page begins.
extension ReplyMachine {
    /// Returns whether an element may stand in the list in place of a record.
    func isMixed(_ number: Int32, with record: Int32?, below parent: Frame) -> Bool {
        guard let record, record != plan.wildcard, parent.recordMatch > 0,
            Int(parent.recordMatch) == plan.recordPath.count - 1
        else { return false }
        let type = plan.types[Int(parent.type)]
        guard let other = plan.child(number, of: parent.type, after: -1), plan.child(other.index, of: type).isMixed,
            let own = plan.child(record, of: parent.type, after: -1)
        else { return false }
        // Counts and flags may stand in the same choice.
        return plan.child(own.index, of: type).isMixed
            && plan.types[Int(own.type)].isComplex == plan.types[Int(other.type)].isComplex
    }

    /// Begins an element that is not a record, or one inside it.
    mutating func beginOther(_ element: XMLStartElement, _ frame: inout Frame) {
        frame.isOther = true
        mix(element.nameBytes)
        for index in 0..<element.attributeCount {
            if let attribute = element.attribute(index) { mix(attribute.rawValue) }
        }
    }

    /// Begins an element in the list that is neither a record nor in the schema.
    mutating func beginStray(_ element: XMLStartElement, _ number: Int32, _ frame: inout Frame, below list: Frame) {
        emitter.note(.undescribed, number)
        frame.name = number
        frame.strayRecord = list.recordName
        let record = recordType(in: list)
        if !record.isComplex || record.attributeCount > 0 && Self.hasData(element) { noteStray(frame) }
    }

    /// Notes that an element outside the records that the schema lacks has others inside.
    mutating func noteUnexpected(_ frame: Frame) {
        guard frame.isUnexpected else { return }
        if unexpectedElement == nil { unexpectedElement = frame.name }
        noteStray(frame)
    }

    private mutating func noteStray(_ frame: Frame) {
        if frame.strayRecord >= 0, stray == nil { stray = (frame.name, frame.strayRecord) }
    }

    /// Ends the first element in a list of a name that the schema lacks; returns whether it looks like a record.
    ///
    /// A number beside the records, such as their count, has only a text: then the next element may be the first record.
    mutating func endRenamed() -> Bool {
        guard let last = frames.indices.last, !tree.isEmpty else { return true }
        let root = tree.nodes[0]
        let isFilled = hasMembers(root)
        let type = recordType(in: frames[last])
        let isRecord = root.isNil || !type.isComplex || isFilled
        emitter.note(isRecord ? .renamed : .undescribed, root.name)
        guard !isRecord else { return true }
        frames[last].recordName = -1
        if unexpectedElement == nil { unexpectedElement = root.name }
        tree.clear()
        return false
    }

    /// Returns the type that the schema gives to the records in a list.
    private func recordType(in list: Frame) -> ReplyPlan.ContentType {
        let type = plan.types[Int(list.type)]
        guard type.childCount > 0 else { return plan.types[Int(ReplyPlan.anyType)] }
        return plan.types[Int(plan.child(0, of: type).type)]
    }

    /// Returns whether an element has more than a text and a type.
    private func hasMembers(_ root: RecordTree.Node) -> Bool {
        var child = root.firstChild
        while child >= 0 {
            let node = tree.nodes[Int(child)]
            let isType = node.kind == .attribute && node.name == plan.typeName
            if node.kind != .text, !isType { return true }
            child = node.nextSibling
        }
        return false
    }

    private static func hasData(_ element: XMLStartElement) -> Bool {
        for index in 0..<element.attributeCount {
            if let attribute = element.attribute(index), attribute.isData(isExact: false) { return true }
        }
        return false
    }

    /// Adds to the fingerprint, byte by byte: a text may come in any pieces.
    mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { fingerprint = (fingerprint ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
