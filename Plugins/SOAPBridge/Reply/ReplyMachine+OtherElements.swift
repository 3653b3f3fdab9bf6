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

    /// Adds to the fingerprint, byte by byte: a text may come in any pieces.
    mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { fingerprint = (fingerprint ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
}
