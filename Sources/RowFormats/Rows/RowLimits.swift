package import BridgeKit
internal import RecordBatch

/// The size limits for a file's content: the options `max_record_bytes` and `max_body_bytes`.
package struct RowLimits: Sendable, Equatable {
    /// The limit in bytes of one row, line, list element or XML record.
    package var record = 16 << 20
    /// The limit in bytes of an unpacked file; nil if the options do not set it.
    package var body: Int?

    package init() {}

    /// - Parameter body: nil if the options do not set it.
    package init(record: Int, body: Int?) {
        self.record = record
        self.body = body
    }

    package init(_ options: BridgeOptions) throws {
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
    package var fields: Int { max(100_000, record / 160) }

    /// The limit in bytes of a document that is held in memory as a whole.
    var document: Int { body ?? 64 << 20 }

    /// The limit in bytes of an unpacked file: a zip bomb of some kilobytes unpacks to a thousand times its size.
    func unpacked(from size: Int64) -> Int64 {
        body.map(Int64.init) ?? max(256 << 20, size.multipliedReportingOverflow(by: 100).partialValue)
    }

    /// The limit in bytes of a batch in memory.
    package var batch: Int { RecordBatchWriter.batchBytes(recordBytes: record) }

    /// Formats a size for a message: `16 MiB`, or bytes.
    static func words(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }
}
