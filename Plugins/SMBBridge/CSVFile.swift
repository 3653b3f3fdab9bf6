import BridgeKit
import RecordBatch

/// One CSV file on its way to records: reads a chunk, parses a slice of it, writes rows.
///
/// A file of up to 4 MB is read at once; a larger one in chunks of that size, each of which opens the file anew and
/// checks that it is still the same.
final class CSVFile {
    static let chunkBytes = 4_000_000
    /// What is parsed between two looks at a batch's size.
    static let sliceBytes = 1 << 14

    let match: FolderWalk.Match
    /// The last row that was read, from 1; the header does not count.
    private(set) var row = 0
    /// The file's state; nil before the first chunk.
    private(set) var version: FileVersion?

    private let listing: FileListing
    private let section: CSVSection
    private let path: String
    private let reader: CSVReader
    private let decoder: TextDecoder
    private let skippedVersion: FileVersion?
    private var skippedRows: Int
    private var columns: [[UInt8]] = []
    private var offset: Int64 = 0
    private var chunk: [UInt8] = []
    private var position = 0
    private var fault: BridgeError?

    /// - Parameters:
    ///   - skippedRows: Rows that an earlier fetch gave.
    ///   - skippedVersion: The state of the file that gave them; another state starts from its first row.
    init(
        _ match: FolderWalk.Match, listing: FileListing, section: CSVSection, skippingRows skippedRows: Int,
        ifStill skippedVersion: FileVersion?
    ) throws {
        self.match = match
        self.listing = listing
        self.section = section
        self.skippedRows = skippedRows
        self.skippedVersion = skippedVersion
        path = match.path.joined(separator: "/")
        decoder = try TextDecoder(encoding: section.encoding)
        do {
            reader = try CSVReader(delimiter: section.delimiter, quote: section.quote)
        } catch {
            throw BridgeError(.internal, "libcsv has no memory")
        }
        if case .names(let names) = section.header { columns = names.map { Array($0.utf8) } }
    }

    /// Parses a slice and writes its rows; false at the file's end.
    func advance(into writer: RecordBatchWriter) throws -> Bool {
        if position == chunk.count {
            guard try readChunk() else {
                try parse { try self.reader.finish(onRow: { self.take($0, writer) }) }
                if columns.isEmpty { listing.warn("the file \(path) is empty: it has no header row") }
                return false
            }
        }
        let end = min(position + Self.sliceBytes, chunk.count)
        let start = position
        position = end
        try parse {
            try self.chunk.withUnsafeBytes {
                try self.reader.feed(UnsafeRawBufferPointer(rebasing: $0[start..<end])) { self.take($0, writer) }
            }
        }
        return true
    }

    /// False when the whole file was read.
    private func readChunk() throws -> Bool {
        if let version, offset >= version.size {
            do { try decoder.finish() } catch { throw encodingError(error) }
            return false
        }
        let bytes: [UInt8]
        do {
            let read = try listing.connection.read(
                listing.url.folder + match.path, offset: offset, limit: Self.chunkBytes, expecting: version)
            if version == nil, let skippedVersion, !read.version.agrees(with: skippedVersion) { skippedRows = 0 }
            version = read.version
            bytes = read.bytes
        } catch {
            throw listing.connection.explain(error)
        }
        offset += Int64(bytes.count)
        do { chunk = try decoder.decode(bytes) } catch { throw encodingError(error) }
        position = 0
        return true
    }

    private func parse(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let why as CSVReader.Fault {
            if let fault { throw fault }
            throw error(for: why)
        }
        if let fault { throw fault }
    }

    /// Takes a row that the reader holds.
    private func take(_ reader: CSVReader, _ writer: RecordBatchWriter) {
        guard fault == nil else { return }
        guard !columns.isEmpty else {
            takeHeader(reader)
            return
        }
        row += 1
        guard row > skippedRows else { return }
        if let reason = fault(of: reader) {
            let text = (0..<reader.fieldCount).map { quoted(reader.field($0)) }
            listing.reject(
                reason, representation: text.joined(separator: String(Unicode.Scalar(section.delimiter))))
            return
        }
        writer.object {
            writer.key("@path")
            writer.text(path)
            writer.key("@row")
            writer.int64(Int64(row))
            for (name, value) in zip(listing.options.pattern.captureNames, match.captures) {
                writer.key(name)
                writer.text(value)
            }
            for (index, column) in columns.enumerated() {
                column.withUnsafeBytes { writer.key(utf8: $0) }
                reader.withField(index) {
                    if $0.isEmpty, section.emptyIsNull { writer.null() } else { writer.text(utf8: $0) }
                }
            }
        }
    }

    private func takeHeader(_ reader: CSVReader) {
        let names = (0..<reader.fieldCount).map { reader.field($0) }
        if decoder.isPassThrough, !isUTF8(reader) {
            fault = BridgeError(
                .malformed, "the header of \(path) is not UTF-8", remedy: "set encoding", location: location)
        } else if let why = CSVSection.fault(inHeader: names, captures: listing.options.pattern.captureNames) {
            fault = BridgeError(
                .malformed, "the header of \(path): \(why)",
                remedy: "correct the file; of a file without header give the names as header: [NAME, ...]",
                location: location)
        } else {
            columns = names.map { Array($0.utf8) }
        }
    }

    /// Why the row cannot become a record.
    private func fault(of reader: CSVReader) -> String? {
        if reader.fieldCount != columns.count {
            return "row \(row) of \(path) has \(reader.fieldCount) fields, the header names \(columns.count)"
        }
        if decoder.isPassThrough, !isUTF8(reader) { return "row \(row) of \(path) is not UTF-8: set encoding" }
        return nil
    }

    private func isUTF8(_ reader: CSVReader) -> Bool {
        reader.isASCII
            || (0..<reader.fieldCount).allSatisfy { field in
                reader.withField(field) { String(validating: $0, as: UTF8.self) != nil }
            }
    }

    private func quoted(_ field: String) -> String {
        let quote = Character(Unicode.Scalar(section.quote))
        let special: [Character] = [quote, Character(Unicode.Scalar(section.delimiter)), "\n", "\r", "\r\n"]
        guard field.contains(where: special.contains) else { return field }
        return "\(quote)" + field.map { $0 == quote ? "\(quote)\(quote)" : String($0) }.joined() + "\(quote)"
    }

    private var location: String { listing.url.location(match.path) }

    /// The row that was not finished, in words.
    private var nextRow: String { columns.isEmpty ? "the header" : "row \(row + 1)" }

    private func error(for fault: CSVReader.Fault) -> BridgeError {
        switch fault {
        case .strayQuote:
            BridgeError(
                .malformed,
                "\(nextRow) of \(path) has a quote inside a field that is not quoted, or text after a "
                    + "closing quote",
                remedy: "double a quote inside quotes (RFC 4180), or set quote and delimiter", location: location)
        case .unterminatedQuote:
            BridgeError(
                .malformed, "\(path) ends inside quotes that \(nextRow) opened",
                remedy: "close the quote, or fetch again when the file is whole", location: location)
        case .rowTooLong:
            BridgeError(
                .limit, "\(nextRow) of \(path) is longer than \(CSVReader.maximumRowBytes >> 20) MiB",
                remedy: "look for a quote that is not closed", location: location)
        case .outOfMemory: BridgeError(.internal, "libcsv has no memory", location: location)
        }
    }

    private func encodingError(_ fault: TextDecoder.Fault) -> BridgeError {
        BridgeError(
            .malformed, "\(path) is not \(section.encoding) at byte \(fault.offset)",
            remedy: "set encoding to the one that the file has", location: location)
    }
}
