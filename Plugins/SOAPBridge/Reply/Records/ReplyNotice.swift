internal import Inference

/// Content of a reply outside its records that may be the reason why records are missing.
struct ReplyNotice: Sendable, Equatable {
    enum Weight: Int, Sendable, Comparable {
        /// A message, a state that is not known, or another value that mentions a failure.
        case remark
        /// A message or a state that mentions a failure.
        case trouble
        /// The name says failure, or the value of a flag or a state.
        case failure

        static func < (a: Weight, b: Weight) -> Bool { a.rawValue < b.rawValue }
    }

    var weight: Weight
    /// The name of the element, or of the attribute with an `@`.
    let name: String
    let text: String
    /// Whether the value denies a success in so many words, rather than naming an error.
    private(set) var isRefusal = false

    /// The notice in words.
    var words: String { "its \(name) is \(text.prefix(300))" }

    /// Words in a value that mention a failure.
    private static let failing: Set<String> = [
        "unavailable", "busy", "denied", "timeout", "invalid", "unauthorized", "forbidden", "expired", "maintenance",
        "overloaded", "exceeded", "rejected", "aborted", "refused", "cannot", "unable",
    ]

    /// The severities of messages that mean that a call failed: SAP's E and A.
    private static let severe: Set<String> = ["e", "a", "error", "abort", "fatal", "critical"]

    /// Judges a value by the name of its element or attribute; nil if it cannot be a reason for anything.
    ///
    /// Identifiers, times, versions and the names of servers are none: many services put them into each reply.
    ///
    /// - Parameter names: The words in the name of a record, for ``AllClear``.
    init?(_ value: String, of signs: ReplyNameSigns, name: String, _ names: Set<String> = []) {
        guard !AllClear.isNothing(value) else { return nil }
        (self.name, text) = (name, value)
        if signs.contains(.success), AllClear.isDenial(value) || value == "0" {
            weight = .failure
            isRefusal = true
        } else if signs.contains(.state) {
            guard !AllClear.isSuccess(value, of: name, names) else { return nil }
            let isDenied = AllClear.isDenial(value) || Self.beginsWithFailure(value)
            isRefusal = isDenied && signs.contains(.reply)
            weight = isDenied || AllClear.isFailure(value) ? .failure : Self.mentionsFailure(value) ? .trouble : .remark
        } else if signs.isSuperset(of: [.log, .severity]), Self.severe.contains(value.lowercased()) {
            weight = .failure
            isRefusal = true
        } else if AllClear.isNone(value, names) {
            return nil
        } else if signs.contains(.failure) {
            weight = .failure
        } else if !signs.contains(.identity), Self.mentionsFailure(value) {
            weight = signs.contains(.message) ? .trouble : .remark
        } else {
            guard signs.contains(.message) else { return nil }
            weight = .remark
        }
    }

    init(weight: Weight, name: String, text: String) {
        (self.weight, self.name, self.text) = (weight, name, text)
    }

    /// Returns whether a state or a message begins with a word for a failure: `ErrorServerBusy`, `Failed`.
    static func beginsWithFailure(_ value: String) -> Bool {
        let start = value.prefix(10).lowercased()
        return ["error", "fail", "fault", "exception"].contains { start.hasPrefix($0) }
    }

    private static func mentionsFailure(_ value: String) -> Bool {
        NameWords.lower(String(value.prefix(1000))).contains {
            failing.contains($0) || ReplyNameSigns.failures.contains($0)
        }
    }
}

/// What the name of an element or attribute outside the records says about its value.
struct ReplyNameSigns: OptionSet, Sendable {
    let rawValue: UInt16

    /// An error or a part of one.
    static let failure = ReplyNameSigns(rawValue: 1)
    static let message = ReplyNameSigns(rawValue: 2)
    static let state = ReplyNameSigns(rawValue: 4)
    /// A flag of success.
    static let success = ReplyNameSigns(rawValue: 8)
    /// A name that replies have, and records have not.
    static let reply = ReplyNameSigns(rawValue: 16)
    /// An identifier, a time or the like, in which words mean nothing.
    static let identity = ReplyNameSigns(rawValue: 32)

    /// The position of a further page, a flag for one, and a flag for the last one.
    static let next = ReplyNameSigns(rawValue: 64)
    static let more = ReplyNameSigns(rawValue: 128)
    static let done = ReplyNameSigns(rawValue: 256)
    /// A list of messages, such as SAP's RETURN, and the severity of one.
    static let log = ReplyNameSigns(rawValue: 512)
    static let severity = ReplyNameSigns(rawValue: 1024)

