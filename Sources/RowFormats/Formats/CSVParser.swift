internal import TextFormats
import BridgeKit
import RecordBatch

/// Parses the rows of CSV text: RFC 4180, modified by a ``CSVDialect``.
final class CSVParser: RowParser {
    private var dialect: CSVDialect
    private var reader: CSVReader?
    /// Whether the text was converted from an encoding other than UTF-8, and is therefore well-formed.
    private let isWellFormed: () -> Bool
    private var columns: [[UInt8]] = []
    private var leadingRows: Int
    private var start: [UInt8] = []
    /// Whether the last piece ended in a comment.
    private var isInComment = false
    private var fault: FileFault?
    // Constants, because reading a class's variable calls the runtime's exclusivity check.
    private let nullValues: [[UInt8]]
    private let emptyIsNull: Bool
    private let comment: UInt8?
    private let limits: RowLimits

    /// - Parameter isWellFormed: Whether the text is known to be UTF-8.
    init(_ dialect: CSVDialect, limits: RowLimits, isWellFormed: @escaping () -> Bool) {
        self.dialect = dialect
        self.limits = limits
        self.isWellFormed = isWellFormed
        leadingRows = dialect.skippedRows
        nullValues = dialect.nullValues.map { Array($0.utf8) }
        emptyIsNull = dialect.emptyIsNull || dialect.nullValues.contains("")
        comment = dialect.comment
        if case .names(let names) = dialect.header { columns = names.map { Array($0.utf8) } }
    }

    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws {
        guard reader == nil else { return try feed(text, sink) }
        // The text may begin with Excel's `sep=` line: wait until that is certain.
        start += text
        guard start.count >= 6 || !"sep=".utf8.starts(with: start.prefix(4)) else { return }
        try begin(sink)
    }

    private func begin(_ sink: RowSink) throws {
        var text = start[...]
        start = []
        if let delimiter = CSVDialect.delimiter(statedIn: text) {
            dialect.delimiter = delimiter
            text = text.dropFirst(5)
        }
        do {
            reader = try CSVReader(
                delimiter: dialect.delimiter, quote: dialect.quote, isLenient: dialect.isLenient,
                limits: limits)
        } catch {
            throw BridgeError(.internal, "libcsv has no memory")
        }
        try feed(text, sink)
    }

    func finish(into sink: RowSink) throws -> Bool {
        if reader == nil { try begin(sink) }
        try check(sink) { reader in try reader.finish { self.take($0, sink) } }
        if columns.isEmpty {
            sink.report.warn("the file \(sink.subject) is empty: it has no header row")
        }
        return true
    }

    private func feed(_ text: ArraySlice<UInt8>, _ sink: RowSink) throws {
        try check(sink) { reader in
            try text.withUnsafeBytes { bytes in
                if let comment {
                    try self.feed(bytes, without: comment, to: reader, sink)
                } else {
                    try reader.feed(bytes) { self.take($0, sink) }
                }
            }
        }
    }

