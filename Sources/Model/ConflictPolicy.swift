/// Whose value counts where a column was changed here and on the remote since the edit was made.
public enum ConflictPolicy: Sendable, Equatable {
    /// Nobody's until a person decides: the local value stays and the edit is not sent.
    case manual
    /// The remote's: the local edit of the column is given up.
    case remote
    /// The local one: it is sent.
    case local
    /// That of the side whose attribute of this name is newer.
    case newest(attribute: String)
}
