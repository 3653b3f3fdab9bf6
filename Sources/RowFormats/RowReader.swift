package import RecordBatch

/// The conversion of one file to records: unpacks it, decodes it, and parses one slice at a time.
package final class RowReader {
    /// The number of bytes parsed between two checks of the batch's size.
    static let sliceBytes = 1 << 14
    /// How long a bridge reads rows in one call, which the host ends after some minutes.
    ///
    /// The rows that an earlier fetch returned are read again without an end in sight.
    package static let callTime: Duration = .seconds(10)

    private let file: any ByteFile
    private let format: RowFormat
    private let encoding: String?
    private let undeclared: String?
    private let limits: RowLimits
    private let sink: RowSink
    private let reads: (String) -> Bool
    private var state = State.closed
    private var chunk: [UInt8] = []
    private var position = 0
    private var budget: UnpackingBudget?

    /// The current text: the file, or a member of an archive.
    private final class Text {
        let bytes: any ByteStream
        let decoder: TextDecoder?
        let parser: any RowParser
        var hasBegun = false
        var isOver = false

        init(bytes: any ByteStream, decoder: TextDecoder?, parser: any RowParser) {
            self.bytes = bytes
            self.decoder = decoder
            self.parser = parser
        }
    }

    private enum State {
        case closed
        case plain(Text)
        case archive(ZipArchive, rest: ArraySlice<ZipArchive.Member>, Text?)
        case done
    }

    /// - Parameters:
    ///   - encoding: The encoding; nil if the format, or a byte order mark, determines it.
    ///   - undeclared: The encoding of an XML document that does not declare one; nil for UTF-8.
    ///   - reads: Whether to read the member of a zip archive with this path.
    package init(
        _ file: any ByteFile, as format: RowFormat, encoding: String? = nil, undeclared: String? = nil,
        limits: RowLimits = RowLimits(), into sink: RowSink, members reads: @escaping (String) -> Bool = { _ in true }
    ) {
        self.file = file
        self.format = format
        self.encoding = encoding
        self.undeclared = undeclared
        self.limits = limits
        self.sink = sink
        self.reads = reads
    }

    /// Parses a slice and writes its rows; returns false at the file's end.
    ///
    /// - Throws: ``FileFault``, ``BridgeError``, and what the file throws.
    package func advance(into writer: RecordBatchWriter) throws -> Bool {
        sink.use(writer)
        writer.limit(bytes: limits.batch)
        switch state {
        case .closed: state = try open()
        case .plain(let text):
            if try !advance(text) { state = .done }
        case .archive(let archive, let rest, let text?):
            if try !advance(text) { state = .archive(archive, rest: rest, nil) }
        case .archive(let archive, let rest, nil):
            guard let member = rest.first else {
                state = .done
                break
            }
            sink.begin(member: member.name)
            let stream = try archive.open(member)
            let text = try text(of: budget.map { UnpackedStream(stream, $0) } ?? stream)
            state = .archive(archive, rest: rest.dropFirst(), text)
        case .done: break
        }
        if case .done = state { return false }
        return true
    }

    private func open() throws -> State {
        let packing = Packing(try file.peek())
        let budget = UnpackingBudget(most: limits.unpacked(from: file.size))
        self.budget = budget
        switch packing {
        case .none: return .plain(try text(of: file))
        case .gzip: return .plain(try text(of: UnpackedStream(try GzipStream(file), budget)))
        case .zip:
            let archive = try ZipArchive(file)
            let members = try archive.members().filter { reads($0.name) }
            if members.isEmpty { sink.report.warn("the archive \(sink.name) has no member that matches") }
            return .archive(archive, rest: members[...], nil)
        }
    }

    private func text(of bytes: any ByteStream) throws -> Text {
        chunk = []
        position = 0
        switch format {
        case .csv(let dialect):
            let decoder = try TextDecoder(encoding: encoding)
            return Text(
                bytes: bytes, decoder: decoder,
                parser: CSVParser(dialect, limits: limits) { [decoder] in
                    !decoder.isPassThrough
                })
        case .ndjson:
            return Text(
                bytes: bytes, decoder: try TextDecoder(encoding: encoding),
                parser: try NDJSONParser(limits: limits))
        case .json(let path):
            return Text(
                bytes: bytes, decoder: try TextDecoder(encoding: encoding),
                parser: try JSONListParser(path, limits: limits))
        case .xml(let names):
            // libxml2 reads the encoding declaration itself.
            return Text(
                bytes: bytes, decoder: nil,
                parser: try XMLRowParser(names, subject: "it", limits: limits, undeclared: undeclared))
        }
    }

    /// Rejects UTF-16 without a byte order mark, which would be parsed as rows of NUL bytes.
    private func checkMark(_ piece: [UInt8]) throws {
        guard let encoding = TextDecoder.encoding(withoutMarkOf: piece) else { return }
        throw FileFault(
            reason: "looks like UTF-16 without a byte order mark", remedy: "set encoding: \(encoding)")
    }

    private func advance(_ text: Text) throws -> Bool {
        if text.isOver { return try !text.parser.finish(into: sink) }
        if position == chunk.count {
            do {
                guard let piece = try text.bytes.read() else {
                    try text.decoder?.finish()
                    text.isOver = true
                    return true
                }
                if !text.hasBegun, text.decoder != nil, encoding == nil { try checkMark(piece) }
                text.hasBegun = true
                chunk = try text.decoder?.decode(piece) ?? piece
                position = 0
            } catch let fault as TextDecoder.Fault {
                throw FileFault(
                    reason: "is not \(encoding ?? "of the encoding of its byte order mark") at byte "
                        + "\(fault.offset)",
                    remedy: "set encoding to the one that the file has")
            }
        }
        let end = min(position + Self.sliceBytes, chunk.count)
        let start = position
        position = end
        if start < end { try text.parser.parse(chunk[start..<end], into: sink) }
        return true
    }
}
