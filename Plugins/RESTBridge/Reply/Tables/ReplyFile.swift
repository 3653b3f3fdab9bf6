internal import BridgeHTTP
internal import BridgeKit
internal import RowFormats

/// The body of a reply as a file of rows, read once while it arrives.
///
/// Only a zip archive, whose directory is at its end, is first put into a temporary file as a whole.
final class ReplyFile: ByteFile {
    private let source: () throws -> [UInt8]?
    /// What has arrived so far; only counted if an earlier reply is compared, or a later one may be.
    private(set) var mark: ByteMark?
    /// The bytes of an earlier reply that have to arrive again; nil once they have.
    private(set) var expected: ByteMark?
    private var first: [UInt8]?
    private var hasBegun = false
    private var archive: SpillFile?
    /// Whether the archive has arrived.
    private var isWhole = false
    private(set) var size: Int64
    /// Whether the body is a gzip file or a zip archive; known once it was begun.
    private(set) var isPacked = false

    /// The number of bytes to read at a time.
    private static let pieceBytes = 256 << 10
    /// The number of bytes by which the body's form is recognised.
    private static let startBytes = 512

    /// The body begins with other bytes than an earlier reply.
    struct Changed: Error {}

    /// - Parameters:
    ///   - length: The length of the body in bytes, if the reply says it.
    ///   - isMarked: Whether to keep a mark of the bytes.
    ///   - expected: The bytes of an earlier reply with which the body has to begin.
    init(_ exchange: HTTPExchange, length: Int64?, isMarked: Bool = false, expecting expected: ByteMark? = nil) {
        var pieces = EvenPieces(of: exchange, size: Self.pieceBytes)
        source = { try pieces.next().map { Array($0) } }
        mark = isMarked || expected != nil ? ByteMark() : nil
        self.expected = expected
        size = length ?? 0
    }

    /// A body that was already read.
    init(_ body: HTTPExchange.PaddedBody) {
        var rest: [UInt8]? = Array(body.bytes.prefix(body.count))
        source = {
            defer { rest = nil }
            return rest.flatMap { $0.isEmpty ? nil : $0 }
        }
        size = Int64(body.count)
    }

    /// Returns the next chunk.
    ///
    /// - Throws: ``Changed`` once the bytes differ from those of the earlier reply.
    private func next() throws -> [UInt8]? {
        let chunk = try source()
        guard var seen = mark else { return chunk }
        var rest = (chunk ?? [])[...]
        if let expected {
            seen.add(rest.prefix(expected.count - seen.count))
            rest = rest.dropFirst(expected.count - (mark?.count ?? 0))
            if seen.count == expected.count {
                guard seen == expected else { throw Changed() }
                self.expected = nil
            } else if chunk == nil {
                throw Changed()
            }
        }
        seen.add(rest)
        mark = seen
        return chunk
    }

    /// Reads the beginning, and all of a zip archive.
    ///
    /// - Parameter end: When to stop, to be called again.
    /// - Returns: Whether the rows can be read.
    func begin(until end: ContinuousClock.Instant) throws -> Bool {
        if !hasBegun {
            var start: [UInt8] = []
            while start.count < Self.startBytes, let chunk = try next() { start += chunk }
            let packing = Packing(start)
            isPacked = packing != .none
            if packing == .zip {
                let archive = SpillFile()
                try archive.append(start)
                self.archive = archive
            }
            first = start.isEmpty ? nil : start
            hasBegun = true
        }
        guard let archive, !isWhole else { return true }
        repeat {
            guard let chunk = try next() else {
                size = Int64(archive.count)
                isWhole = true
                return true
            }
            try archive.append(chunk)
        } while ContinuousClock.now < end
        return false
    }

    func peek() throws -> [UInt8] {
        while try !begin(until: .now + RowReader.callTime) {}
        return first ?? []
    }

    func read() throws -> [UInt8]? {
        _ = try peek()
        if let piece = first {
            first = nil
            return piece
        }
        return try next()
    }

    func read(at offset: Int64, limit: Int) throws -> [UInt8] {
        guard let archive, offset < size else { return [] }
        return try archive.read(Int(offset), count: min(limit, Int(size - offset)))
    }
}
