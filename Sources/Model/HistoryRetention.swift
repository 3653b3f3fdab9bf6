/// How long the runs of a database and their change log are kept.
public enum HistoryRetention: Sendable, Equatable {
    /// For this number of seconds after a run began.
    case seconds(Int64)
    /// The newest runs, up to this number.
    case runs(Int)
    /// Forever.
    case forever

    /// The default: 90 days.
    public static let usual = HistoryRetention.seconds(90 * 86_400)
}
