internal import BridgeHTTP
internal import BridgeKit
internal import Inference

/// A reply without a list that still means an empty listing.
///
/// Protocol Buffers leave out empty lists, and so do other formats.
enum EmptyListing {
    /// The path of the records for such a reply, which leads nowhere.
    static let records = "$.records"

    static func isObject(_ body: HTTPExchange.PaddedBody) -> Bool {
        let isMarked = body.bytes.starts(with: [0xEF, 0xBB, 0xBF])
        return body.bytes.dropFirst(isMarked ? 3 : 0).first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// Whether a reply without a value at the configured path means an empty listing.
    static func isTold(_ survey: ReplySurvey) -> Bool {
        guard !survey.isArray, survey.lists.isEmpty else { return false }
        return survey.findings.isEmpty || PagingDetector.saysZero(survey)
    }

    /// Whether a reply means an empty listing, if no path is configured: a small object that counts no records and is
    /// not a record itself.
    static func isAll(_ survey: ReplySurvey) -> Bool {
        guard !survey.isArray, survey.lists.isEmpty else { return false }
        guard !survey.findings.isEmpty else { return true }
        let isSmall = survey.findings.count <= 4 && survey["$.id"] == .missing
        return isSmall && PagingDetector.saysZero(survey, .clear)
    }
}
