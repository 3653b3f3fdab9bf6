public import Mapping
internal import RecordBatch
public import StoreContract

/// A pending local edit in a plan.
public struct PlannedWrite: Sendable {
    /// The number of its outbox entry.
    public var entry: Int64
    /// The object's entity.
    public var entity: String
    /// The object's key; a temporary one until the remote assigns the key.
    public var key: [StoredValue]
    /// The operation on the object.
    public var operation: OutboxEntry.Operation
    /// The edit's state.
    public var state: OutboxEntry.State
    /// Why it cannot be sent.
    public var fault: String?
    /// What it waits for, so that a push would not send it now.
    public var waits: String?
    private let content: OutgoingValue?

    init(_ request: Workspace.PendingRequest) {
        entry = request.entry.id
        entity = request.entry.entity
        key = request.entry.key
        operation = request.entry.operation
        state = request.entry.state
        fault = request.fault
        waits = request.waits
        content = request.entry.operation == .delete ? nil : request.values
    }

    /// The values in the remote's shape as JSON, as `bmo push --dry-run` shows them; nil where none are sent.
    public var values: String? { content?.json }

    /// The text of ``values`` with long parts truncated, for display.
    package var shortValues: String? { content?.shortened.json }

    func writeMembers(to writer: RecordBatchWriter) {
        writer.member("entry", Int(entry))
        writer.member("entity", entity)
        writer.key("key")
        writer.array { for value in key { OutgoingValue.plain(value).write(to: writer) } }
        writer.member("operation", operation.rawValue)
        writer.member("state", state.rawValue)
        if let content {
            writer.key("values")
            content.write(to: writer)
        }
        if let fault { writer.member("fault", fault) }
        if let waits { writer.member("waits", waits) }
    }
}
