internal import BridgeKit

/// References to elements elsewhere in the reply (SOAP 1.1, section 5.4.1).
extension RecordEmitter {
    /// The end of a chain of references.
    enum Target {
        case element(RecordTree)
        /// No element, for this reason: the reply lacks it, or it contains the reference.
        case nothing(ToleratedDeviations.Rule)
    }

    static var tooDeep: BridgeError {
        BridgeError(
            .limit,
            "a record of the reply nests deeper than \(Limits.batchDepth) levels of objects, lists and references")
    }

    mutating func countValue() throws(BridgeError) {
        values += 1
        if sharesObjects, open.count > ownReferences {
            sharedCount += 1
            guard cutsLists || sharedCount <= Limits.sharedValues else { throw Self.tooManyShared }
        }
        guard values <= Limits.values else {
            throw BridgeError(.limit, "the references of a record lead to more than \(Limits.values) values")
        }
    }

    /// Follows a chain of references and adds its ids to ``open``.
    ///
    /// A loop rather than a recursion: the remote chooses the length of the chain, and may close it to a cycle.
    mutating func follow(_ reference: [UInt8], depth: Int) throws(BridgeError) -> Target {
        var reference = reference
        for _ in depth..<max(depth + 1, Limits.batchDepth) {
            let id = DeferredValues.hash(reference)
            guard !isOpen(id) else { return .nothing(.cycle) }
            if sharesObjects, deferred.isRepeated(id) || isTooLarge(id) { return .nothing(.danglingReference) }
            guard let target = try deferred.element(id), !target.isEmpty else { return .nothing(.danglingReference) }
            open.append(id)
            try countValue()
            guard let next = target.reference(of: target.nodes[0]) else { return .element(target) }
            reference = target.bytes(of: next)
        }
        throw Self.tooDeep
    }

    /// Replaces a record that is a reference by its target; returns the reason in words if the target is missing.
    mutating func resolve(_ record: inout RecordTree) throws(BridgeError) -> String? {
        forgetRecord()
        guard let reference = record.reference(of: record.nodes[0]) else { return nil }
        let id = record.bytes(of: reference)
        if sharesObjects, let reason = try sharedFault(id) { return reason }
        switch try follow(id, depth: 0) {
        case .element(let target):
            record = target
            return nil
        case .nothing(.cycle): return "which leads back to itself"
        case .nothing:
            return deferred.has(DeferredValues.hash(id))
                ? "which refers to something that is not in the reply" : "which is not in the reply"
        }
    }

    /// Returns whether a reference has a target that does not contain it.
    mutating func canWrite(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        guard tree.isDeferred else { return true }
        guard let reference = tree.reference(of: node) else {
            guard node.identity != 0, isOpen(identity: node.identity) else { return true }
            note(.cycle, node.name)
            return false
        }
        let name = tree.bytes(of: reference)
        let id = DeferredValues.hash(name)
        if isExact, isOpen(id) || !deferred.has(id) { obstacle = "it has references that lead nowhere" }
        if isOpen(id) || sharesObjects && outer.contains(id) {
            note(.cycle, node.name)
        } else if sharesObjects, !deferred.has(id) || deferred.isRepeated(id) || isTooLarge(id) {
            missingObject = missingObject ?? name
        } else if deferred.has(id) {
            return true
        } else {
            note(.danglingReference, node.name)
        }
        return false
    }
}
