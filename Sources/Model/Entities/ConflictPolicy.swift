/// Decides whose value wins for a column that changed both locally and on the remote since the edit.
public enum ConflictPolicy: Sendable, Equatable {
    /// Neither, until a user decides: the local value stays, and the edit is not sent.
    case manual
    /// The remote value: the local edit of the column is discarded.
    case remote
    /// The local value: it is sent.
    case local
    /// The newer side's value: the remote's attribute is compared with the edited one, or with the time of the edit.
    case newest(attribute: String)
}
