/// Bounds for numbers from a remote, a config or a stored cursor.
extension Int {
    /// A bound above the size of any listing that still allows sums of a few such numbers.
    package static let maxPosition = 1 << 50

    /// The number, clamped to the bound.
    ///
    /// Counting on from a larger number would trap.
    package var clampedPosition: Int { Swift.min(Swift.max(self, -Self.maxPosition), Self.maxPosition) }
}
