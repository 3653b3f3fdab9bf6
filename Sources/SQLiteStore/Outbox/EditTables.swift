internal import StoreContract
internal import Mapping

/// The tables of local edits, and the history that they are recorded in.
struct EditTables {
    let outbox: OutboxTable
    let conflicts: ConflictTable
    let acknowledged: AcknowledgedTable
    let changes: ChangeLog
}
