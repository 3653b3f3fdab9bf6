internal import Mapping
internal import StoreRules

/// New rows of a table whose key is one integer, as the arrays by which the next flush inserts them: one per column.
///
/// Most rows of a first import are new, and need not become values in between. One thread uses them at a time.
final class NewRows {
    private let codecs: [ValueCodec]
    /// The columns of references to keys that are not numbers.
    private let references: [Int]
    private let columns: [ArrayBuilder]
    private(set) var count = 0
    /// About the number of bytes of a statement with the rows.
    private(set) var size = 0

    init(_ table: RowTableSQL) {
        codecs = table.codecs
        references = table.layout.toOne.flatMap { $0.firstField..<$0.firstField + $0.fieldCount }.filter {
            [.text, .bytea].contains(table.codecs[$0].sqlType)
        }
        columns = table.codecs.map { ArrayBuilder(of: $0.sqlType.transferred) }
    }

    /// The parameters of a statement that inserts the rows, at least one.
    var parameters: [SQLParameter] { columns.map { .array($0) } }

    /// The longest text of a reference that is certainly shorter than ``RowTableSQL/longestKey``, written as JSON.
    private static let longestReference = RowTableSQL.longestKey / 8

    /// Adds a row with a number that no other one has; returns whether each value fits its column.
    func add(_ cells: UnsafeBufferPointer<Cell>) -> Bool {
        guard references.allSatisfy({ cells[$0].length < Self.longestReference }) else { return false }
        var bytes = 0
        for (index, column) in columns.enumerated() {
            guard codecs[index].append(cells[index], to: column) else {
                for column in columns[..<index] { column.removeLast() }
                return false
            }
            bytes += 12 + Int(cells[index].length)
        }
        size += bytes
        count += 1
        return true
    }

    /// Returns the encoded values of each row.
    func rows() -> [[[UInt8]?]] {
        let elements = columns.map { $0.elements() }
        return (0..<count).map { row in elements.map { $0[row] } }
    }
}
