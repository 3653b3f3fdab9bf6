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

    /// Starts an object in another list than that of the records, because records may refer to it; nil for other elements.
    mutating func startOutside(
        _ element: XMLStartElement, _ frame: inout Frame, below parent: Frame
    ) throws(BridgeError) -> Frame? {
        guard frame.isBeside else { return nil }
        let number = number(of: element)
        let child = parent.type == ReplyPlan.anyType ? nil : child(number, of: parent.type, after: -1)
        frame.type = child?.type ?? ReplyPlan.anyType
        frame.isData = parent.isData || child?.isRepeated == true
        guard frame.isData, element.attributeCount > 0, let id = sharedIdentifier(element) else { return nil }
        tree.clear()
        var object = try startNode(element, number, frame.type, isRepeated: false, role: .target, parent: -1)
        object.id = id
        tree.setIdentity(object.node, id)
        return object
    }
}

extension XMLAttribute {
    /// Whether the attribute is in the namespace of WCF's serialization: its numbers have no meaning outside the reply.
    var isOfSerialization: Bool { isIn("http://schemas.microsoft.com/2003/10/Serialization/") }
}
