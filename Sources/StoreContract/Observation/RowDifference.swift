internal import Mapping

/// The difference between two lists of rows, with the indexes that a list view needs.
///
/// Rows are identified by key. Deletions and the origins of moves are indexes of the old list; insertions and the
/// destinations of moves are indexes of the new one. A row that moved and changed is in both lists.
public struct RowDifference: Sendable, Equatable {
    /// A row that changed its position relative to the rows that stayed.
    public struct Move: Sendable, Equatable {
        /// Its index in the old list.
        public var from: Int
        /// Its index in the new list.
        public var to: Int

        /// Creates a move.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// A row whose values changed.
    public struct Update: Sendable, Equatable {
        /// Its index in the old list.
        public var from: Int
        /// Its index in the new list.
        public var to: Int
        /// The indexes, in the entity's layout, of the fields that changed.
        public var fields: [Int]

        /// Creates an update.
        public init(from: Int, to: Int, fields: [Int]) {
            self.from = from
            self.to = to
            self.fields = fields
        }
    }

    /// The deleted rows, as ascending indexes of the old list.
    public private(set) var deletions: [Int] = []
    /// The inserted rows, as ascending indexes of the new list.
    public private(set) var insertions: [Int] = []
    /// A minimal set of moves, in the order of the new list.
    public private(set) var moves: [Move] = []
    /// The updated rows, in the order of the new list.
    public private(set) var updates: [Update] = []

    /// Whether the lists are the same.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

    /// Creates the difference from an empty list to one with this number of rows.
    package init(inserting count: Int) { insertions = Array(0..<count) }

    /// Creates the difference from a list with this number of rows to an empty one.
    package init(deleting count: Int) { deletions = Array(0..<count) }

    /// Compares two lists, in linear time, or in O(n log n) if rows moved.
    ///
    /// - Parameters:
    ///   - old: The list before.
    ///   - new: The list after.
    public init(from old: [EntityRow], to new: [EntityRow]) {
        // Most changes are small: the common beginning and end need no look-up.
        var prefix = 0
        while prefix < old.count, prefix < new.count, old[prefix].key == new[prefix].key { prefix += 1 }
        var suffix = 0
        while suffix < old.count - prefix, suffix < new.count - prefix,
            old[old.count - 1 - suffix].key == new[new.count - 1 - suffix].key
        {
            suffix += 1
        }
        var places: [[StoredValue]: Int] = [:]
        let middle = prefix..<old.count - suffix
        places.reserveCapacity(middle.count)
        for index in middle { places[old[index].key] = index }
        var stayed: [(from: Int, to: Int)] = []
        for index in 0..<prefix { noteUpdate(old, new, index, index) }
        for index in prefix..<new.count - suffix {
            if let place = places.removeValue(forKey: new[index].key) {
                stayed.append((place, index))
                noteUpdate(old, new, place, index)
            } else {
                insertions.append(index)
            }
        }
        for index in 0..<suffix { noteUpdate(old, new, old.count - suffix + index, new.count - suffix + index) }
        if !places.isEmpty {
            let kept = Set(stayed.map(\.from))
            deletions = middle.filter { !kept.contains($0) }
        }
        let isUnmoved = Self.longestAscent(stayed.map(\.from))
        for (index, row) in stayed.enumerated() where !isUnmoved[index] {
            moves.append(Move(from: row.from, to: row.to))
        }
    }

    private mutating func noteUpdate(_ old: [EntityRow], _ new: [EntityRow], _ from: Int, _ to: Int) {
        guard old[from].values != new[to].values else { return }
        let fields = new[to].values.indices.filter { old[from].values[$0] != new[to].values[$0] }
        updates.append(Update(from: from, to: to, fields: Array(fields)))
    }

    /// Returns which members belong to a longest ascending subsequence (Fredman, 1975).
    package static func longestAscent(_ numbers: [Int]) -> [Bool] {
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) {
            return Array(repeating: true, count: numbers.count)
        }
        // By length: the index of the smallest end of an ascent of that length.
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: numbers.count)
        for index in numbers.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let half = (low + high) / 2
                if numbers[ends[half]] < numbers[index] { low = half + 1 } else { high = half }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var isMember = Array(repeating: false, count: numbers.count)
        var index = ends.last ?? -1
        while index >= 0 {
            isMember[index] = true
            index = previous[index]
        }
        return isMember
    }
}
