internal import Mapping
internal import StoreRules

/// New rows of a table whose key is one integer, as the arrays by which the next flush inserts them: one per column.
///
/// Most rows of a first import are new, and need not become values in between. One thread uses them at a time.
final class NewRows {
    private let codecs: [ValueCodec]
    private let keyColumn: Int
    /// The columns of references to keys that are not numbers.
    private let references: [Int]
    private let columns: [ArrayBuilder]
    private var marks: [ArrayBuilder.Mark]
    private(set) var numbers: Set<Int64> = []
    /// About the number of bytes of a statement with the rows.
    private(set) var size = 0

    init(_ table: RowTableSQL) {
        codecs = table.codecs
        keyColumn = table.layout.key[0]
        references = table.layout.toOne.flatMap { $0.firstField..<$0.firstField + $0.fieldCount }.filter {
            [.text, .bytea].contains(table.codecs[$0].sqlType)
        }
        columns = table.codecs.map { ArrayBuilder(of: $0.sqlType.transferred) }
        marks = columns.map(\.mark)
    }

    var count: Int { numbers.count }

    /// The parameters of a statement that inserts the rows, at least one.
    var parameters: [SQLParameter] { columns.map { .array($0) } }

    func contains(_ number: Int64) -> Bool { numbers.contains(number) }

    /// The longest text of a reference that is certainly shorter than ``RowTableSQL/longestKey``, written as JSON.
    private static let longestReference = RowTableSQL.longestKey / 8

    /// Adds a row; returns whether it could be added: there is none with its number yet, and each value fits its column.
    func add(_ cells: UnsafeBufferPointer<Cell>) -> Bool {
        let key = cells[keyColumn]
        guard key.kind == .integer, !numbers.contains(key.integer),
            references.allSatisfy({ cells[$0].length < Self.longestReference })
        else { return false }
        var bytes = 0
        for index in columns.indices {
            marks[index] = columns[index].mark
            guard codecs[index].append(cells[index], to: columns[index]) else {
                for index in 0...index { columns[index].removeAll(after: marks[index]) }
                return false
            }
            bytes += 12 + Int(cells[index].length)
        }
        size += bytes
        numbers.insert(key.integer)
        return true
    }

    /// Returns the encoded values of each row.
    func rows() -> [[[UInt8]?]] {
        let elements = columns.map { $0.elements() }
        return (0..<count).map { row in elements.map { $0[row] } }
    }
}
