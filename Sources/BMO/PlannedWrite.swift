public import Mapping
internal import RecordBatch
public import SQLiteStore

/// A local edit that waits to be sent, as a plan tells it.
public struct PlannedWrite: Sendable {
    /// The number of its outbox entry.
    public var entry: Int64
    /// The object's entity.
    public var entity: String
    /// The object's key; a temporary one where the remote gives it.
    public var key: [StoredValue]
    /// What is done with the object.
    public var operation: OutboxEntry.Operation
    /// Where the edit stands.
    public var state: OutboxEntry.State
    /// Why it cannot be sent.
    public var fault: String?
    private let content: OutgoingValue?

    init(_ request: Workspace.PendingRequest) {
        entry = request.entry.id
        entity = request.entry.entity
        key = request.entry.key
        operation = request.entry.operation
        state = request.entry.state
        fault = request.fault
        content = request.entry.operation == .delete ? nil : request.values
    }

    /// The values in the remote's shape as JSON, as `bmo push --dry-run` tells them; nil where none are sent.
    public var values: String? { content?.json }

    /// ``values`` with long parts cut, for people to read.
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
    }
}
