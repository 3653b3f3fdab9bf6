internal import BridgeKit

/// How a listing is divided into ranges of ids, for APIs that limit the results of a request: the section's `split`.
struct SplitRule: Sendable {
    /// The names of its variables: the first and the last id of a range.
    static let names: Set<String> = ["from", "to"]

    private let start: Int64
    private let end: Int64
    private let step: Int64
    /// Whether a last range has no end, so that the ranges cover all ids from the first on.
    let isOpen: Bool

    /// - Throws: ``BridgeError`` for ranges that cannot be made.
    init?(_ section: BridgeOptions) throws {
        guard let split = section.object("split") else { return nil }
        start = Int64(split.integer("start") ?? 1)
        guard let step = split.integer("step"), step > 0 else {
            throw BridgeError(
                .configuration, "split.step is missing", remedy: "say how many ids a request may ask for, such as 1000")
        }
        guard let end = split.integer("end"), end >= start else {
            throw BridgeError(
                .configuration, "split.end is missing, or less than split.start",
                remedy: "say up to which id the listing is divided; what follows is asked for without {to}")
        }
        self.step = Int64(step)
        self.end = Int64(end)
        isOpen = split.bool("open") ?? true
    }

    /// The number of ranges.
    var count: Int {
        let (span, overflow) = end.subtractingReportingOverflow(start)
        return overflow ? Int.max : Int(clamping: min(span / step, 1 << 32)) + (isOpen ? 2 : 1)
    }

    /// The values of the variables for each range, in order.
    var ranges: [[String: String]] {
        var ranges: [[String: String]] = []
        var first = start
        while first <= end {
            let (last, overflow) = first.addingReportingOverflow(step - 1)
            let to = overflow ? end : min(last, end)
            ranges.append(["from": String(first), "to": String(to)])
            guard to < end else { break }
            first = to + 1
        }
        if isOpen, end < Int64.max { ranges.append(["from": String(end + 1)]) }
        return ranges
    }
}
