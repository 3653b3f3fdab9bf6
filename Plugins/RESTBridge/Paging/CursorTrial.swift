internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import Inference
internal import RecordBatch

/// Finds the parameter that takes a cursor, if the reply contains only the cursor.
///
/// Synapse takes its `next_token` as `from`. A server ignores an unknown parameter and sends the first page again, or
/// rejects it. Then another name is tried before any record of the second page is returned.
struct CursorTrial {
    /// Names of parameters that may take a number other than a cursor: a row number, an exclusive id, or a time.
    ///
    /// A number in one of them may select records other than the next ones, which no reply would reveal.
    private static let counts = PagingVocabulary.cursorParameter.names(.counts)

    /// The parameter on trial.
    private(set) var name: String
    private let guessed: String
    private var others: [String]
    private let records: JSONPath
    private let firstPage: Set<Int>
    private let identities: RecordIdentities?

    /// The judgment on a reply that should be the second page.
    enum Verdict {
        /// The reply is the second page, or no name is left to try and the scan reports the problem.
        case settled
        case tryNext
    }

    /// - Parameters:
    ///   - detected: The paging detected in the first reply.
    ///   - given: The parameters already in the request. The API's name for the cursor may be among them.
    ///   - body: The first page.
    ///   - cursor: The cursor in the first page, and its member's name.
    /// - Returns: nil if no cursor was detected, if the request already has the parameter, or if the page has no
    ///   records to recognize it by.
    init?(
        _ detected: DetectedPaging, given: Set<String>, records: JSONPath, body: HTTPExchange.PaddedBody,
        cursor: (value: JSONScalar, member: String?)
    ) {
        guard detected["style"] == "cursor", let name = detected["parameter"], !given.contains(name),
            let batch = try? PageReader.records(at: records, in: body), batch.count > 0
        else { return nil }
        self.name = name
        guessed = name
        self.records = records
        var usual = PagingVocabulary.cursorParameter.names(.tried).filter { $0 != name }
        if Self.isNumber(cursor) {
            usual.removeAll(where: Self.counts.contains)
            // A parameter with the member's own name takes the member's value.
            if let own = cursor.member, own != name, own.lowercased().contains("next"), !usual.contains(own) {
                usual.append(own)
            }
        }
        others = usual.filter(given.contains) + usual.filter { !given.contains($0) }
        firstPage = Self.marks(of: batch)
        identities = RecordIdentities(batch)
    }

    /// Whether the name is not the first guess.
    var isAnother: Bool { name != guessed }

    /// Decides from the reply to a request with the parameter whether to try another name.
    ///
    /// - Parameter body: The reply's body, or nil for an error.
    func validate(_ body: HTTPExchange.PaddedBody?) -> Verdict {
        guard !others.isEmpty || isAnother else { return .settled }
        guard let body, let batch = try? PageReader.records(at: records, in: body) else { return .tryNext }
        // A last page may be empty. For a name other than the first guess, the parameter may also be a filter.
        if batch.count == 0 { return isAnother ? .tryNext : .settled }
        if let identities, let own = RecordIdentities(batch, by: identities.name) {
            let isSame = isAnother ? !own.values.isDisjoint(with: identities.values) : own.values == identities.values
            return isSame ? .tryNext : .settled
        }
        let own = Self.marks(of: batch)
        return (isAnother ? !own.isDisjoint(with: firstPage) : own == firstPage) ? .tryNext : .settled
    }

    /// Moves on to the next name, and after the last one back to the first guess, whose failure is reported.
    ///
    /// - Returns: Whether the next reply needs a decision, too.
    mutating func advance() -> Bool {
        guard !others.isEmpty else {
            name = guessed
            return false
        }
        name = others.removeFirst()
        return true
    }

    /// Whether the cursor is a number; a token of digits, such as Synapse's, is opaque and does not count.
    private static func isNumber(_ cursor: (value: JSONScalar, member: String?)) -> Bool {
        switch cursor.value {
        case .number: true
        case .text(let text): Int(text) != nil && !(cursor.member ?? "").lowercased().contains("token")
        case .missing, .null, .bool, .object, .array: false
        }
    }

    private static func marks(of batch: RecordBatch) -> Set<Int> {
        withExtendedLifetime(batch) { Set((0..<batch.count).map { batch[$0].json.hashValue }) }
    }
}