    fileprivate static let failures: Set<String> = [
        "error", "errors", "err", "fault", "faults", "fail", "failed", "failure", "failures", "exception", "exceptions",
        "errorcode", "errcode", "errormessage", "errormsg", "errmsg", "errortext", "faultcode", "faultstring",
    ]
    /// The last words of a name that is that of a failure: `failedOrders` may be a list.
    private static let parts: Set<String> = [
        "code", "message", "messages", "msg", "text", "string", "reason", "detail", "details", "status", "flag",
        "info", "description", "list", "occurred", "number", "id",
    ]
    private static let messages: Set<String> = [
        "message", "messages", "msg", "text", "reason", "warning", "warnings", "notice", "alert", "description",
        "explanation", "detail", "details", "cause", "statusmessage", "messagetext",
    ]
    private static let identities: Set<String> = [
        "id", "ids", "uuid", "guid", "key", "token", "host", "server", "node", "version", "time", "timestamp", "date",
    ]
    private static let replies: Set<String> = [
        "responseclass", "responsecode", "responsestatus", "returncode", "resultcode",
    ]
    /// Names of the members of a list of values, which tell nothing.
    private static let members: Set<String> = ["string", "item", "value", "entry", "line"]

    private static let logs: Set<String> = [
        "return", "etreturn", "bapireturn", "bapiret2", "message", "messages", "log", "returnmessage", "returnmessages",
    ]
    private static let severities: Set<String> = ["type", "severity", "messagetype", "msgty", "severitycode"]
    /// Names of a position that no word marks as the next one.
    private static let tokens: Set<String> = ["continuationtoken", "resumptiontoken", "querylocator"]
    /// Words that follow or precede `next` in the name of a position.
    private static let positions = Set(PagingVocabulary.nextWords).union(["position", "reference", "locator"])

    init(rawValue: UInt16) { self.rawValue = rawValue }

    init(_ name: String) {
        let words = NameWords.lower(String(name.prefix(200)))
        let plain = words.joined()
        var signs: ReplyNameSigns = []
        if let last = words.last {
            if Self.failures.contains(plain)
                || words.contains(where: Self.failures.contains)
                    && (Self.failures.contains(last) || Self.parts.contains(last))
            {
                signs.insert(.failure)
            }
            if Self.messages.contains(last) { signs.insert(.message) }
            if Self.identities.contains(last) { signs.insert(.identity) }
            if words.contains("next"), words.contains(where: Self.positions.contains) { signs.insert(.next) }
            if Self.tokens.contains(plain) { signs.insert(.next) }
            if Self.logs.contains(plain) { signs.insert(.log) }
            if Self.severities.contains(plain) { signs.insert(.severity) }
        }
        if FailureSigns.isState(plain) { signs.insert(.state) }
        if FailureSigns.successes.contains(plain) { signs.insert(.success) }
        if Self.replies.contains(plain) { signs.insert(.reply) }
        typealias Names = PagingVocabulary.Elements
        if Names.more.contains(plain), plain != "more" { signs.insert(.more) }
        if Names.done.contains(plain), !["done", "complete"].contains(plain) { signs.insert(.done) }
        self = signs
    }

    /// Returns whether a value with these signs says that more records follow.
    func promises(_ value: String) -> Bool {
        if contains(.next) { return !AllClear.isNone(value) && value != "-1" }
        // The state of a part of the records: `MoreDataAvailable`.
        return contains(.state) && NameWords.lower(String(value.prefix(100))).first == "more"
            || contains(.more) && AllClear.flag(value) == true
            || contains(.done) && AllClear.flag(value) == false
    }

    /// Returns whether a value with these signs says that no more records follow.
    func denies(_ value: String) -> Bool {
        contains(.more) && AllClear.flag(value) == false || contains(.done) && AllClear.flag(value) == true
    }

    /// Returns the signs of a name inside an element with these ones.
    static func inside(_ outer: ReplyNameSigns, _ name: String) -> ReplyNameSigns {
        var signs = ReplyNameSigns(name)
        signs.formUnion(outer.intersection([.failure, .log]))
        if outer.contains(.message), members.contains(name.lowercased()) { signs.insert(.message) }
        return signs
    }
}
