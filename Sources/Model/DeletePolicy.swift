/// What becomes of local objects that the remote no longer has.
public struct DeletePolicy: Sendable, Equatable {
    /// What a deletion is.
    public enum Mode: String, Sendable, CaseIterable {
        /// The row goes.
        case hard
        /// The row stays, with a time in `deleted_at`.
        case soft
        /// The row stays as it is.
        case ignore
    }

    /// The most that one walk may delete without being allowed to.
    public struct Brake: Sendable, Equatable {
        /// The share of the rows in the walk's scope, from 0 to 1.
        public var share: Double
        /// So many rows may go whatever their share.
        public var rows: Int

        /// A brake: it holds where more than `share` of the rows, and more than `rows`, would go.
        public init(share: Double = 0.2, rows: Int = 10) {
            self.share = share
            self.rows = rows
        }
    }

    /// What a deletion is.
    public var mode: Mode
    /// The most that one walk may delete without being allowed to.
    public var brake: Brake
    /// The records of a reply that stand for an object that is gone; nil when there are none.
    public var tombstone: Matcher?

    /// The usual policy: hard, with the usual brake.
    public init(mode: Mode = .hard, brake: Brake = Brake(), tombstone: Matcher? = nil) {
        self.mode = mode
        self.brake = brake
        self.tombstone = tombstone
    }
}
