internal import BridgeKit

/// Objects that WCF writes once, under a number, and refers to afterwards.
extension RecordEmitter {
    static var tooManyShared: BridgeError {
        BridgeError(.limit, "the objects that a record refers to have more than \(Limits.sharedValues) values")
    }

    /// Returns whether an id is that of an open element.
    func isOpen(_ id: UInt64) -> Bool {
        open.contains(id) || !enclosing.isEmpty && enclosing.contains(RecordTree.identity(of: id))
    }

    /// Returns whether an element with this identity is open.
    func isOpen(identity: UInt32) -> Bool {
        enclosing.contains(identity) || open.contains { RecordTree.identity(of: $0) == identity }
    }

    /// Returns whether a list leaves out an object, because the record refers to the object with the list.
    mutating func isCut(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        guard cutsLists, open.count > ownReferences, node.identity != 0 || tree.reference(of: node) != nil else {
            return false
        }
        note(.sharedList, node.name)
        return true
    }

    /// Returns whether an object was too large to be kept: one of another part does not stand in for it.
    func isTooLarge(_ id: UInt64) -> Bool { largeObjects.contains(id) && !deferred.hasOwn(id) }

    /// Returns why a reference to an object does not lead to it, in words; nil if it does.
    ///
    /// - Throws: ``BridgeError`` limit if the object may be one of those beyond the maximum.
    func sharedFault(_ name: [UInt8]) throws(BridgeError) -> String? {
        let id = DeferredValues.hash(name)
        if deferred.isRepeated(id) { return "a number that several objects of the reply have" }
        if isTooLarge(id) { return "which takes more bytes outside the list than max_record_bytes" }
        guard !deferred.has(id) else { return nil }
        guard !deferred.isFull else {
            throw BridgeError(
                .limit,
                "the reply has more than \(DeferredValues.mostShared) objects with a z:Id, and a record refers to one of the others",
                remedy: "request smaller pages")
        }
        return deferred.numbersParts
            ? "which is not in the part of the reply that has the records: the other parts number their own objects"
            : "which is not in the reply"
    }
}
