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
}

extension XMLAttribute {
    /// Whether the attribute is in the namespace of WCF's serialization: its numbers have no meaning outside the reply.
    var isOfSerialization: Bool { isIn("http://schemas.microsoft.com/2003/10/Serialization/") }
}
