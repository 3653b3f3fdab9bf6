/// A set of numbers that is cheap to copy and then to insert into: a copy shares all layers but the small newest one.
///
/// Full layers are merged when the older one has at most twice as many numbers, so that there are few of them: `n`
/// inserts take time in proportion to `n log n`, however many copies are made. See ``LayeredArray`` for the reason.
package struct LayeredSet: Sendable {
    private static let layerSize = 1024

    /// Numbers in ascending order.
    ///
    /// It is searched only for numbers between its least and its greatest: they are mostly inserted in order.
    private struct Layer: Sendable {
        private(set) var numbers: [Int64]
        private var least: Int64
        private var greatest: Int64

        /// Creates a layer of at least one number, in ascending order.
        init(_ numbers: [Int64]) {
            self.numbers = numbers
            least = numbers.first ?? 0
            greatest = numbers.last ?? 0
        }

        func contains(_ number: Int64) -> Bool { place(of: number) != nil }

        private func place(of number: Int64) -> Int? {
            guard number >= least, number <= greatest else { return nil }
            var (low, high) = (0, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] < number { low = middle + 1 } else { high = middle }
            }
            return low < numbers.count && numbers[low] == number ? low : nil
        }

        mutating func remove(_ number: Int64) {
            if let place = place(of: number) { numbers.remove(at: place) }
        }

        /// Returns this layer with the numbers of another one, which has none of its own.
        func merged(with other: Layer) -> Layer {
            if let last = numbers.last, let first = other.numbers.first, last < first {
                return Layer(numbers + other.numbers)
            }
            var merged: [Int64] = []
            merged.reserveCapacity(numbers.count + other.numbers.count)
            var (own, others) = (0, 0)
            while own < numbers.count, others < other.numbers.count {
                if numbers[own] < other.numbers[others] {
                    merged.append(numbers[own])
                    own += 1
                } else {
                    merged.append(other.numbers[others])
                    others += 1
                }
            }
            merged += numbers[own...]
            merged += other.numbers[others...]
            return Layer(merged)
        }
    }

    /// Disjoint layers, the largest first.
    private var layers: [Layer] = []
    private var newest: Set<Int64> = []

    package init() {}

    package var count: Int { layers.reduce(newest.count) { $0 + $1.numbers.count } }

    package func contains(_ number: Int64) -> Bool {
        newest.contains(number) || layers.contains { $0.contains(number) }
    }

    /// Returns the ranges of successive numbers, in ascending order; nil if there may be more than a limit.
    package func ranges(atMost limit: Int) -> [ClosedRange<Int64>]? {
        var ranges: [ClosedRange<Int64>] = []
        for numbers in layers.map(\.numbers) + [newest.sorted()] {
            var first: Int64?
            for (index, number) in numbers.enumerated() {
                let start = first ?? number
                guard index + 1 == numbers.count || numbers[index + 1] != number &+ 1 else {
                    first = start
                    continue
                }
                guard ranges.count < 2 * limit else { return nil }
                ranges.append(start...number)
                first = nil
            }
        }
        let joined = ranges.coalesced()
        return joined.count <= limit ? joined : nil
    }

    /// Inserts a number; returns whether it was new.
    @discardableResult
    package mutating func insert(_ number: Int64) -> Bool {
        guard !layers.contains(where: { $0.contains(number) }), newest.insert(number).inserted else { return false }
        guard newest.count == Self.layerSize else { return true }
        layers.append(Layer(newest.sorted()))
        newest = []
        while layers.count > 1, layers[layers.count - 2].numbers.count <= 2 * layers[layers.count - 1].numbers.count {
            let younger = layers.removeLast()
            layers[layers.count - 1] = layers[layers.count - 1].merged(with: younger)
        }
        return true
    }

    /// Removes a number, which may take time in proportion to the size of the set.
    package mutating func remove(_ number: Int64) {
        newest.remove(number)
        for index in layers.indices where layers[index].contains(number) { layers[index].remove(number) }
    }
}
