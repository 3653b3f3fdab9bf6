import BridgeKit
import RecordBatch

/// One file on its way to records: unpacks it, decodes it, and parses a slice at a time.
final class RowFile {
    /// What is parsed between two looks at a batch's size.
    static let sliceBytes = 1 << 14

    let match: FolderWalk.Match
    let sink: RowSink
    /// The state that is read; nil before the first chunk.
    var version: FileVersion? { file.version }

    private let section: RowSection
    private let file: ShareFile
    private let resumedVersion: FileVersion?
    private let skipped: Int
    private var state = State.closed
    private var chunk: [UInt8] = []
    private var position = 0

    /// The text that is being read.
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
    ///   - skipped: Rows that an earlier fetch gave.
    ///   - resumedVersion: The state of the file that gave them; another state starts from its first row.
    init(
        _ match: FolderWalk.Match, listing: FileListing, section: RowSection, writer: RecordBatchWriter,
        skipping skipped: Int, ifStill resumedVersion: FileVersion?
    ) throws {
        self.match = match
        self.section = section
        self.resumedVersion = resumedVersion
        file = ShareFile(share: listing.share, path: listing.share.url.folder + match.path)
        var skipped = skipped
        if let resumedVersion {
            _ = try file.peek()
            if file.version?.agrees(with: resumedVersion) == false { skipped = 0 }
        }
        self.skipped = skipped
        sink = RowSink(match, listing: listing, writer: writer, skipping: skipped)
    }

    /// Parses a slice and writes its rows; false at the file's end.
    ///
    /// - Throws: ``FileFault``, ``SMBFailure``, or ``BridgeError``.
    func advance(into writer: RecordBatchWriter) throws -> Bool {
        sink.use(writer)
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
            let text = try text(of: archive.open(member))
            state = .archive(archive, rest: rest.dropFirst(), text)
        case .done: break
        }
        if case .done = state { return false }
        return true
    }

    private func open() throws -> State {
        switch Packing(try file.peek()) {
        case .none: return .plain(try text(of: file))
        case .gzip: return .plain(try text(of: GzipStream(file)))
        case .zip:
            let archive = try ZipArchive(file)
            let members = try archive.members().filter { member in
                let path = member.name.split(separator: "/").map(String.init)
                return section.members.patterns.contains { $0.matches(path) }
            }
            if members.isEmpty { sink.listing.warn("the archive \(sink.pathText) has no member that matches") }
            return .archive(archive, rest: members[...], nil)
        }
    }

    private func text(of bytes: any ByteStream) throws -> Text {
        chunk = []
        position = 0
        switch section.format {
        case .csv(let dialect):
            let decoder = try TextDecoder(encoding: section.encoding)
            return Text(
                bytes: bytes, decoder: decoder, parser: CSVParser(dialect) { [decoder] in !decoder.isPassThrough })
        case .ndjson:
            return Text(bytes: bytes, decoder: try TextDecoder(encoding: section.encoding), parser: try NDJSONParser())
        case .json(let path):
            return Text(
                bytes: bytes, decoder: try TextDecoder(encoding: section.encoding), parser: try JSONParser(path))
        case .xml(let names):
            // libxml2 reads the declaration of the encoding itself.
            return Text(bytes: bytes, decoder: nil, parser: try XMLRowParser(names, subject: "it"))
        }
    }

    /// UTF-16 without a byte order mark would pass for rows of NUL bytes.
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
                if !text.hasBegun, text.decoder != nil, section.encoding == nil { try checkMark(piece) }
                text.hasBegun = true
                chunk = try text.decoder?.decode(piece) ?? piece
                position = 0
            } catch let fault as TextDecoder.Fault {
                throw FileFault(
                    reason: "is not \(section.encoding ?? "of the encoding of its byte order mark") at byte "
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
