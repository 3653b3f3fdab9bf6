import CCSV
import Glibc

/// Takes CSV text (RFC 4180) apart with libcsv, a piece at a time.
///
/// Spaces are part of a field, as the RFC says. Empty lines are no rows.
final class CSVReader {
    /// Why the text is not CSV.
    enum Fault: Error, Equatable {
        /// A quote inside an unquoted field, or text after a closing quote.
        case strayQuote
        case unterminatedQuote
        case rowTooLong
        case outOfMemory
    }

    /// Longer rows come from a quote that nobody closed; they would fill the memory.
    static let maximumRowBytes = 16 << 20

    private let parser: UnsafeMutablePointer<csv_parser>
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var onRow: ((CSVReader) -> Void)?

    /// - Parameters:
    ///   - quote: Zero for none.
    ///   - isLenient: Whether a quote inside an unquoted field is taken as it is.
    init(delimiter: UInt8, quote: UInt8, isLenient: Bool = false) throws(Fault) {
        parser = .allocate(capacity: 1)
        guard csv_init(parser, UInt8(isLenient ? CSV_STRICT_FINI : CSV_STRICT | CSV_STRICT_FINI)) == 0 else {
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

    /// How many fields the present row has.
    var fieldCount: Int { ends.count }

    /// Whether all of the present row is ASCII.
    var isASCII: Bool { bytes.withUnsafeBufferPointer { $0.reduce(0, |) < 0x80 } }

    /// Whether the present row has a byte that no text has.
    var hasNUL: Bool {
        bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false }
    }

    /// Hands a field of the present row to `body`.
    func withField<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let start = index == 0 ? 0 : ends[index - 1]
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]])) }
    }

    /// A field of the present row, with what is not UTF-8 replaced.
    func field(_ index: Int) -> String { withField(index) { String(decoding: $0, as: UTF8.self) } }

    /// Parses a piece, and calls `onRow` at the end of each row; the row is valid during the call.
    func feed(_ piece: UnsafeRawBufferPointer, onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        self.onRow = onRow
        defer { self.onRow = nil }
        let parsed = csv_parse(
            parser, piece.baseAddress, piece.count, Self.endField, Self.endRow,
            Unmanaged.passUnretained(self).toOpaque())
        guard parsed == piece.count else { throw csv_error(parser) == CSV_EPARSE ? .strayQuote : .outOfMemory }
        guard bytes.count + parser.pointee.entry_pos <= Self.maximumRowBytes else { throw .rowTooLong }
    }

    /// Ends the text: its last row needs no line break.
    func finish(onRow: @escaping (CSVReader) -> Void) throws(Fault) {
        self.onRow = onRow
        defer { self.onRow = nil }
        guard csv_fini(parser, Self.endField, Self.endRow, Unmanaged.passUnretained(self).toOpaque()) == 0 else {
            throw .unterminatedQuote
        }
    }

    // libcsv calls back during csv_parse and csv_fini only, while `self` is alive.
    private static let endField: @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Void = {
        field, count, owner in
        guard let owner else { return }
        let reader = Unmanaged<CSVReader>.fromOpaque(owner).takeUnretainedValue()
        reader.bytes.append(contentsOf: UnsafeRawBufferPointer(start: field, count: count))
        reader.ends.append(reader.bytes.count)
    }

    private static let endRow: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void = { _, owner in
        guard let owner else { return }
        let reader = Unmanaged<CSVReader>.fromOpaque(owner).takeUnretainedValue()
        reader.onRow?(reader)
        reader.bytes.removeAll(keepingCapacity: true)
        reader.ends.removeAll(keepingCapacity: true)
    }
}
