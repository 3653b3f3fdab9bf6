/// A part of a listing that is requested separately: one time window, and one value from each list in `each`.
struct Slice: Sendable, Equatable {
    /// The values from `each` and `split`, by the names of their variables.
    var values: [String: String] = [:]
    /// The value of `{since}`.
    var since: String?
    /// The value of `{until}`.
    var until: String?
    /// Whether the slice begins relative to the current time, as at `now-30d`, so that old records leave the listing.
    var isMoving = false
    /// Whether all objects are requested, but only up to about now, or up to an id: one that changes during the scan, or
    /// that follows, is left out, and yet exists.
    var isBounded = false
}
