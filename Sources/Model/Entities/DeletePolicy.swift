/// The handling of local objects that the remote no longer has.
public struct DeletePolicy: Sendable, Equatable {
    /// The effect of a deletion.
    public enum Mode: String, Sendable, CaseIterable {
        /// The row is deleted.
        case hard
        /// The row stays, with the time of deletion in `deleted_at`.
        case soft
        /// The row stays unchanged.
        case ignore
    }

    /// The deletion limit: the most rows that one scan may delete without explicit permission.
    public struct DeletionLimit: Sendable, Equatable {
        /// The maximum share of the rows in the scan's scope, from 0 to 1.
        public var share: Double
        /// The number of rows that may be deleted whatever their share.
        public var rows: Int

        /// Creates a limit, which applies when more than `share` of the rows and more than `rows` rows would be
        /// deleted.
        public init(share: Double = 0.2, rows: Int = 10) {
            self.share = share
            self.rows = rows
        }
    }

    /// The effect of a deletion.
    public var mode: Mode
    /// The deletion limit.
    public var deletionLimit: DeletionLimit
    /// Matches the records that represent deleted objects; nil if there are none.
    public var tombstone: Matcher?

    /// The name of the view of rows that are not deleted, in mode soft; nil for none.
    public var view: String?

    /// Creates a policy; by default, hard deletion with the default limit.
    public init(mode: Mode = .hard, deletionLimit: DeletionLimit = DeletionLimit(), tombstone: Matcher? = nil) {
        self.mode = mode
        self.deletionLimit = deletionLimit
        self.tombstone = tombstone
    }
}
