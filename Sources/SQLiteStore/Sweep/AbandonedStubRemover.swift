internal import StoreContract
internal import StoreRules
internal import Mapping

/// The removal of stubs that are no longer referenced, in the transaction that removed the last reference.
///
/// A stub that is unreferenced and has no values or lists of its own is deleted.
final class AbandonedStubRemover {
    private let model: CompiledModel
    private let abandoned: AbandonedStubs
    private let rowEditors: RowEditors
    private let linkWriters: LinkWriters
    private let connection: OpaquePointer?
    private var checks: [Int: ReferenceCheck] = [:]

    init(
        _ model: CompiledModel, _ abandoned: AbandonedStubs, _ rowEditors: RowEditors, _ linkWriters: LinkWriters,
        on connection: OpaquePointer?
    ) {
        self.model = model
        self.abandoned = abandoned
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
        self.connection = connection
    }

    /// Removes the noted objects that are abandoned stubs; returns the roots whose rows were deleted.
    ///
    /// Call it right before the commit.
    func settle() throws -> Set<Int> {
        var roots: Set<Int> = []
        for (root, key) in abandoned.take() where try remove(root, key) { roots.insert(root) }
        abandoned.forget()
        return roots
    }

    private func remove(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        guard try isAbandoned(root, key) else { return false }
        let editor = rowEditors(root)
        guard let row = try editor.row(key) else {
            return try rowEditors.stubs.remove(model.entities[root].name, .key(key))
        }
        // A table not created by bmo refers to it.
        let deletionGuard = rowEditors.deletionGuard
        if try deletionGuard.canRefuse(root), let number = try rowEditors.row(of: root, key),
            try deletionGuard.isReferredByOthers(root, number)
        {
            return false
        }
        do {
            try editor.delete(key, row)
        } catch let error as StoreError where error.code == .constraint {
            // A trigger keeps it.
            return false
        }
        return true
    }

    /// Returns whether an object is an unreferenced stub without values or lists of its own.
    func isAbandoned(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let layout = model.entities[root]
        guard abandoned.mayHave(root), try rowEditors.stubs.contains(layout.name, .key(key)) else { return false }
        if let row = try rowEditors(root).row(key) {
            let own = Set(layout.key + [layout.discriminator].compactMap { $0 })
            guard row.indices.allSatisfy({ own.contains($0) || row[$0] == .null }) else { return false }
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            guard try linkWriters(root, index).keys(of: key).isEmpty else { return false }
        }
        let check = checks[root] ?? ReferenceCheck(to: layout, in: model, on: connection)
        checks[root] = check
        return try !check.isReferred(key)
    }
}
