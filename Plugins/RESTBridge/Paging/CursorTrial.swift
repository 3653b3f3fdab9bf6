internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Finds the parameter that takes a cursor, where a reply names the cursor alone.
///
/// Synapse takes its `next_token` as `from`. A server ignores a parameter that it does not know and sends the first page once
/// more, or refuses it: then another name is tried before anything of the second page is handed out.
struct CursorTrial {
    /// Names of parameters that take cursors, the most usual first.
    static let names = [
        "cursor", "from", "next_token", "page_token", "pageToken", "after", "start", "token", "offset", "marker",
        "continuation_token", "since",
    ]

    /// Those that take a number which is no cursor: a row's number, an id that is left out itself, or a time.
    ///
    /// A number in one of them may bring other records than those that come next, and no reply would show it.
    private static let counts: Set<String> = ["from", "after", "start", "offset", "since"]

    /// The parameter that is being tried.
    private(set) var name: String
    private let guessed: String
    private var others: [String]
    private let records: JSONPath
    private let firstPage: Set<Int>
    private let identities: RecordIdentities?

    /// What to make of a reply that should be the second page.
    enum Verdict {
        /// It is; or nothing else is left to be tried, and the walk says what is wrong.
        case settled
        case tryNext
    }

    /// - Parameters:
    ///   - detected: What the first reply told.
    ///   - given: The request's own parameters, of which one may be the API's word for it.
    ///   - body: The first page.
    ///   - cursor: What it names, and the member that does.
    /// - Returns: nil where no cursor was found, where the request itself has the parameter, and for a page without records,
    ///   by which it would be known again.
    init?(
        _ detected: PagingDetector.Detected, given: Set<String>, records: JSONPath, body: HTTPExchange.PaddedBody,
        cursor: (value: JSONScalar, member: String?)
    ) {
        guard detected.members.contains(where: { $0 == ("style", "cursor") }),
            let name = detected.members.first(where: { $0.name == "parameter" })?.value, !given.contains(name),
            let batch = try? PageReader.records(at: records, in: body), batch.count > 0
        else { return nil }
        self.name = name
        guessed = name
        self.records = records
        var usual = Self.names.filter { $0 != name }
        if Self.isNumber(cursor) {
            usual.removeAll(where: Self.counts.contains)
            // A parameter by the member's own name takes what the member says.
            if let own = cursor.member, own != name, own.lowercased().contains("next"), !usual.contains(own) {
                usual.append(own)
            }
        }
        others = usual.filter(given.contains) + usual.filter { !given.contains($0) }
        firstPage = Self.marks(of: batch)
        identities = RecordIdentities(batch)
    }

    /// Whether another name was found than the one that was most likely.
    var isAnother: Bool { name != guessed }

    /// Judges the reply to a request with the parameter.
    ///
    /// - Parameter body: nil for a reply that is an error.
    func judge(_ body: HTTPExchange.PaddedBody?) -> Verdict {
        guard !others.isEmpty || isAnother else { return .settled }
        guard let body, let batch = try? PageReader.records(at: records, in: body) else { return .tryNext }
        // A last page may be empty; of a parameter that was only tried, this may as well be a filter's answer.
        if batch.count == 0 { return isAnother ? .tryNext : .settled }
        if let identities, let own = RecordIdentities(batch, by: identities.name) {
            let isSame = isAnother ? !own.values.isDisjoint(with: identities.values) : own.values == identities.values
            return isSame ? .tryNext : .settled
        }
        let own = Self.marks(of: batch)
        return (isAnother ? !own.isDisjoint(with: firstPage) : own == firstPage) ? .tryNext : .settled
    }

    /// Goes on to the next name; in the end back to the first guess, whose failure is the one to tell.
    ///
    /// - Returns: Whether the reply to that is to be judged too.
    mutating func advance() -> Bool {
        guard !others.isEmpty else {
            name = guessed
            return false
        }
        name = others.removeFirst()
        return true
    }

    /// Whether a cursor is a number; a token of digits is one that only its server reads, as Synapse's.
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
