internal import RecordBatch

/// What the host asks to change on the remote.
public struct WriteRequest: Sendable {
    /// What to do with the object.
    public enum Operation: String, Sendable {
        case create, update, delete
    }

    /// What to do.
    public var operation: Operation
    /// The entity's name in the config, for messages.
    public var entity: String
    /// The entity's own section of the config.
    public var section: BridgeOptions
    /// The object's key, by local names.
    public var key: BridgeOptions
    /// The values to write, in the remote's shape: of an update those that changed.
    public var values: BridgeOptions
    /// All values of the local object, by local names, for paths and conditions.
    public var object: BridgeOptions
    /// The local values of the object's parent, by local names; nil where the entity has none.
    public var parent: BridgeOptions?
    /// The same for each try of one write, for remotes that know such keys.
    public var idempotencyKey: String?

    /// A request.
    public init(
        _ operation: Operation, entity: String, section: BridgeOptions, key: BridgeOptions = .empty,
        values: BridgeOptions = .empty, object: BridgeOptions = .empty, parent: BridgeOptions? = nil,
        idempotencyKey: String? = nil
    ) {
        self.operation = operation
        self.entity = entity
        self.section = section
        self.key = key
        self.values = values
        self.object = object
        self.parent = parent
        self.idempotencyKey = idempotencyKey
    }

    init(_ record: BridgeOptions) throws {
        guard let operation = Operation(rawValue: record.string("operation") ?? "") else {
            throw BridgeError(.unsupported, "unknown write operation \(record.string("operation") ?? "(none)")")
        }
        self.operation = operation
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        key = record.object("key") ?? .empty
        values = record.object("values") ?? .empty
        object = record.object("object") ?? .empty
        parent = record.object("parent")
        idempotencyKey = record.string("idempotency_key")
    }
}
