internal import Mapping

/// Rows of a table whose key is one integer, in the form in which the server sent them.
///
/// Most rows of a page equal its records, and need not be decoded.
struct FetchedRows {
    private struct Place {
        var result: Int32
        /// The number of the row in the result; nil if the table has no such row.
        var row: Int32?
    }

    private let codecs: [ValueCodec]
    private let keyColumn: Int
    private var results: [QueryResult] = []
    private var places: [Int64: Place] = [:]

    init(_ codecs: [ValueCodec], keyColumn: Int) {
        self.codecs = codecs
        self.keyColumn = keyColumn
    }

    /// Adds what the server sent.
    ///
    /// - Parameters:
    ///   - result: Rows, each with its number in the first column, and perhaps others than those of `numbers`.
    ///   - numbers: The numbers of the rows that were asked for; none is known yet.
    mutating func add(_ result: QueryResult, of numbers: Set<Int64>) {
        let index = Int32(results.count)
        results.append(result)
        places.reserveCapacity(places.count + numbers.count)
        for row in 0..<result.count {
            guard let number = result.bigint(row, 0), numbers.contains(number) else { continue }
            places[number] = Place(result: index, row: Int32(row))
        }
        guard result.count < numbers.count else { return }
        for number in numbers where places[number] == nil { places[number] = Place(result: index, row: nil) }
    }

    /// Forgets what the table has for some numbers.
    mutating func forget(_ numbers: Set<Int64>) {
        for number in numbers { places[number] = nil }
    }

    /// Whether it is known what the table has for a number, be it nothing.
    func isKnown(_ number: Int64) -> Bool { places[number] != nil }

    /// Whether it is known that the table has no row with a number.
    func isMissing(_ number: Int64) -> Bool { places[number].map { $0.row == nil } ?? false }

    /// Returns where the row with a number is; nil if there is none.
    func row(_ number: Int64) -> (result: QueryResult, row: Int)? {
        guard let place = places[number], let row = place.row else { return nil }
        return (results[Int(place.result)], Int(row))
    }

    /// Returns the number of the row that has the values of some cells, one for each column; absent ones do not count.
    func numberOfSameRow(as cells: UnsafeBufferPointer<Cell>) -> Int64? {
        let key = cells[keyColumn]
        guard key.storage == .integer, let (result, row) = row(key.integer) else { return nil }
        for (column, codec) in codecs.enumerated() where cells[column].kind != .absent {
            // The number comes first.
            guard codec.isSame(cells[column], result.bytes(row, 1 + column)) else { return nil }
        }
        return key.integer
    }
}
