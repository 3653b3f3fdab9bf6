/// The outcome of an entry that was not acknowledged.
public enum OutboxSettlement: Sendable {
    /// The edit was not applied, and may be sent again at this time (ISO 8601), or at once if nil.
    case retry(at: String?, OutboxFailure)
    /// The edit was not applied, and will not be.
    case refused(OutboxFailure)
    /// It is unknown whether the edit was applied; `sent` is the time when it was sent.
    case unknown(sent: String?, OutboxFailure)
    /// The edit was not applied, because the remote's object differs.
    case conflict(OutboxFailure)
}
