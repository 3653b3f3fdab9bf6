/// The size limits for a reply and for a record in it, from the bridge's options.
struct ReplyLimits {
    /// `max_body_bytes`.
    var bodyBytes = 64 << 20
    /// `max_record_bytes`.
    var recordBytes = 64 << 20
    /// The approximate size of a batch at which a page is split.
    static let batchBytes = 4 << 20

    /// Returns the reason for rejecting a record, with the option that raises the limit.
    static func words(_ reason: String) -> String {
        reason.hasPrefix("the record takes more than ") ? "\(reason); raise max_record_bytes" : reason
    }
}
