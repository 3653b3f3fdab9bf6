/// A part of a listing that is requested by itself: a window of time, and one value of each list of `each`.
struct Slice: Sendable, Equatable {
    /// The values of `each` by their variables.
    var values: [String: String] = [:]
    /// The value of `{since}`.
    var since: String?
    /// The value of `{until}`.
    var until: String?
    /// Whether the slice begins at a moment that moves, so that older records are not in the listing.
    var isMoving = false
}
