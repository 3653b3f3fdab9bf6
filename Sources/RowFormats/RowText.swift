package import BridgeKit
import RecordBatch

/// The text of a file of rows, which can be changed one row at a time; all other rows keep their exact bytes.
package struct RowText {
    /// The range of each row, with its line break.
    package private(set) var rows: [Range<Int>] = []
    package private(set) var bytes: [UInt8]
    /// The names of CSV columns; empty if the file has no header yet.
    package private(set) var columns: [String] = []
    private let format: RowFormat
    private var lineBreak: [UInt8] = [0x0A]

    /// - Throws: ``FileFault`` for a text that does not follow the format.
    package init(_ bytes: [UInt8], format: RowFormat) throws {
        self.bytes = bytes
        self.format = format
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        var quote: UInt8?
        if case .csv(let dialect) = format { quote = dialect.quote == 0 ? nil : dialect.quote }
        var start = hasMark ? 3 : 0
        var isQuoted = false
        for (index, byte) in bytes.enumerated() where index >= start {
            if byte == quote { isQuoted.toggle() }
            guard byte == 0x0A, !isQuoted else { continue }
            if rows.isEmpty, index > 0, bytes[index - 1] == 0x0D { lineBreak = [0x0D, 0x0A] }
            rows.append(start..<index + 1)
            start = index + 1
        }
        if isQuoted { throw FileFault(reason: "ends inside quotes") }
        if start < bytes.count { rows.append(start..<bytes.count) }
        rows.removeAll { range in bytes[range].allSatisfy(JSONScan.isSpace) }
        try takeHeader()
    }

    private mutating func takeHeader() throws {
        guard case .csv(let dialect) = format else { return }
        if let comment = dialect.comment { rows.removeAll { [bytes] in bytes[$0].first == comment } }
        rows.removeFirst(min(dialect.skippedRows, rows.count))
        switch dialect.header {
        case .names(let names): columns = names
        case .firstRow:
            guard let first = rows.first else { return }
            columns = try fields(of: first, dialect)
            rows.removeFirst()
        }
    }

    /// Returns the values of a row's members as text; nil for a missing one.
    package func values(of row: Range<Int>, _ names: [String]) throws -> [String?] {
        switch format {
        case .csv(let dialect):
            let fields = try fields(of: row, dialect)
            return names.map { name in
                columns.firstIndex(of: name).flatMap { $0 < fields.count ? fields[$0] : nil }
            }
        default:
            let record = try object(of: row)
            return names.map { record.string($0) }
        }
    }

    /// Replaces a row with new text.
    package mutating func replace(_ row: Range<Int>, with text: [UInt8]) {
        let end = Array(bytes[row].reversed().prefix { $0 == 0x0A || $0 == 0x0D }.reversed())
        bytes.replaceSubrange(row, with: text + end)
    }

    /// Removes a row with its line break.
    package mutating func remove(_ row: Range<Int>) { bytes.removeSubrange(row) }

    /// Returns the bytes to append to the file for one more row.
    package func appending(_ text: [UInt8]) -> [UInt8] {
        let needsBreak = !bytes.isEmpty && bytes.last != 0x0A && !(bytes.count == 3 && bytes[0] == 0xEF)
        return (needsBreak ? lineBreak : []) + text + lineBreak
    }

    /// Returns a row's text, with the values of `changes` in place of its own.
    package func text(of row: Range<Int>?, with changes: BridgeOptions) throws -> [UInt8] {
        let names = changes.names.filter { !$0.hasPrefix("@") }
        switch format {
        case .csv(let dialect):
            for name in names where !columns.contains(name) {
                throw BridgeError(
                    .configuration, "the file has no column \(name)",
                    remedy: "it has \(columns.joined(separator: ", "))")
            }
            let old = try row.map { try fields(of: $0, dialect) } ?? []
            let delimiter = String(Unicode.Scalar(dialect.delimiter))
            let written = try columns.enumerated().map { index, column in
                let text = names.contains(column) ? changes.string(column) ?? "" : index < old.count ? old[index] : ""
                let field = CSVText.field(text, dialect)
                guard dialect.quote != 0 || !text.contains(where: { "\n\r".contains($0) || String($0) == delimiter })
                else {
                    throw BridgeError(
                        .configuration,
                        "the value of \(column) contains a delimiter or a line break, and no quote character is set")
                }
                return field
            }
            return Array(written.joined(separator: delimiter).utf8)
        default:
            let old = try row.map { try object(of: $0) } ?? .empty
            let writer = RecordBatchWriter()
            writer.object {
                for name in old.names + names.filter({ !old.names.contains($0) }) {
                    writer.key(name)
                    (names.contains(name) ? changes : old).withValue(name) { value in
                        if let value { writer.copy(value) } else { writer.null() }
                    }
                }
            }
            return Array(try writer.finish().json(0).utf8)
        }
    }

    private func fields(of row: Range<Int>, _ dialect: CSVDialect) throws -> [String] {
        var fields: [String] = []
        do {
            let reader = try CSVReader(delimiter: dialect.delimiter, quote: dialect.quote)
            func take(_ reader: CSVReader) { fields = (0..<reader.fieldCount).map { reader.field($0) } }
            try bytes[row].withUnsafeBytes { try reader.feed($0, onRow: take) }
            try reader.finish(onRow: take)
        } catch {
            throw FileFault(reason: "has a row that is not CSV")
        }
        return fields
    }

    private func object(of row: Range<Int>) throws -> BridgeOptions {
        guard let object = try JSONObject.parse(Array(bytes[row])) else {
            throw FileFault(reason: "has a line that is not one JSON object")
        }
        return object
    }
}
