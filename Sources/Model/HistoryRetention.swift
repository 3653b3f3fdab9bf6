/// How long the runs of a database and what they changed are kept.
public enum HistoryRetention: Sendable, Equatable {
    /// So many seconds after a run began.
    case seconds(Int64)
    /// The newest runs, so many.
    case runs(Int)
    /// For ever.
    case forever

    /// What counts where the configuration says nothing: 90 days.
    public static let usual = HistoryRetention.seconds(90 * 86_400)
}
