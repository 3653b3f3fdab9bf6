import BridgeKit
import RowFormats

/// The bytes of a file on a share, with checks that it does not change while it is read.
///
/// A file of up to 4 MB is read at once. A larger one is read in chunks of that size; each chunk opens the file anew
/// and checks that it is unchanged, because an open file keeps others from renaming or deleting it.
///
/// A log grows while it is read. It is read up to the size that it had when it was opened, and to the end of that line;
/// ``verify()`` then compares all of it with what was read, as another change could look like growth.
final class ShareFile: ByteFile {
    /// How a file may change while it is read.
    enum Growth {
        case refused
        /// It may become longer.
        case accepted
        /// It may become longer, and consists of lines.
        case ofLines
    }

    let share: any Share
    /// Components below the share.
    let path: [String]
    /// The file's state; nil before the first chunk.
    private(set) var version: FileVersion?
    /// The file's state at the first chunk; nil before it.
    private(set) var firstVersion: FileVersion?
    var size: Int64 { end ?? version?.size ?? 0 }
    /// Whether the file became longer while it was read.
    private(set) var hasGrown = false
    private var growth: Growth
    private var end: Int64?
    private var offset: Int64 = 0
    private var ahead: [UInt8]?
    /// The chunks of a file that needs several.
    private var chunks: [(length: Int, hash: Int)] = []
    private var endsLine = false
    private var verified: (chunks: Int, bytes: Int64) = (0, 0)

    init(share: any Share, path: [String], version: FileVersion? = nil, growth: Growth = .refused) {
        self.share = share
        self.path = path
        self.version = version
        self.growth = growth
    }

    /// - Throws: ``SMBFailure``.
    func read() throws -> [UInt8]? {
        if let ahead {
            self.ahead = nil
            return ahead
        }
        if version != nil, offset >= size, try !extends() { return nil }
        let isFirst = offset == 0
        // Only of a file that may grow is something behind its end.
        let isOpen = version == nil || growth == .refused
        let limit = isOpen ? SMBEntry.chunkBytes : Int(min(Int64(SMBEntry.chunkBytes), size - offset))
        let bytes = try chunk(at: offset, limit: limit)
        if isFirst, growth == .ofLines, !Self.hasLines(bytes) { growth = .accepted }
        offset += Int64(bytes.count)
        if growth != .refused, size > SMBEntry.chunkBytes { chunks.append((bytes.count, Self.hash(bytes))) }
        endsLine = bytes.last == UInt8(ascii: "\n")
        return bytes.isEmpty ? nil : bytes
    }

    /// Compares the next chunk of a file that has grown with what was read; returns false if none is left.
    ///
    /// - Throws: ``SMBFailure``, with ``SMBFailure/Cause/changed`` if it differs.
    func verify() throws -> Bool {
        guard hasGrown, verified.chunks < chunks.count else { return false }
        let (length, hash) = chunks[verified.chunks]
        guard try Self.hash(chunk(at: verified.bytes, limit: length)) == hash else {
            throw SMBFailure(cause: .changed, action: .readFile, path: path)
        }
        verified = (verified.chunks + 1, verified.bytes + Int64(length))
        return true
    }

    /// Reads up to `limit` bytes at any offset; fewer at the end.
    func read(at offset: Int64, limit: Int) throws -> [UInt8] {
        let read = try share.read(path, offset: offset, limit: limit, expecting: version)
        version = read.version
        firstVersion = firstVersion ?? version
        return read.bytes
    }

    /// Returns the first chunk, which ``read()`` returns again.
    func peek() throws -> [UInt8] {
        if let ahead { return ahead }
        let bytes = try read() ?? []
        if !bytes.isEmpty { ahead = bytes }
        return bytes
    }

    private func chunk(at offset: Int64, limit: Int) throws -> [UInt8] {
        guard growth != .refused, let version else {
            let bytes = try read(at: offset, limit: limit)
            end = end ?? version?.size
            return bytes
        }
        let read = try share.read(path, offset: offset, limit: limit, expecting: version, growing: true)
        if !read.version.agrees(with: version) { hasGrown = true }
        self.version = read.version
        return read.bytes
    }

    /// Moves the end of a file that has grown to the end of its last line, which was perhaps not complete.
    private func extends() throws -> Bool {
        guard growth == .ofLines, hasGrown, !endsLine, let version, version.size > size else { return false }
        growth = .accepted
        let rest = try chunk(at: size, limit: Int(min(Self.longestRest, version.size - size)))
        guard let lineFeed = rest.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        end = size + Int64(lineFeed) + 1
        return true
    }

    private static let longestRest: Int64 = 1 << 16

    /// Whether a line feed is a byte of its own in a file that begins so.
    private static func hasLines(_ start: [UInt8]) -> Bool {
        Packing(start) == .none && !start.prefix(4).contains { $0 == 0 || $0 >= 0xFE }
    }

    private static func hash(_ bytes: [UInt8]) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
