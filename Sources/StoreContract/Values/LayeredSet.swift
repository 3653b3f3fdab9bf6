/// A set of numbers that is cheap to copy and then to insert into: a copy shares all layers but the small newest one.
///
/// Numbers that follow one another are kept as ranges: the rows of a listing mostly do. Full layers are merged when the
/// older one has at most twice as many ranges, so that there are few of them: `n` inserts take time in proportion to
/// `n log n`, however many copies are made. See ``LayeredArray`` for the reason.
package struct LayeredSet: Sendable {
    private static let layerSize = 1024
    /// The minimum length of a run that becomes a layer of its own.
    private static let longRun = 64

    /// Ranges in ascending order, with gaps between them.
    private struct Layer: Sendable {
        private(set) var ranges: [ClosedRange<Int64>]

        func contains(_ number: Int64) -> Bool { place(of: number) != nil }

        /// Returns the index of the range that has a number.
        private func place(of number: Int64) -> Int? {
            // Numbers are mostly inserted in order.
            guard let last = ranges.last, number <= last.upperBound else { return nil }
            var (low, high) = (0, ranges.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
            }
            return ranges[low].contains(number) ? low : nil
        }

        mutating func remove(_ number: Int64) {
            guard let place = place(of: number) else { return }
            let range = ranges[place]
            var rest: [ClosedRange<Int64>] = []
            if range.lowerBound < number { rest.append(range.lowerBound...number - 1) }
            if number < range.upperBound { rest.append(number + 1...range.upperBound) }
            ranges.replaceSubrange(place...place, with: rest)
        }

        /// Returns this layer with the numbers of another one, which has none of its own.
        func merged(with other: Layer) -> Layer {
            var merged: [ClosedRange<Int64>] = []
            merged.reserveCapacity(ranges.count + other.ranges.count)
            func add(_ range: ClosedRange<Int64>) {
                if let last = merged.last, last.upperBound == range.lowerBound - 1 {
                    merged[merged.count - 1] = last.lowerBound...range.upperBound
                } else {
                    merged.append(range)
                }
            }
            var (own, others) = (ranges[...], other.ranges[...])
            while let first = own.first, let second = others.first {
                add(first.lowerBound < second.lowerBound ? own.removeFirst() : others.removeFirst())
            }
            for range in own { add(range) }
            for range in others { add(range) }
            return Layer(ranges: merged)
        }
    }

    /// Disjoint layers, the largest first.
    private var layers: [Layer] = []
    private var newest: Set<Int64> = []
    /// The numbers inserted last, if each was the successor of the one before.
    private var run: ClosedRange<Int64>?
    /// No number is greater.
    private var greatest = Int64.min
    package private(set) var count = 0

    package init() {}

    package func contains(_ number: Int64) -> Bool {
        run?.contains(number) == true || newest.contains(number) || layers.contains { $0.contains(number) }
    }

    /// Returns the ranges of successive numbers, in ascending order; nil if there may be more than a limit.
    package func ranges(atMost limit: Int) -> [ClosedRange<Int64>]? {
        let known = layers.reduce(newest.count) { $0 + $1.ranges.count }
        guard known / 4 - Self.layerSize <= limit else { return nil }
        let single = newest.map { $0...$0 } + (run.map { [$0] } ?? [])
        let joined = (layers.flatMap(\.ranges) + single).coalesced()
        return joined.count <= limit ? joined : nil
    }

    /// Inserts a number; returns whether it was new.
    @discardableResult
    package mutating func insert(_ number: Int64) -> Bool {
        guard number > greatest || !contains(number) else { return false }
        count += 1
        greatest = max(greatest, number)
        if let run, run.upperBound < number, run.upperBound == number - 1 {
            self.run = run.lowerBound...number
        } else {
            endRun()
            run = number...number
        }
        return true
    }

    private mutating func endRun() {
        guard let run else { return }
        self.run = nil
        guard run.count < Self.longRun else { return add(Layer(ranges: [run])) }
        newest.formUnion(run)
        guard newest.count >= Self.layerSize else { return }
        add(Layer(ranges: newest.map { $0...$0 }.coalesced()))
        newest = []
    }

    private mutating func add(_ layer: Layer) {
        layers.append(layer)
        while layers.count > 1, layers[layers.count - 2].ranges.count <= 2 * layers[layers.count - 1].ranges.count {
            let younger = layers.removeLast()
            layers[layers.count - 1] = layers[layers.count - 1].merged(with: younger)
        }
    }

    /// Removes a number, which may take time in proportion to the size of the set.
    package mutating func remove(_ number: Int64) {
        guard contains(number) else { return }
        endRun()
        count -= 1
        newest.remove(number)
        for index in layers.indices { layers[index].remove(number) }
    }
}
