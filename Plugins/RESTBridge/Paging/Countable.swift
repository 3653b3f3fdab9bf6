/// Bounds for the numbers that a remote, a config or a stored cursor tells.
extension Int {
    /// More than any listing has, and little enough for sums of a few such numbers.
    static let mostCountable = 1 << 50

    /// The number, or the bound that it lies beyond: to count on from a larger one would end the process.
    var countable: Int { Swift.min(Swift.max(self, -Self.mostCountable), Self.mostCountable) }
}
