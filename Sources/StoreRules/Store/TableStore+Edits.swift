package import Mapping
package import StoreContract

/// Local edits and their conflicts.
extension TableStore {
    /// Makes local edits and their outbox entries in one transaction, recorded as a run of kind `edit`.
    package func edit(
        inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool
    ) throws -> [EditReceipt] {
        try changeRows("edit") { try $0.make(inTurn: edits, joining: joining) }.result
    }

    /// Returns the columns that were changed both locally and on the remote, in order of discovery.
    package func conflicts(entity: String?, key: [StoredValue]?) throws -> [EditConflict] {
        try readOnce { try $0.allConflicts() }.filter { conflict in
            (key == nil || conflict.key == key) && (entity == nil || conflict.entity == entity)
        }
    }

    /// Resolves conflicts of an object, recorded as a run of kind `resolve`.
    package func resolve(entity: String, key: [StoredValue], column: String?, take: ConflictSide) throws {
        _ = try changeRows("resolve") { try $0.resolve(entity, key, column: column, take: take) }
    }

    /// Makes entries due now.
    package func retryOutbox(_ ids: [Int64], sendingUnknown: Bool) throws {
        try write { try EditTables($0).retry(ids, sendingUnknown: sendingUnknown) }
    }

    /// Drops entries and rolls back their local changes, recorded as a run of kind `drop`.
    package func dropOutbox(_ ids: [Int64]) throws { _ = try changeRows("drop") { try $0.drop(ids) } }

    /// Writes rows in a transaction, recorded as a run.
    func changeRows<Result>(
        _ kind: String, undoes: Int64? = nil, _ body: (inout LocalEditor) throws -> Result
    ) throws -> (result: Result, run: Int64?) {
        try write { writer in
            let merge = EditMerge(writer)
            return try withExtendedLifetime(merge) {
                try writer.recording(kind, undoes: undoes) {
                    var editor = LocalEditor(EditTables(writer))
                    let result = try body(&editor)
                    try writer.settle()
                    return result
                }
            }
        }
    }
}
