import StoreContract
import Testing

/// How workers divide limits, without a database.
@Suite struct LimitPartsTests {
    /// The sum of all parts.
    private func sum(_ parts: LimitParts) -> Double {
        parts.holders.filter { $0.divisor > 0 }.reduce(0) { $0 + 1 / Double($1.divisor) }
    }

    private func renew(_ parts: inout LimitParts, _ id: String, places: Int? = nil) {
        let divisor = parts.divisor(for: id, places: places)
        if let index = parts.holders.firstIndex(where: { $0.id == id }) {
            parts.holders[index].divisor = divisor
        } else {
            parts.holders.append(LimitParts.Holder(id: id, divisor: divisor))
        }
    }

    @Test func `a worker alone has everything, and one that joins waits until the others have made room`() {
        var parts = LimitParts([])
        renew(&parts, "a")
        #expect(parts.holders.map(\.divisor) == [1])
        renew(&parts, "b")
        #expect(parts.holders.map(\.divisor) == [1, 0])
        renew(&parts, "a")
        #expect(parts.holders.map(\.divisor) == [2, 0])
        renew(&parts, "b")
        #expect(parts.holders.map(\.divisor) == [2, 2])
    }

    @Test func `what a dead worker had returns when its part has expired`() {
        var parts = LimitParts(["a", "b", "c"].map { LimitParts.Holder(id: $0, divisor: 3) })
        parts.holders.remove(at: 1)
        renew(&parts, "a")
        #expect(parts.holders.map(\.divisor) == [2, 3])
        renew(&parts, "c")
        #expect(parts.holders.map(\.divisor) == [2, 2])
    }

    @Test func `workers without a place wait for one in the order in which they joined`() {
        var parts = LimitParts([])
        for _ in 1...3 { for id in ["a", "b", "c"] { renew(&parts, id, places: 2) } }
        #expect(parts.holders.map(\.divisor) == [2, 2, 0])
        parts.holders.remove(at: 0)
        renew(&parts, "c", places: 2)
        #expect(parts.holders.map(\.divisor) == [2, 2])
    }

    @Test func `parts never add up to more than the whole, whatever joins, dies and renews`() {
        var random = SystemRandomNumberGenerator()
        for places in [nil, 1, 3, 8] as [Int?] {
            var parts = LimitParts([])
            for step in 0..<2000 {
                let id = "\(Int.random(in: 0..<12, using: &random))"
                if Int.random(in: 0..<5, using: &random) == 0 {
                    parts.holders.removeAll { $0.id == id }
                } else {
                    renew(&parts, id, places: places)
                }
                #expect(sum(parts) <= 1 + 1e-6, "places \(places ?? 0), step \(step): \(parts)")
            }
            // After two renewals of each, all that have a place have the same part.
            for _ in 1...2 { for holder in parts.holders { renew(&parts, holder.id, places: places) } }
            let fair = min(parts.holders.count, places ?? .max)
            #expect(parts.holders.prefix(fair).map(\.divisor) == Array(repeating: fair, count: fair), "\(parts)")
        }
    }
}
