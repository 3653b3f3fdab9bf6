internal import BridgeHTTP
internal import BridgeKit

/// A listing without records that says so without its list: what is made by Protocol Buffers leaves empty lists out, and
/// so do others.
enum EmptyListing {
    /// Where such a reply has its records: nowhere.
    static let records = "$.records"

    static func isObject(_ body: HTTPExchange.PaddedBody) -> Bool {
        let isMarked = body.bytes.starts(with: [0xEF, 0xBB, 0xBF])
        return body.bytes.dropFirst(isMarked ? 3 : 0).first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// Whether a reply that has nothing at a path that was named means that there are no records.
    static func isTold(_ survey: ReplySurvey) -> Bool {
        guard !survey.isArray, survey.lists.isEmpty else { return false }
        return survey.findings.isEmpty || PagingDetector.saysZero(survey)
    }

    /// The same where nobody says where records are: a small object that counts no records, and is none itself.
    static func isAll(_ survey: ReplySurvey) -> Bool {
        guard !survey.isArray, survey.lists.isEmpty else { return false }
        guard !survey.findings.isEmpty else { return true }
        let isSmall = survey.findings.count <= 4 && survey["$.id"] == .missing
        return isSmall && PagingDetector.saysZero(survey, in: PagingDetector.plainTotalNames)
    }
}
