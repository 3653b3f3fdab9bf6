extension [ClosedRange<Int64>] {
    /// Returns ranges that cover the same numbers, in ascending order and with a gap between any two.
    package func coalesced() -> [ClosedRange<Int64>] {
        var result: [ClosedRange<Int64>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound &+ 1 {
                result[result.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}
