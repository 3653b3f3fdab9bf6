internal import StoreContract

/// What a push does next with an edit; ``PushDecision`` chooses it, and ``PushSender`` carries it out.
enum PushStep: Sendable, Equatable {
    /// A question to the remote about the object of an edit.
    enum Question: Sendable, Equatable {
        /// Whether an edit with unknown outcome arrived, and if not, whether it is sent again now.
        case arrival(isLate: Bool)
        /// Which version the remote has, as it rejected the edit as a conflict.
        case version(OutboxFailure)
        /// Whether the remote still has the object, as it rejected the update as not found.
        case existence(OutboxFailure, nextTry: String)
        /// Whether the object that the remote has already is the created one.
        case creation(OutboxFailure, nextTry: String)
    }

    /// The remote has the edit: it leaves the outbox, and the object that the remote returned, if any, is imported, in one
    /// transaction.
    case acknowledge
    /// The outcome is recorded, and the edit is finished for this push, as are those of its bridge if that is unusable.
    case settle(EditOutcome, isBridgeUnusable: Bool = false)
    /// The edit is finished for this push with an outcome that is recorded already, or left the outbox by an import.
    case finish(EditOutcome)
    /// Its obstacle is gone: it is sent again in this push. After too many tries, a conflict stays one.
    case sendAgain(OutboxFailure, isConflict: Bool = false)
    /// It stays unknown, as the remote may still be processing it: a push after `next` looks again.
    case lookLater(OutboxFailure, sent: String, next: String)
    /// It is looked for again in this push after a pause.
    case lookAgain(after: Duration)
    /// The remote is asked. The outcome, if any, is recorded first, so that after a crash it is not sent again.
    case ask(Question, after: EditOutcome? = nil)
    /// The deletion of the remote's object is imported. The outcome, if any, is recorded first.
    case importDeletion(OutboxFailure, after: EditOutcome? = nil)
}
