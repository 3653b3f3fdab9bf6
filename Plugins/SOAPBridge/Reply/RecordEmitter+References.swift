internal import BridgeKit

/// Elements whose value stands elsewhere in the reply (SOAP 1.1, section 5.4.1).
extension RecordEmitter {
    /// What a reference leads to, over as many others as there are.
    enum Target {
        case element(RecordTree)
        /// Nothing, for this reason: it is not in the reply, or holds what refers to it.
        case nothing(Forgiveness.Rule)
    }

    static var tooDeep: BridgeError {
        BridgeError(
            .limit,
            "a record of the reply nests deeper than \(Limits.batchDepth) levels of objects, lists and references")
    }

    mutating func countValue() throws(BridgeError) {
        values += 1
        guard values <= Limits.values else {
            throw BridgeError(.limit, "the references of a record lead to more than \(Limits.values) values")
        }
    }

    /// Follows a reference, and adds the ids on the way to ``open``.
    ///
    /// In a loop: the remote says how many references lead to references, and whether in a circle.
    mutating func follow(_ reference: [UInt8], depth: Int) throws(BridgeError) -> Target {
        var reference = reference
        for _ in depth..<max(depth + 1, Limits.batchDepth) {
            let id = DeferredValues.hash(reference)
            guard !open.contains(id) else { return .nothing(.cycle) }
            guard let target = try deferred.element(id), !target.isEmpty else { return .nothing(.danglingReference) }
            open.append(id)
            try countValue()
            guard let next = target.reference(of: target.nodes[0]) else { return .element(target) }
            reference = target.bytes(of: next)
        }
        throw Self.tooDeep
    }

    /// Puts what a record refers to in its place; the reason in words where it leads to nothing.
    mutating func resolve(_ record: inout RecordTree) throws(BridgeError) -> String? {
        forgetRecord()
        guard let reference = record.reference(of: record.nodes[0]) else { return nil }
        let id = record.bytes(of: reference)
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

    /// Whether what an element refers to is there, and is not one of those that hold it.
    mutating func canWrite(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        guard tree.isDeferred, let reference = tree.reference(of: node) else { return true }
        let id = DeferredValues.hash(tree.bytes(of: reference))
        if open.contains(id) {
            note(.cycle, node.name)
        } else if deferred.has(id) {
            return true
        } else {
            note(.danglingReference, node.name)
        }
        return false
    }
}
