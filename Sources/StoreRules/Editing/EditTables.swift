internal import Mapping
internal import StoreContract

/// A store's open transaction, as the rules of local edits see it.
package struct EditTables {
    package let objects: any ObjectWriter
    package let outbox: any OutboxTables
    package let conflicts: any ConflictTables
    package let acknowledged: any AcknowledgedTables

    package init(
        _ objects: any ObjectWriter, outbox: any OutboxTables, conflicts: any ConflictTables,
        acknowledged: any AcknowledgedTables
    ) {
        self.objects = objects
        self.outbox = outbox
        self.conflicts = conflicts
        self.acknowledged = acknowledged
    }

    /// Creates the view of a writer's transaction.
    package init(_ writer: TableWriter) {
        self.init(writer, outbox: writer.tables, conflicts: writer.tables, acknowledged: writer.tables)
    }

    var model: CompiledModel { objects.model }

    /// The maker of keys for new objects.
    var temporaryKey: TemporaryKey {
        TemporaryKey(model) { [objects] layout, field in
            try objects.leastValue(of: field, in: layout.root)
        } nextEntry: { [outbox] in
            try outbox.nextEntryID()
        }
    }
}
