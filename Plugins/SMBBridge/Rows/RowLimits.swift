import BridgeKit

/// The size limits for a file's content: the options `max_record_bytes` and `max_body_bytes`.
struct RowLimits: Sendable, Equatable {
    /// The limit in bytes of one row, line, list element or XML record.
    var record = 16 << 20
    /// The limit in bytes of an unpacked file; nil if the options do not set it.
    var body: Int?

    init() {}

    init(_ options: BridgeOptions) throws {
        record = options.integer("max_record_bytes") ?? record
        body = options.integer("max_body_bytes")
        guard record >= 65_536 else {
            throw BridgeError(
                .configuration, "max_record_bytes is \(record)", remedy: "it must be at least 65536")
        }
        if let body, body < 1 {
            throw BridgeError(
                .configuration, "max_body_bytes is \(body)", remedy: "it must be at least 1")
        }
    }

    /// The limit on fields per row: Excel has 16,384; a row of delimiters alone would have millions.
    var fields: Int { max(100_000, record / 160) }

    /// The limit in bytes of a document that is held in memory as a whole.
    var document: Int { body ?? 64 << 20 }

    /// The limit in bytes of an unpacked file: a zip bomb of some kilobytes unpacks to a thousand times its size.
    func unpacked(from size: Int64) -> Int64 {
        body.map(Int64.init) ?? max(256 << 20, size.multipliedReportingOverflow(by: 100).partialValue)
    }

    /// The limit in bytes of a batch in memory: the largest record, its names and values, and the records before it.
    var batch: Int { max(64 << 20, record.multipliedReportingOverflow(by: 4).partialValue) }

    /// Formats a size for a message: `16 MiB`, or bytes.
    static func words(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }
}

/// Counts the bytes that a packed file unpacks to.
final class UnpackedStream: ByteStream {
    private let source: any ByteStream
    private let budget: UnpackingBudget

    init(_ source: any ByteStream, _ budget: UnpackingBudget) {
        self.source = source
        self.budget = budget
    }

    func read() throws -> [UInt8]? {
        guard let piece = try source.read() else { return nil }
        try budget.take(piece.count)
        return piece
    }
}

/// The remaining bytes that a packed file may unpack to, over all members of an archive: members may share their data.
final class UnpackingBudget {
    private let most: Int64
    private var total: Int64 = 0

    init(most: Int64) { self.most = most }

    func take(_ count: Int) throws {
        total += Int64(count)
        guard total <= most else {
            throw FileFault(
                reason: "unpacks to more than \(RowLimits.words(Int(most)))",
                remedy: "unpack it, or raise max_body_bytes")
        }
    }
}
