internal import StoreContract
internal import StoreRules
internal import Mapping

/// The stored targets of a relationship.
struct StoredLinks {
    var keys: [[StoredValue]]
    var positions: [Int64] = []
    /// Whether the positions are 0, 1, 2 ...; a link removed from the other end leaves a gap.
    var isDense: Bool
}

/// The storage of a relationship's links.
protocol LinkBacking {
    func targets(of owner: [StoredValue]) throws -> StoredLinks
    /// Returns whether exactly these are stored in this order; may return false if only the order differs.
    func holds(_ targets: UnsafeBufferPointer<Cell>, of owner: [StoredValue]) throws -> Bool
    /// Returns the difference; nil if nothing was written.
    func write(_ wanted: [[StoredValue]], over old: StoredLinks, of owner: [StoredValue]) throws -> LinkDelta?
}

extension RawStatement {
    /// Returns whether the rows are exactly these keys, in order; resets the statement.
    func holds(_ keys: UnsafeBufferPointer<Cell>, width: Int, firstColumn: Int32) throws -> Bool {
        defer { reset() }
        for first in stride(from: 0, to: keys.count, by: width) {
            guard try step() else { return false }
            for offset in 0..<width where !matches(keys[first + offset], column: firstColumn + Int32(offset)) {
                return false
            }
        }
        return try !step()
    }

    /// Returns the remaining rows and resets the statement.
    func rows(width: Int) throws -> [[StoredValue]] {
        defer { reset() }
        var rows: [[StoredValue]] = []
        while try step() { rows.append((0..<width).map { value(Int32($0)) }) }
        return rows
    }
}
