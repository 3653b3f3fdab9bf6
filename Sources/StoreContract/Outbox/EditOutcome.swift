public import Mapping

/// The outcome of sending an edit, or the reason why it was not sent.
///
/// The outbox records it (``OutboxStore/settle(_:_:)``), the state machine changes the entry by it
/// (``OutboxEvent/settled(_:)``), and the reports of pushes and saves show it. Times are ISO 8601.
///
/// ```swift
/// switch outcome {
/// case .sent(let key?): print("its key is \(key) now")
/// case .refused(let failure): print(failure.message)
/// default: print(outcome.kind)
/// }
/// ```
public enum EditOutcome: Sendable, Equatable {
    /// The remote accepted the edit. Its reply is imported, and the entry has left the outbox.
    ///
    /// `key` is the object's new key, where the remote's key replaced another one; nil where the key stayed.
    case sent(key: [StoredValue]?)
    /// The edit was not applied, and stays in the outbox: it is sent again at `until`, or by the next push if nil.
    ///
    /// The failure is that of the last attempt; nil where there was none. If it says ``OutboxFailure/mayHaveArrived``, the
    /// remote may have applied the edit, which must not be rolled back.
    case waits(until: String?, OutboxFailure?)
    /// The remote rejected the edit and did not apply it. It stays in the outbox until it is retried, edited or dropped.
    case refused(OutboxFailure)
    /// The remote's object differs from the edited one, and the edit was not applied. It stays in the outbox until the
    /// conflict is resolved.
    ///
    /// The failure is the remote's rejection; nil where an import found the conflict.
    case conflict(OutboxFailure?)
    /// The edit was sent, and it is unknown whether the remote applied it. It stays in the outbox, and the next push
    /// reads the object before it sends the edit again. It must not be rolled back.
    ///
    /// `sent` is the time when it was sent.
    case unknown(sent: String?, OutboxFailure)
    /// The edit left the outbox before the remote had it: it was dropped, undone, or given up for the remote's values.
    case dropped(OutboxFailure?)

    /// The kinds of outcomes; the raw values are printed by the commands, in this order.
    public enum Kind: String, Sendable, CaseIterable {
        /// The outcome of this name.
        case sent, waits, refused, conflict, unknown, dropped
    }

    /// The kind of outcome, without what belongs to it.
    public var kind: Kind {
        switch self {
        case .sent: .sent
        case .waits: .waits
        case .refused: .refused
        case .conflict: .conflict
        case .unknown: .unknown
        case .dropped: .dropped
        }
    }

    /// The reason why the remote does not have the edit, as far as it is known.
    public var failure: OutboxFailure? {
        switch self {
        case .sent: nil
        case .refused(let failure), .unknown(_, let failure): failure
        case .waits(_, let failure), .conflict(let failure), .dropped(let failure): failure
        }
    }

    /// Whether the edit will not reach the remote as it is: the remote rejected it, or it was dropped.
    public var isRejected: Bool {
        switch self {
        case .refused, .conflict, .dropped: true
        case .sent, .waits, .unknown: false
        }
    }
}

extension OutboxEntry {
    /// The outcome that the entry's state records; one that is being sent waits until that has an outcome.
    public var outcome: EditOutcome {
        let unnamed = OutboxFailure(code: "unknown", message: "the outbox does not say why")
        return switch state {
        case .pending, .sending: .waits(until: notBefore, failure)
        case .unknown: .unknown(sent: notBefore, failure ?? unnamed)
        case .refused: .refused(failure ?? unnamed)
        case .conflict: .conflict(failure)
        }
    }
}
