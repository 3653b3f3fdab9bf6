/// A part of a listing that is requested separately: one time window, and one value from each list in `each`.
struct Slice: Sendable, Equatable {
    /// The values from `each`, by the names of their variables.
    var values: [String: String] = [:]
    /// The value of `{since}`.
    var since: String?
    /// The value of `{until}`.
    var until: String?
    /// Whether records leave the listing by the time alone: it begins relative to now, as at `now-30d`, or ends at about now.
    var isMoving = false
}