    /// Feeds the reader a piece without its comments: lines that begin with `comment` where no row has begun.
    ///
    /// A quote means nothing in them, and a quoted field that begins with the byte begins no comment.
    private func feed(
        _ bytes: UnsafeRawBufferPointer, without comment: UInt8, to reader: CSVReader, _ sink: RowSink
    ) throws {
        var start = 0
        while start < bytes.count {
            if !isInComment, bytes[start] == comment, reader.isBetweenRows {
                isInComment = true
                if leadingRows > 0 { leadingRows -= 1 }
            }
            if isInComment {
                while start < bytes.count, !Self.endsLine(bytes[start]) { start += 1 }
                if start == bytes.count { return }
                // The reader takes the line's end for an empty line.
                isInComment = false
            }
            var end = start + 1
            while end < bytes.count, bytes[end] != comment || !Self.endsLine(bytes[end - 1]) { end += 1 }
            try reader.feed(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) { self.take($0, sink) }
            start = end
        }
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private func check(_ sink: RowSink, _ body: (CSVReader) throws -> Void) throws {
        do {
            if let reader { try body(reader) }
        } catch let why as CSVReader.Fault {
            if let fault { throw fault }
            throw error(for: why, sink)
        }
        if let fault { throw fault }
    }

    /// Writes the reader's current row.
    private func take(_ reader: CSVReader, _ sink: RowSink) {
        guard fault == nil else { return }
        if leadingRows > 0 {
            leadingRows -= 1
            return
        }
        let columns = columns
        guard !columns.isEmpty else {
            takeHeader(reader, sink)
            return
        }
        guard sink.advance() else { return }
        if let reason = fault(of: reader, columns.count) {
            let fields = (0..<reader.fieldCount).map { reader.field($0) }
            sink.reject(reason, representation: CSVText.row(fields, dialect))
            return
        }
        let writer = sink.writer
        writer.object {
            sink.writeProvenance()
            let fieldCount = reader.fieldCount
            for (index, column) in columns.enumerated() {
                column.withUnsafeBytes { writer.key(utf8: $0) }
                guard index < fieldCount else {
                    writer.null()
                    continue
                }
                reader.withField(index) { isNull($0) ? writer.null() : writer.text(utf8: $0) }
            }
        }
    }

    private func isNull(_ field: UnsafeRawBufferPointer) -> Bool {
        field.isEmpty ? emptyIsNull : nullValues.contains { $0.elementsEqual(field) }
    }

    private func takeHeader(_ reader: CSVReader, _ sink: RowSink) {
        var names = (0..<reader.fieldCount).map { reader.field($0) }
        if dialect.padsRows { while names.last == "" { names.removeLast() } }
        if reader.hasNUL {
            fault = FileFault(reason: "has a NUL byte in its header: it is not text")
        } else if !isUTF8(reader) {
            fault = FileFault(reason: "has a header that is not UTF-8", remedy: "set encoding")
        } else if let why = CSVDialect.fault(
            inHeader: names, captures: sink.captureNames)
        {
            fault = FileFault(
                reason: "has a header that cannot be used: \(why)",
                remedy:
                    "correct the file; or give the names as header: [NAME, ...], with skip_rows: 1 if the file has some"
            )
        } else if let why = sink.fault(inHeader: names) {
            fault = why
        } else {
            columns = names.map { Array($0.utf8) }
        }
    }

    /// Returns the reason why the row cannot become a record.
    private func fault(of reader: CSVReader, _ columnCount: Int) -> String? {
        let count = reader.fieldCount
        if count != columnCount {
            let isPadded =
                dialect.padsRows
                && (count < columnCount
                    || (columnCount..<count).allSatisfy { reader.withField($0, \.isEmpty) })
            if !isPadded { return "has \(count) fields, the header names \(columnCount)" }
        }
        if reader.hasNUL { return "has a NUL byte, which text cannot have" }
        return isUTF8(reader) ? nil : "is not UTF-8: set encoding"
    }

    private func isUTF8(_ reader: CSVReader) -> Bool {
        isWellFormed() || reader.isASCII
            || (0..<reader.fieldCount).allSatisfy { field in
                reader.withField(field) { String(validUTF8: $0) != nil }
            }
    }

    private func error(for fault: CSVReader.Fault, _ sink: RowSink) -> any Error {
        let row = columns.isEmpty ? "its header" : "row \(sink.row + 1)"
        switch fault {
        case .strayQuote:
            return FileFault(
                reason:
                    "has a quote inside a field of \(row) that is not quoted, or text after a closing quote",
                remedy:
                    "double a quote inside quotes (RFC 4180), set quote and delimiter, or lenient_quotes: true"
            )
        case .unterminatedQuote:
            return FileFault(
                reason: "ends inside quotes that \(row) opened",
                remedy: "close the quote, or fetch again when the file is complete")
        case .rowTooLong:
            return FileFault(
                reason: "has more than \(RowLimits.words(limits.record)) in \(row)",
                remedy: "look for a quote that is not closed, or raise max_record_bytes")
        case .tooManyFields:
            return FileFault(
                reason: "has more than \(limits.fields) fields in \(row)",
                remedy: "check the delimiter, or raise max_record_bytes")
        case .outOfMemory: return BridgeError(.internal, "libcsv has no memory")
        }
    }
}
