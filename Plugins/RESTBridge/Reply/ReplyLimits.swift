internal import RecordBatch

/// The size limits for a reply and for a record in it, from the bridge's options.
struct ReplyLimits {
    /// `max_body_bytes`.
    var bodyBytes = 64 << 20
    /// `max_record_bytes`.
    var recordBytes = 64 << 20
    /// The approximate size of a batch at which a page is split.
    static let batchBytes = 4 << 20

    /// The memory that a batch may take.
    var batchMemory: Int { RecordBatchWriter.batchBytes(recordBytes: recordBytes) }
    /// The memory that a list may take which is needed as a whole.
    var listMemory: Int { max(64 << 20, recordBytes / 2 * 3) }

    /// Returns the reason for rejecting a record, with the option that raises the limit.
    static func words(_ reason: String) -> String {
        reason.hasPrefix("the record takes more than ") ? "\(reason); raise max_record_bytes" : reason
    }
}

extension RecordBatchWriter {
    /// Limits each record, and the batch to what such records need.
    func limit(_ limits: ReplyLimits) {
        limit(bytes: limits.batchMemory)
        limit(recordBytes: limits.recordBytes)
    }
}
