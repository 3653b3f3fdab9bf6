public import StoreContract

/// Sends local edits to their remotes in place of the manager, which sends them as `bmo push` does.
///
/// `RequestManager.save(_:workflow:userInfo:pusher:)` passes it the outbox entries of an edit. Its task is cancelled when the
/// manager is closed.
public protocol Pusher: Sendable {
    /// Sends entries, after the entries that they depend on.
    ///
    /// - Returns: The outcome of each entry; that of a missing one is what the outbox says.
    /// - Throws: The reason why it could not start, such as another running pusher. The entries stay, but for those of
    ///   a save under ``SaveWorkflow/acceptedOnly``, which are rolled back: for an edit that the remote may have
    ///   received, return `EditOutcome.unknown` instead.
    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome]
}

/// When a save takes effect, and how a rejection is handled.
///
/// An edit that the remote may have received, because its outcome is unknown, is never rolled back: it stays in the
/// outbox. One that was not sent stays there, too, but for ``acceptedOnly``. A rolled back edit takes the edits of the
/// same save with it that build upon it.
public enum SaveWorkflow: Sendable {
    /// The local change takes effect at once and is then sent; if rejected, it stays in the outbox with the remote's
    /// message.
    case localFirst
    /// The local change takes effect at once and is then sent; if rejected, it is rolled back.
    case rollBack
    /// The save returns when the remote has the change; if rejected, the change is rolled back and the save fails.
    case afterRemote
    /// The local change takes effect at once and is then sent; if the remote does not accept it now, it is rolled back,
    /// also where it could not be sent.
    case acceptedOnly
    /// The local change takes effect at once, and waits in the outbox until `RequestManager.push(_:)` or `bmo push`.
    case localOnly
}

/// A change to one object, to be saved.
public struct ObjectEdit: Sendable {
    enum Operation: Sendable {
        case create, update, delete
    }

    let operation: Operation
    let entity: String
    let id: ObjectID?
    let content: ObjectNode

    /// Returns the creation of an object with these values; without a key, it gets a temporary one until the remote
    /// assigns its own.
    public static func create(_ entity: String, values: [String: LocalValue]) -> ObjectEdit {
        ObjectEdit(operation: .create, entity: entity, id: nil, content: node(values))
    }

    /// Returns the creation of an object from a value of your type; nested objects are created or updated with it.
    ///
    /// - Throws: `EncodingError`.
    public static func create(_ entity: String, _ value: some Encodable) throws -> ObjectEdit {
        ObjectEdit(operation: .create, entity: entity, id: nil, content: try ObjectEncoder.encode(value))
    }

    /// Returns an update of an object's values; values that it already has are not changes.
    public static func update(_ id: ObjectID, values: [String: LocalValue]) -> ObjectEdit {
        ObjectEdit(operation: .update, entity: id.entity, id: id, content: node(values))
    }

    /// Returns an update of an object from a value of your type; members that are not encoded are left unchanged.
    ///
    /// - Throws: `EncodingError`.
    public static func update(_ id: ObjectID, _ value: some Encodable) throws -> ObjectEdit {
        ObjectEdit(operation: .update, entity: id.entity, id: id, content: try ObjectEncoder.encode(value))
    }

    /// Returns the deletion of an object.
    public static func delete(_ id: ObjectID) -> ObjectEdit {
        ObjectEdit(operation: .delete, entity: id.entity, id: id, content: .members([]))
    }

    private static func node(_ values: [String: LocalValue]) -> ObjectNode {
        .members(values.sorted { $0.key < $1.key }.map { (name: $0.key, node: .value($0.value)) })
    }
}
