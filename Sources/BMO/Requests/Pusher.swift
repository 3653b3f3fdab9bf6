public import SQLiteStore

/// Sends local edits to their remotes in place of the manager, which does it as `bmo push` does.
///
/// `RequestManager.save(_:workflow:pusher:)` hands it the outbox entries of an edit. Its task is cancelled when the
/// manager is closed.
public protocol Pusher: Sendable {
    /// Sends entries, those first that they depend on.
    ///
    /// - Returns: What became of each.
    /// - Throws: What kept it from beginning: another pusher is at work, say. The entries stay.
    func push(_ entries: [Int64]) async throws -> [Int64: PushOutcome]
}

/// What became of an edit that was to be sent.
public enum PushOutcome: Sendable, Equatable {
    /// The remote has it, and its answer is imported; with the new identity, where the remote's key took the place of a
    /// temporary one.
    case done(ObjectID?)
    /// The remote does not want it.
    case refused(OutboxFailure)
    /// The remote's object is another than the one that was edited.
    case conflict(OutboxFailure)
    /// It was taken back here before the remote had it: by `bmo outbox drop`, an undo, an edit that sets what was before, or by
    /// an import that brought another version where the entity's `conflicts` lets the remote's count.
    case dropped
    /// It stays in the outbox and is sent later.
    case waiting(OutboxFailure?)
    /// Nobody knows whether the remote has it: it stays in the outbox, and the next push looks before it sends again.
    case unknown(OutboxFailure)
}

/// When a save counts, and what a refusal does.
///
/// What was not sent, or of which nobody knows whether it arrived, is never rolled back: it stays in the outbox.
public enum SaveWorkflow: Sendable {
    /// The local change counts at once and the remote follows; one that it refuses stays in the outbox, with its words.
    case localFirst
    /// The local change counts at once and the remote follows; one that it refuses is rolled back here.
    case rollBack
    /// The save returns when the remote has it; one that it refuses is rolled back here, and the save fails.
    case afterRemote
    /// The local change counts at once, and waits in the outbox until `RequestManager.push(_:)` or `bmo push`.
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

    /// A new object with these values; without a key it gets a temporary one until the remote gives its own.
    public static func create(_ entity: String, values: [String: LocalValue]) -> ObjectEdit {
        ObjectEdit(operation: .create, entity: entity, id: nil, content: node(values))
    }

    /// A new object of a type of yours; objects inside it are created or updated with it.
    ///
    /// - Throws: `EncodingError`.
    public static func create(_ entity: String, _ value: some Encodable) throws -> ObjectEdit {
        ObjectEdit(operation: .create, entity: entity, id: nil, content: try ObjectEncoder.encode(value))
    }

    /// Other values for an object; values that it has already are no change.
    public static func update(_ id: ObjectID, values: [String: LocalValue]) -> ObjectEdit {
        ObjectEdit(operation: .update, entity: id.entity, id: id, content: node(values))
    }

    /// An object as a value of a type of yours has it; members that are not encoded are left alone.
    ///
    /// - Throws: `EncodingError`.
    public static func update(_ id: ObjectID, _ value: some Encodable) throws -> ObjectEdit {
        ObjectEdit(operation: .update, entity: id.entity, id: id, content: try ObjectEncoder.encode(value))
    }

    /// An object that is to go.
    public static func delete(_ id: ObjectID) -> ObjectEdit {
        ObjectEdit(operation: .delete, entity: id.entity, id: id, content: .members([]))
    }

    private static func node(_ values: [String: LocalValue]) -> ObjectNode {
        .members(values.sorted { $0.key < $1.key }.map { (name: $0.key, node: .value($0.value)) })
    }
}
