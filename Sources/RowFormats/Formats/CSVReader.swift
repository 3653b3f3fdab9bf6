import CCSV

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Parses CSV text (RFC 4180) incrementally with libcsv.
///
/// Spaces are part of a field, as in the RFC. Empty lines are skipped.
package final class CSVReader {
    /// The reason why the text is not CSV.
    package enum Fault: Error, Equatable {
        /// A quote inside an unquoted field, or text after a closing quote.
        case strayQuote
        case unterminatedQuote
        case rowTooLong
        case tooManyFields
        case outOfMemory
    }

    private let parser: UnsafeMutablePointer<csv_parser>
    /// What libcsv's callbacks write, in memory of its own: an access to a class's variable calls the runtime's
    /// exclusivity check.
    private let row: UnsafeMutablePointer<Row>

    /// The current row.
    private struct Row {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        var hasTooManyFields = false
        var onEnd: (() -> Void)?
        /// A row beyond these limits usually has an unclosed quote, and would fill the memory.
        let limits: RowLimits
    }

    /// - Parameters:
    ///   - quote: The quote character; zero for none.
    ///   - isLenient: Whether a quote inside an unquoted field is kept literally.
    package init(
        delimiter: UInt8, quote: UInt8, isLenient: Bool = false, limits: RowLimits = RowLimits()
    ) throws(Fault) {
        let parser = UnsafeMutablePointer<csv_parser>.allocate(capacity: 1)
        guard csv_init(parser, UInt8(isLenient ? CSV_STRICT_FINI : CSV_STRICT | CSV_STRICT_FINI)) == 0
        else {
            parser.deallocate()
            throw .outOfMemory
        }
        self.parser = parser
        row = .allocate(capacity: 1)
        row.initialize(to: Row(limits: limits))
        csv_set_delim(parser, delimiter)
        csv_set_quote(parser, quote)
        csv_set_space_func(parser) { _ in 0 }
    }

    deinit {
        csv_free(parser)
        parser.deallocate()
        row.deinitialize(count: 1)
        row.deallocate()
    }

    /// Whether the next byte begins a row, or ends an empty line.
    ///
    /// Zero is libcsv's ROW_NOT_BEGUN, which its header does not have.
    package var isBetweenRows: Bool { parser.pointee.pstate == 0 }

    /// The number of fields in the current row.
    package var fieldCount: Int { row.pointee.ends.count }

    /// Whether the current row is all ASCII.
    package var isASCII: Bool { row.pointee.bytes.withUnsafeBufferPointer { $0.reduce(0, |) < 0x80 } }

    /// Whether the current row contains a NUL byte, which text cannot contain.
    package var hasNUL: Bool {
        row.pointee.bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
    }

    /// Calls `body` with a field of the current row.
    package func withField<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        let start = index == 0 ? 0 : row.pointee.ends[index - 1]
        let end = row.pointee.ends[index]
        return try row.pointee.bytes.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[start..<end]))
        }
    }

    /// Returns a field of the current row; bytes that are not UTF-8 are replaced.
    package func field(_ index: Int) -> String { withField(index) { String(decoding: $0, as: UTF8.self) } }

    /// Parses a piece, and calls `onRow` at the end of each row, which is valid only during the call.
    package func feed(_ piece: UnsafeRawBufferPointer, onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        row.pointee.onEnd = { onRow(self) }
        defer { row.pointee.onEnd = nil }
        let parsed = csv_parse(parser, piece.baseAddress, piece.count, Self.endField, Self.endRow, row)
        guard parsed == piece.count else {
            throw csv_error(parser) == CSV_EPARSE ? .strayQuote : .outOfMemory
        }
        guard !row.pointee.hasTooManyFields else { throw .tooManyFields }
        guard row.pointee.bytes.count + parser.pointee.entry_pos <= row.pointee.limits.record else { throw .rowTooLong }
    }

    /// Ends the text; its last row needs no line break.
    package func finish(onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        row.pointee.onEnd = { onRow(self) }
        defer { row.pointee.onEnd = nil }
        guard csv_fini(parser, Self.endField, Self.endRow, row) == 0 else { throw .unterminatedQuote }
        guard !row.pointee.hasTooManyFields else { throw .tooManyFields }
    }

    // libcsv calls back only during csv_parse and csv_fini, while the reader is alive.
    private static let endField: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Void = {
        field, count, context in
        guard let row = context?.assumingMemoryBound(to: Row.self) else { return }
        guard row.pointee.ends.count < row.pointee.limits.fields else {
            row.pointee.hasTooManyFields = true
            return
        }
        row.pointee.bytes.append(contentsOf: UnsafeRawBufferPointer(start: field, count: count))
        row.pointee.ends.append(row.pointee.bytes.count)
    }

    private static let endRow: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = { _, context in
        guard let row = context?.assumingMemoryBound(to: Row.self) else { return }
        // A truncated row is not delivered.
        if !row.pointee.hasTooManyFields { row.pointee.onEnd?() }
        row.pointee.bytes.removeAll(keepingCapacity: true)
        row.pointee.ends.removeAll(keepingCapacity: true)
    }
}
