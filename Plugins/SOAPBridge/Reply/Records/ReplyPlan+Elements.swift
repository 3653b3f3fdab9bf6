internal import BridgeXML

/// Elements and paths in the schema.
extension ReplyPlan {
    /// Returns whether a type is a wrapper: it has only one repeated element, the last of the records' path.
    func isOnlyList(_ type: TypeNumber) -> Bool {
        let type = types[Int(type)]
        guard type.childCount == 1, !type.isOpen, !type.isArray else { return false }
        let child = child(0, of: type)
        return child.isRepeated && child.name == recordPath.last
    }

    /// Returns how much of a path the elements down to one of this name match; -1 for another path.
    func advance(_ match: Int16, _ number: Int32, _ path: [Int32], isMember: Bool) -> Int16 {
        guard match >= 0 else { return -1 }
        // The members of an array at the path's end are the records.
        if Int(match) == path.count { return isMember && match > 0 ? match : -1 }
        let name = path[Int(match)]
        guard name == number || name == wildcard || isMember else { return -1 }
        return match + 1
    }

    /// Returns the element of this name in a type, and its place; nil for another element.
    ///
    /// - Parameter last: The place of the element before; -1 for none.
    func child(
        _ name: Int32, of type: TypeNumber, after last: Int
    ) -> (index: Int, type: TypeNumber, isRepeated: Bool, isNamesake: Bool)? {
        let type = types[Int(type)]
        let count = Int(type.childCount)
        guard count > 0 else { return nil }
        // Elements come in schema order: try the same one and then the next one first.
        var index = last < 0 ? 0 : last
        for _ in 0..<count {
            let child = child(index, of: type)
            if child.name == name { return (index, child.type, child.isRepeated, child.isNamesake) }
            index = index + 1 == count ? 0 : index + 1
        }
        return nil
    }

    /// Returns the type of the global element with this name, for an element in place of xs:any.
    func globalType(_ element: XMLStartElement) -> TypeNumber {
        guard !elementTypes.isEmpty else { return Self.anyType }
        return elementTypes[QName(element.namespace, element.localName)] ?? Self.anyType
    }

    /// Returns whether a type declares the attribute with this number.
    func declares(_ attribute: Int32, _ type: TypeNumber) -> Bool {
        self.attribute(attribute, of: types[Int(type)]) != nil
    }
}
