internal import BridgeHTTP
internal import BridgeKit
internal import RowFormats

/// The body of a reply as a file of rows, read once while it arrives.
///
/// Only a zip archive, whose directory is at its end, is first put into a temporary file as a whole.
final class ReplyFile: ByteFile {
    private let next: () throws -> [UInt8]?
    private var first: [UInt8]?
    private var hasBegun = false
    private var archive: SpillFile?
    /// Whether the archive has arrived.
    private var isWhole = false
    private(set) var size: Int64
    /// Whether the body is a gzip file or a zip archive; known once it was begun.
    private(set) var isPacked = false

    /// The number of bytes by which the body's form is recognised.
    private static let startBytes = 512

    /// - Parameter length: The length of the body in bytes, if the reply says it.
    init(_ exchange: HTTPExchange, length: Int64?) {
        next = { try exchange.nextChunk() }
        size = length ?? 0
    }

    /// A body that was already read.
    init(_ body: HTTPExchange.PaddedBody) {
        var rest: [UInt8]? = Array(body.bytes.prefix(body.count))
        next = {
            defer { rest = nil }
            return rest.flatMap { $0.isEmpty ? nil : $0 }
        }
        size = Int64(body.count)
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
