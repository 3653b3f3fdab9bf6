internal import Mapping
internal import Model
internal import StoreContract

/// The removal of stubs that are no longer referenced, in the transaction that removed the last reference.
extension TableWriter {
    /// Notes that a reference to or from an object was removed.
    func note(_ entity: Int, _ key: RowKey) throws {
        guard !key.isEmpty, !key.contains(.null) else { return }
        let root = model.entities[entity].root
        if try tables.isStub(root, key) { candidates.insert(RowReference(root: root, key: key)) }
    }

    /// Notes a reference to an object that was not stored, or only briefly: a stub created for it is abandoned.
    package func noteOffered(_ entity: Int, _ key: RowKey) {
        guard !key.isEmpty, !key.contains(.null) else { return }
        candidates.insert(RowReference(root: model.entities[entity].root, key: key))
    }

    /// Notes the objects that a row refers to through the changed fields.
    func noteReplaced(_ changed: [Int], _ row: [StoredValue], of layout: EntityLayout) throws {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            if changed.contains(where: fields.contains) { try note(toOne.target, Array(row[fields])) }
        }
    }

    /// Deletes the noted objects that are abandoned stubs, in an order that makes the history reproducible.
    func settleAbandonedStubs() throws {
        let order = candidates.map { (reference: $0, text: ExactText(JSONText.key($0.key).string)) }
            .sorted { ($0.reference.root, $0.text) < ($1.reference.root, $1.text) }.map(\.reference)
        candidates = []
        for stub in order where try isAbandoned(stub) {
            if let row = try tables.row(stub.root, stub.key) {
                try delete(stub.root, stub.key, row)
            } else {
                _ = try tables.setStub(stub.root, stub.key, false)
            }
        }
        candidates = []
    }

    /// Returns whether an object is an unreferenced stub without values or lists of its own.
    package func isAbandoned(_ object: RowReference) throws -> Bool {
        guard try tables.isStub(object.root, object.key) else { return false }
        let layout = model.entities[object.root]
        if let row = try tables.row(object.root, object.key) {
            let own = Set(layout.key + [layout.discriminator].compactMap { $0 })
            guard row.indices.allSatisfy({ own.contains($0) || row[$0] == .null }) else { return false }
        }
        for case .links(let table) in layout.toMany.map(\.storage) {
            guard try tables.links(table, of: object.key).isEmpty else { return false }
        }
        return try !isReferred(object.root, object.key)
    }

    /// Returns whether a remaining row or a link refers to an object.
    ///
    /// - Parameter doomed: Rows that are about to be deleted, whose to-one relationships do not count.
    package func isReferred(_ root: Int, _ key: RowKey, except pending: Set<RowReference>) throws -> Bool {
        for layout in model.entities where layout.index == layout.root {
            for (index, toOne) in layout.toOne.enumerated() where model.entities[toOne.target].root == root {
                let remains = try tables.referrers(layout.index, index, to: key).contains {
                    !pending.contains(RowReference(root: layout.index, key: $0))
                }
                if remains { return true }
            }
            for toMany in layout.toMany where model.entities[toMany.target].root == root {
                guard case .links(let table) = toMany.storage else { continue }
                if try !tables.reversedLinks(table, to: key).isEmpty { return true }
            }
        }
        return false
    }
}
