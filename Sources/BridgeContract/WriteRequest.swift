internal import RecordBatch

/// The host's request to change one remote object.
public struct WriteRequest: Sendable {
    /// The kind of change.
    public enum Operation: String, Sendable {
        /// The remote gets a new object.
        case create
        /// An object of the remote is changed.
        case update
        /// An object of the remote is deleted.
        case delete
    }

    /// The kind of change.
    public var operation: Operation
    /// The entity's name in the configuration, for messages.
    public var entity: String
    /// The entity's own section of the configuration.
    public var section: BridgeOptions
    /// The object's key, by local names.
    public var key: BridgeOptions
    /// The values to write, in the remote's shape; for an update, only the changed ones.
    public var values: BridgeOptions
    /// All values of the local object, by local names, for paths and conditions: of an update, with the new ones.
    public var object: BridgeOptions
    /// For an update: the values that the new ones in ``object`` replace, by local names, as last received. (1.2)
    public var objectBefore: BridgeOptions = .empty
    /// The paths in ``values`` that hold keys of other objects: one, null or a list.
    public var references: [[String]] = []
    /// The names in ``object`` whose values are JSON texts.
    public var jsonNames: [String] = []
    /// The local values of the object's parent, by local names; nil if the entity has none.
    public var parent: BridgeOptions?
    /// A key that is the same for each attempt of one write, for remotes that support idempotency keys.
    public var idempotencyKey: String?
    /// For an update: the `path` of each changed value in ``values``, as a list of names; the value may be an object
    /// itself.
    ///
    /// `before` is the JSON value that it replaces, or null.
    public var changed: [BridgeOptions]
    /// For an update that sets part of a nested object: these objects with their other parts as far as the host knows
    /// them, in the remote's shape; otherwise nil.
    public var nested: BridgeOptions?
    /// The section for reading one object; the object is the parent in that request.
    public var readOne: BridgeOptions?
    /// For an update: the values that ``values`` replaces, in the remote's shape, as last received; unknown ones are
    /// left out.
    public var before: BridgeOptions = .empty
    /// The location of the key in a record: by local name, the member names from the outside in.
    public var keyPaths: [String: [String]] = [:]
    /// The location of a value of ``object`` in a record: by local name, the member names from the outside in. (1.2)
    ///
    /// It lacks values that are not read from one place. Empty if the host does not say.
    public var objectPaths: [String: [String]] = [:]
    /// For a create: the members of ``values`` that a new object can have, also those that it does not set. (1.2)
    public var members: [String] = []
    /// The members that records of the entity have: those that the host reads, and those that it has seen; nil if it does
    /// not know. (1.2)
    ///
    /// Another member of a reply's object is about the change, and not a value of the object.
    public var recordMembers: [String]?
    /// What the embedding program says about this edit, of a type of its own: an object of at most 16 KiB. (1.2)
    ///
    /// It is stored with the edit until the remote has it. Only for a bridge that can
    /// `BridgeDescriptor.Capability.userInfo`.
    public var userInfo: BridgeOptions?
    /// Send nothing: write one record `{request, body}` that describes the request.
    ///
    /// Reading is allowed. Only for a bridge that can `BridgeDescriptor.Capability.planWrite`.
    public var explains = false

    /// Creates a request.
    public init(
        _ operation: Operation, entity: String, section: BridgeOptions, key: BridgeOptions = .empty,
        values: BridgeOptions = .empty, object: BridgeOptions = .empty, parent: BridgeOptions? = nil,
        idempotencyKey: String? = nil, changed: [BridgeOptions] = [],
        nested: BridgeOptions? = nil, readOne: BridgeOptions? = nil
    ) {
        self.operation = operation
        self.entity = entity
        self.section = section
        self.key = key
        self.values = values
        self.object = object
        self.parent = parent
        self.idempotencyKey = idempotencyKey
        self.changed = changed
        self.nested = nested
        self.readOne = readOne
    }

    package init(_ record: BridgeOptions) throws {
        guard let operation = Operation(rawValue: record.string("operation") ?? "") else {
            throw BridgeError(.unsupported, "unknown write operation \(record.string("operation") ?? "(none)")")
        }
        self.operation = operation
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        key = record.object("key") ?? .empty
        values = record.object("values") ?? .empty
        object = record.object("object") ?? .empty
        objectBefore = record.object("object_before") ?? .empty
        parent = record.object("parent")
        idempotencyKey = record.string("idempotency_key")
        references = record.objects("references").map { $0.strings("path") }
        jsonNames = record.strings("json")
        changed = record.objects("changed")
        nested = record.object("nested")
        readOne = record.object("read_one")
        before = record.object("before") ?? .empty
        keyPaths = Self.paths(record.object("key_paths"))
        objectPaths = Self.paths(record.object("object_paths"))
        members = record.strings("members")
        recordMembers = record.has("record_members") ? record.strings("record_members") : nil
        userInfo = record.object("user_info")
        explains = record.bool("explain") ?? false
    }

    /// The object's values as the remote knows them, by local names: those by which it is addressed.
    public var remoteObject: BridgeOptions {
        objectBefore.names.isEmpty ? object : object.replacing(with: objectBefore)
    }

    private static func paths(_ paths: BridgeOptions?) -> [String: [String]] {
        guard let paths else { return [:] }
        return Dictionary(uniqueKeysWithValues: Set(paths.names).map { ($0, paths.strings($0)) })
    }
}
