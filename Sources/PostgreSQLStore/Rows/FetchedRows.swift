internal import Mapping

/// What a table whose key is one integer has for the numbers of a page, with rows in the form in which the server sent
/// them.
///
/// Most rows of a page equal its records, and need not be decoded.
final class FetchedRows {
    /// What the table has for a number: the place of a row among all that were read, or one of these.
    private enum Place {
        static let unknown: Int32 = -3
        static let missing: Int32 = -2
        /// A row that the transaction inserts with the next flush.
        static let new: Int32 = -1
    }

    /// All numbers from one to another, for which a look-up takes no hash.
    private struct Span {
        let low: Int64
        var places: [Int32]

        func contains(_ number: Int64) -> Bool {
            number >= low && UInt64(bitPattern: number &- low) < UInt64(places.count)
        }
    }

    /// The entity that has the table.
    let root: Int
    let keyColumn: Int
    private let codecs: [ValueCodec]
    private var results: [(result: QueryResult, first: Int32)] = []
    private var count: Int32 = 0
    private var spans: [Span] = []
    private var places: [Int64: Int32] = [:]
    private var newNumbers: [Int64] = []
    /// The numbers of rows that were written and not read since.
    private var writtenNumbers: [Int64] = []

    init(_ root: Int, _ codecs: [ValueCodec], keyColumn: Int) {
        self.root = root
        self.codecs = codecs
        self.keyColumn = keyColumn
    }

    // MARK: - Reading

    /// Adds all rows whose numbers are in a range, each with its number in the first column.
    func add(_ result: QueryResult, in range: ClosedRange<Int64>) {
        var span = Span(
            low: range.lowerBound,
            places: Array(repeating: Place.missing, count: Int(range.upperBound - range.lowerBound) + 1))
        for row in 0..<result.count {
            guard let number = result.bigint(row, 0), span.contains(number) else { continue }
            span.places[Int(number - span.low)] = count + Int32(row)
        }
        for number in newNumbers where span.contains(number) { span.places[Int(number - span.low)] = Place.new }
        spans.append(span)
        keep(result)
    }

    /// Adds the rows that have some numbers.
    func add(_ result: QueryResult, of numbers: some Sequence<Int64>) {
        for number in numbers { places[number] = Place.missing }
        for row in 0..<result.count {
            if let number = result.bigint(row, 0) { places[number] = count + Int32(row) }
        }
        keep(result)
    }

    private func keep(_ result: QueryResult) {
        results.append((result, count))
        count += Int32(result.count)
    }

    private func place(_ number: Int64) -> Int32 {
        if !places.isEmpty, let place = places[number] { return place }
        guard let index = span(of: number) else { return Place.unknown }
        return spans[index].places[Int(number - spans[index].low)]
    }

    /// Returns the newest span that knows what the table has for a number.
    private func span(of number: Int64) -> Int? {
        for index in spans.indices.reversed()
        where spans[index].contains(number)
            && spans[index].places[Int(number - spans[index].low)] != Place.unknown
        {
            return index
        }
        return nil
    }

    /// Whether it is known what the table has for a number, be it nothing.
    func isKnown(_ number: Int64) -> Bool { place(number) != Place.unknown }

    /// Whether it is known that the table has no row with a number.
    func isMissing(_ number: Int64) -> Bool { place(number) == Place.missing }

    /// Returns where the row with a number is; nil if there is none.
    func row(_ number: Int64) -> (result: QueryResult, row: Int)? {
        let place = place(number)
        guard place >= 0, let found = results.last(where: { $0.first <= place }) else { return nil }
        return (found.result, Int(place - found.first))
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

    // MARK: - New rows

    /// Returns the written rows that are read with one of them: a page that asks for one may ask for each.
    func takeWritten(with number: Int64) -> [Int64] {
        guard writtenNumbers.contains(number) else { return [number] }
        defer { writtenNumbers = [] }
        return writtenNumbers
    }

    /// The rows that the transaction inserts with the next flush.
    var newRows: NewRows?

    /// Whether a number is that of a new row, which is not written yet.
    func isNew(_ number: Int64) -> Bool { place(number) == Place.new }

    /// Notes a new row, whose number is missing so far.
    func noteNew(_ number: Int64) {
        newNumbers.append(number)
        if !places.isEmpty, places[number] != nil {
            places[number] = Place.new
        } else if let index = span(of: number) {
            spans[index].places[Int(number - spans[index].low)] = Place.new
        }
    }

    /// Forgets what the table has for the numbers of the new rows.
    ///
    /// - Parameter areWritten: Whether the database has them now, so that they can be read.
    func forgetNewRows(areWritten: Bool) {
        if areWritten { writtenNumbers += newNumbers }
        for number in newNumbers {
            places[number] = nil
            for index in spans.indices where spans[index].contains(number) {
                spans[index].places[Int(number - spans[index].low)] = Place.unknown
            }
        }
        newNumbers = []
        newRows = nil
    }
}
