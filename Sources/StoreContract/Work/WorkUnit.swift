/// A part of a sync that one worker does at a time; see ``WorkStore``.
public struct WorkUnit: Sendable, Equatable {
    /// What is to be done.
    public enum Task: String, Sendable, CaseIterable {
        /// A whole scan, with its deletions.
        case listing
        /// The division of a scan by parents into ranges.
        case split
        /// The scans of the parents in a range of row numbers.
        case range
        /// The end of a scan by parents, after all ranges: its deletions and cursors.
        case end
        /// The end of the round, after all other units.
        case close
    }

    /// How far the unit is.
    public enum State: String, Sendable, CaseIterable {
        /// No worker has it.
        case waiting
        /// A worker has it.
        case working
        /// It was done; its result says how.
        case ended
    }

    /// The name, unique in the round, such as `City`, `City.source` or `City 3/64`.
    public var name: String
    /// The units of one scan: its name, such as `City` or `City.source`.
    public var group: String
    /// The entity that is scanned; empty for the end of the round.
    public var entity: String
    /// The further source; empty for the entity's own bridge.
    public var source: String
    /// What is to be done.
    public var task: Task
    /// The row after which the parents of a ``Task/range`` begin.
    public var after: Int64 = .min
    /// The row of the last parent of a ``Task/range``.
    public var through: Int64 = .max
    /// The groups that must have ended before.
    public var needs: [String]
    /// How far the unit is.
    public var state = State.waiting
    /// The worker that has it.
    public var owner: String?
    /// A number that grows with each claim: what a worker writes counts only while the number is the one of its claim.
    public var epoch: Int64 = 0
    /// How often it was claimed in this round, without the claims of workers that gave it back.
    public var claims = 0

    /// How many workers may end, or lose their lease, in the middle of a unit before it counts as failed.
    public static let mostLosses = 5

    /// Whether so many workers have ended in the middle of the unit that it is not tried again in this round: it is probably
    /// the unit that ends them.
    public var isGivenUp: Bool { claims > Self.mostLosses }

    /// Creates a unit that waits.
    public init(
        name: String, group: String, entity: String, source: String = "", task: Task, needs: [String] = []
    ) {
        self.name = name
        self.group = group
        self.entity = entity
        self.source = source
        self.task = task
        self.needs = needs
    }
}
