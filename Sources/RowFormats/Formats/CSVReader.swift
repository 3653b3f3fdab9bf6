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

    /// A row beyond these limits usually has an unclosed quote, and would fill the memory.
    private let limits: RowLimits

    private let parser: UnsafeMutablePointer<csv_parser>
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var hasTooManyFields = false
    private var onRow: ((CSVReader) -> Void)?

    /// - Parameters:
    ///   - quote: The quote character; zero for none.
    ///   - isLenient: Whether a quote inside an unquoted field is kept literally.
    package init(
        delimiter: UInt8, quote: UInt8, isLenient: Bool = false, limits: RowLimits = RowLimits()
    ) throws(Fault) {
        self.limits = limits
        parser = .allocate(capacity: 1)
        guard csv_init(parser, UInt8(isLenient ? CSV_STRICT_FINI : CSV_STRICT | CSV_STRICT_FINI)) == 0
        else {
            parser.deallocate()
            throw .outOfMemory
        }
        csv_set_delim(parser, delimiter)
        csv_set_quote(parser, quote)
        csv_set_space_func(parser) { _ in 0 }
    }

    deinit {
        csv_free(parser)
        parser.deallocate()
    }

    /// The number of fields in the current row.
    package var fieldCount: Int { ends.count }

    /// Whether the current row is all ASCII.
    package var isASCII: Bool { bytes.withUnsafeBufferPointer { $0.reduce(0, |) < 0x80 } }

    /// Whether the current row contains a NUL byte, which text cannot contain.
    package var hasNUL: Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
    }

    /// Calls `body` with a field of the current row.
    package func withField<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        let start = index == 0 ? 0 : ends[index - 1]
        return try bytes.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]]))
        }
    }

    /// Returns a field of the current row; bytes that are not UTF-8 are replaced.
    package func field(_ index: Int) -> String { withField(index) { String(decoding: $0, as: UTF8.self) } }

    /// Parses a piece, and calls `onRow` at the end of each row, which is valid only during the call.
    package func feed(_ piece: UnsafeRawBufferPointer, onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        self.onRow = onRow
        defer { self.onRow = nil }
        let parsed = csv_parse(
            parser, piece.baseAddress, piece.count, Self.endField, Self.endRow,
            Unmanaged.passUnretained(self).toOpaque())
        guard parsed == piece.count else {
            throw csv_error(parser) == CSV_EPARSE ? .strayQuote : .outOfMemory
        }
        guard !hasTooManyFields else { throw .tooManyFields }
        guard bytes.count + parser.pointee.entry_pos <= limits.record else { throw .rowTooLong }
    }

    /// Ends the text; its last row needs no line break.
    package func finish(onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        self.onRow = onRow
        defer { self.onRow = nil }
        guard
            csv_fini(parser, Self.endField, Self.endRow, Unmanaged.passUnretained(self).toOpaque()) == 0
        else {
            throw .unterminatedQuote
        }
        guard !hasTooManyFields else { throw .tooManyFields }
    }

    // libcsv calls back only during csv_parse and csv_fini, while `self` is alive.
    private static let endField: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Void = {
        field, count, owner in
        guard let owner else { return }
        let reader = Unmanaged<CSVReader>.fromOpaque(owner).takeUnretainedValue()
        guard reader.ends.count < reader.limits.fields else {
            reader.hasTooManyFields = true
            return
        }
        reader.bytes.append(contentsOf: UnsafeRawBufferPointer(start: field, count: count))
        reader.ends.append(reader.bytes.count)
    }

    private static let endRow: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = {
        _, owner in
        guard let owner else { return }
        let reader = Unmanaged<CSVReader>.fromOpaque(owner).takeUnretainedValue()
        // A truncated row is not delivered.
        if !reader.hasTooManyFields { reader.onRow?(reader) }
        reader.bytes.removeAll(keepingCapacity: true)
        reader.ends.removeAll(keepingCapacity: true)
    }
}
