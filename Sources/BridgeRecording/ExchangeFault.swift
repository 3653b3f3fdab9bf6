internal import BridgeContract

/// What a replay does to a request instead of, or in addition to, returning the recorded reply.
public enum ExchangeFault: Sendable, Equatable {
    /// No reply in time.
    case timeout
    /// The connection breaks before a reply.
    case reset
    /// The reply breaks off in the middle.
    case truncated
    /// The reply takes this many seconds, which pass at once.
    case slow(seconds: Double)
    /// Another reply; for a protocol other than HTTP the status is a word of that protocol, such as `EACCES`.
    case answer(status: String, headers: [Exchange.Field], body: String)

    /// The result without a recorded reply.
    public var replayed: ExchangeTape.Replayed {
        guard case .answer(let status, let headers, let body) = self else {
            return ExchangeTape.Replayed(fault: self, reply: .answer(status: "200", headers: [], body: []))
        }
        return ExchangeTape.Replayed(
            fault: self, reply: .answer(status: status, headers: headers, body: Array(body.utf8)))
    }

    /// The fault as one word, for the report.
    var word: String {
        switch self {
        case .timeout: "timeout"
        case .reset: "reset"
        case .truncated: "truncated"
        case .slow: "slow"
        case .answer(let status, _, _): status
        }
    }

    init?(_ options: BridgeOptions) {
        switch options.string("kind") {
        case "timeout": self = .timeout
        case "reset": self = .reset
        case "truncated": self = .truncated
        case "slow": self = .slow(seconds: options.number("seconds") ?? 30)
        case "answer":
            let headers = options.object("headers") ?? .empty
            self = .answer(
                status: options.string("status") ?? "500",
                headers: headers.names.map { Exchange.Field($0, headers.string($0) ?? "") },
                body: options.string("body") ?? "")
        default: return nil
        }
    }
}

/// A rule that selects the exchanges with a fault: all conditions that are set must match.
struct FaultRule: Sendable {
    /// The number of the exchange's file.
    var exchange: Int?
    var entity: String?
    /// The request's number in its scan.
    var request: Int?
    var method: String?
    /// The end of the URL or path.
    var target: String?
    var faults: [ExchangeFault]
    /// The rule's index in the file, for the report.
    var index: Int

    init(_ options: BridgeOptions) {
        exchange = options.integer("exchange")
        entity = options.string("entity")
        request = options.integer("request")
        method = options.string("method")
        target = options.string("target")
        index = options.integer("rule") ?? 0
        faults = options.objects("then").compactMap(ExchangeFault.init)
    }

    func fits(_ file: ExchangeFile, name: String) -> Bool {
        if let exchange, Int(name.prefix { $0.isNumber }) != exchange { return false }
        if let entity, file.entity != entity { return false }
        if let request, file.number != request { return false }
        if let method, file.method != method { return false }
        if let target, !file.target.hasSuffix(target) { return false }
        return true
    }
}
