package import BridgeKit
import RecordBatch

/// The text of a file of rows, which can be changed one row at a time; all other rows keep their exact bytes.
package struct RowText {
    /// The range of each row, with its line break.
    package private(set) var rows: [Range<Int>] = []
    package private(set) var bytes: [UInt8]
    /// The names of CSV columns; empty if the file has no header yet.
    package private(set) var columns: [String] = []
    /// Whether the file has fewer rows than are left out above the header, or above the first row.
    package private(set) var lacksSkippedRows = false
    private var format: RowFormat
    private var lineBreak: [UInt8] = [0x0A]

    /// - Throws: ``FileFault`` for a text that does not follow the format.
    package init(_ bytes: [UInt8], format: RowFormat) throws {
        self.bytes = bytes
        self.format = format
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        var quote: UInt8?
        var comment: UInt8?
        var start = hasMark ? 3 : 0
        if case .csv(var dialect) = format {
            quote = dialect.quote == 0 ? nil : dialect.quote
            comment = dialect.comment
            if let delimiter = CSVDialect.delimiter(statedIn: bytes[start...]) {
                dialect.delimiter = delimiter
                self.format = .csv(dialect)
                start += 5
            }
        }
        var (isQuoted, isComment) = (false, false)
        for (index, byte) in bytes.enumerated() where index >= start {
            // A quote means nothing in a comment.
            if index == start { isComment = byte == comment }
            if byte == quote, !isComment { isQuoted.toggle() }
            guard !isQuoted, Self.endsRow(index, in: bytes, format) else { continue }
            if rows.isEmpty {
                let isPair = byte == 0x0A && index > 0 && bytes[index - 1] == 0x0D
                lineBreak = isPair ? [0x0D, 0x0A] : [byte]
            }
            rows.append(start..<index + 1)
            start = index + 1
        }
        if isQuoted { throw FileFault(reason: "ends inside quotes") }
        if start < bytes.count { rows.append(start..<bytes.count) }
        // The reader of CSV takes a line of spaces for a row.
        let isCSV = if case .csv = format { true } else { false }
        rows.removeAll { range in
            bytes[range].allSatisfy { isCSV ? $0 == 0x0A || $0 == 0x0D : JSONScan.isSpace($0) }
        }
        try takeHeader()
    }

    /// Whether a row ends with the byte at this index: a line feed, or in CSV a carriage return without one.
    private static func endsRow(_ index: Int, in bytes: [UInt8], _ format: RowFormat) -> Bool {
        if bytes[index] == 0x0A { return true }
        guard bytes[index] == 0x0D, case .csv = format else { return false }
        return index + 1 == bytes.count || bytes[index + 1] != 0x0A
    }

    private mutating func takeHeader() throws {
        guard case .csv(let dialect) = format else { return }
        lacksSkippedRows = rows.count < dialect.skippedRows
        rows.removeFirst(min(dialect.skippedRows, rows.count))
        if let comment = dialect.comment {
            rows.removeAll { [bytes] in bytes[$0].first == comment }
        }
        switch dialect.header {
        case .names(let names): columns = names
        case .firstRow:
            guard let first = rows.first else {
                lacksSkippedRows = dialect.skippedRows > 0
                return
            }
            columns = try fields(of: first, dialect)
            rows.removeFirst()
        }
    }

    /// Returns the values of a row's members as text; nil for a missing one.
    ///
    /// - Parameter paths: The names of the members from the outside in. A path of CSV is the name of a column.
    package func values(of row: Range<Int>, at paths: [[String]]) throws -> [String?] {
        switch format {
        case .csv(let dialect):
            let places = paths.map { columns.firstIndex(of: Self.column($0)) }
            if let values = unquotedValues(of: row, at: places, dialect) { return values }
            let fields = try fields(of: row, dialect)
            return places.map { place in place.flatMap { $0 < fields.count ? fields[$0] : nil } }
        default:
            let record = try object(of: row)
            return paths.map { path in
                var owner: BridgeOptions? = record
                for name in path.dropLast() { owner = owner?.object(name) }
                return path.last.flatMap { owner?.string($0) }
            }
        }
    }

    /// Returns the column that a path in a record leads to.
    package static func column(_ path: [String]) -> String { path.joined(separator: ".") }

    /// Replaces a row with new text.
    package mutating func replace(_ row: Range<Int>, with text: [UInt8]) {
        let end = Array(bytes[row].reversed().prefix { $0 == 0x0A || $0 == 0x0D }.reversed())
        bytes.replaceSubrange(row, with: text + end)
    }

    /// Removes a row with its line break.
    package mutating func remove(_ row: Range<Int>) { bytes.removeSubrange(row) }

    /// Returns the bytes to append to the file for one more row.
    package func appending(_ text: [UInt8]) -> [UInt8] {
        let isEnded = bytes.indices.last.map { Self.endsRow($0, in: bytes, format) } ?? true
        let needsBreak = !isEnded && !(bytes.count == 3 && bytes[0] == 0xEF)
        return (needsBreak ? lineBreak : []) + text + lineBreak
    }

    /// Returns a row's text, with the values of `changes` in place of its own.
    ///
    /// - Parameter wholes: The paths of values that replace objects of JSON as a whole; others change only the members that
    ///   they have.
    package func text(
        of row: Range<Int>?, with changes: BridgeOptions, replacing wholes: [[String]] = []
    ) throws -> [UInt8] {
        let names = changes.names.filter { !$0.hasPrefix("@") }
        switch format {
        case .csv(let dialect):
            for name in names where !columns.contains(name) {
                throw BridgeError(
                    .configuration, "the file has no column \(name)",
                    remedy: "it has \(columns.joined(separator: ", "))")
            }
            let old = try row.map { try fields(of: $0, dialect) } ?? []
            let texts = try columns.enumerated().map { index, column in
                let isWritten = row == nil || names.contains(column)
                return isWritten
                    ? try field(of: column, in: changes, dialect) : index < old.count ? old[index] : dialect.nullText
            }
            let written = CSVText.row(texts, dialect)
            try check(written, has: texts, dialect)
            return Array(written.utf8)
        default:
            let old = try row.map { try object(of: $0) } ?? .empty
            let writer = RecordBatchWriter()
            writer.object {
                for name in old.names + names.filter({ !old.names.contains($0) }) {
                    writer.key(name)
                    let merge = JSONMerge(wholes: wholes.filter { $0.first == name }.map { Array($0.dropFirst()) })
                    old.withValue(name) { before in
                        (names.contains(name) ? changes : old).withValue(name) { value in
                            if let value { merge.write(value, over: before, to: writer) } else { writer.null() }
                        }
                    }
                }
            }
            return Array(try writer.finish().json(0).utf8)
        }
    }

    /// Returns the text of a value, which must be read back as the same value.
    private func field(of column: String, in changes: BridgeOptions, _ dialect: CSVDialect) throws -> String {
        guard let text = changes.string(column) else {
            guard !changes.has(column) else {
                throw BridgeError(
                    .configuration, "the value of \(column) is not one text, which a field of CSV has to be")
            }
            return dialect.nullText
        }
        let special = [dialect.delimiter, 0x0A, 0x0D]
        guard dialect.quote != 0 || !text.utf8.contains(where: special.contains) else {
            throw BridgeError(
                .configuration,
                "the value of \(column) contains a delimiter or a line break, and no quote character is set")
        }
        guard !dialect.isNull(text) else {
            throw BridgeError(
                .configuration, "the value \"\(text.prefix(80))\" of \(column) would be read back as null",
                remedy: "choose another value, or change \(text.isEmpty ? "empty_as_null" : "null_values") in the "
                    + "section")
        }
        guard !text.utf8.contains(0) else {
            throw BridgeError(.configuration, "the value of \(column) has a NUL byte, which text cannot have")
        }
        return text
    }

    /// Checks that a row is read back with these fields: that it is not a comment, for example.
    private func check(_ row: String, has texts: [String], _ dialect: CSVDialect) throws {
        if let comment = dialect.comment, row.utf8.first == comment {
            throw BridgeError(
                .configuration,
                "the row would be read back as a comment: its first field, \(columns[0]), begins with "
                    + "\(Unicode.Scalar(comment))",
                remedy: "choose another value of \(columns[0]), or change comment in the section")
        }
        var read: [[String]] = []
        func take(_ reader: CSVReader) { read.append((0..<reader.fieldCount).map { reader.field($0) }) }
        do {
            let reader = try CSVReader(
                delimiter: dialect.delimiter, quote: dialect.quote, isLenient: dialect.isLenient)
            try Array(row.utf8).withUnsafeBytes { try reader.feed($0, onRow: take) }
            try reader.finish(onRow: take)
        } catch {
            read = []
        }
        guard read == [texts] else {
            throw BridgeError(
                .configuration, "the row would not be read back as it is written",
                remedy: "choose other values, or check delimiter, quote and header in the section")
        }
    }

    /// Returns fields of a row by their places, without a parser for the row; nil if the row has quotes.
    private func unquotedValues(of row: Range<Int>, at places: [Int?], _ dialect: CSVDialect) -> [String?]? {
        let row = bytes[row]
        if dialect.quote != 0, row.contains(dialect.quote) { return nil }
        return places.map { place -> String? in
            guard let place else { return nil }
            var start = row.startIndex
            for _ in 0..<place {
                guard let end = row[start...].firstIndex(of: dialect.delimiter) else { return nil }
                start = end + 1
            }
            let field = row[start...].prefix { $0 != dialect.delimiter && $0 != 0x0A && $0 != 0x0D }
            return String(decoding: field, as: UTF8.self)
        }
    }

    private func fields(of row: Range<Int>, _ dialect: CSVDialect) throws -> [String] {
        var rows: [[String]] = []
        do {
            let reader = try CSVReader(delimiter: dialect.delimiter, quote: dialect.quote)
            func take(_ reader: CSVReader) { rows.append((0..<reader.fieldCount).map { reader.field($0) }) }
            try bytes[row].withUnsafeBytes { try reader.feed($0, onRow: take) }
            try reader.finish(onRow: take)
        } catch {
            throw FileFault(reason: "has a row that is not CSV")
        }
        guard rows.count <= 1 else { throw FileFault(reason: "has rows whose ends bmo does not find") }
        return rows.first ?? []
    }

    private func object(of row: Range<Int>) throws -> BridgeOptions {
        guard let object = try JSONObject.parse(Array(bytes[row])) else {
            throw FileFault(reason: "has a line that is not one JSON object")
        }
        return object
    }
}
