internal import BridgeJSON
internal import BridgeKit

/// What becomes of a reply of a certain status or body, as the section's `responses` says.
struct ResponseRule: Sendable {
    enum Action: String, CaseIterable, Sendable {
        /// The page holds no records; the walk goes on as its paging says.
        case ignore
        /// There are no more records: the walk ends, complete.
        case empty
        /// The host tries again later.
        case retry
        /// The credentials are renewed, and the request is made once more.
        case refresh
        /// An error.
        case fail
        /// The reply is taken as a success, whatever its status is.
        case accept
    }

    /// From and to, both included; nil for any success.
    var statuses: [ClosedRange<Int>]
    var action: Action
    var path: JSONPath?
    var equals: String?
    /// The path must lead nowhere.
    var isMissing = false
    var message: String?

    init(_ options: BridgeOptions) throws {
        statuses = try options.strings("status").map { text in
            if let status = Int(text), (100...599).contains(status) { return status...status }
            // 4xx
            if text.count == 3, text.lowercased().hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
                (1...5).contains(hundreds)
            {
                return hundreds * 100...hundreds * 100 + 99
            }
            throw BridgeError(
                .configuration, "responses: \"\(text)\" is no status", remedy: "write a number such as 404, or 5xx")
        }
        let name = options.string("action") ?? ""
        guard let action = Action(rawValue: name) else {
            throw BridgeError(
                .configuration, "responses: the action is \"\(name)\"",
                remedy: "use one of: \(Action.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.action = action
        message = options.string("message")
        if let when = options.object("when") {
            guard let text = when.string("path") else {
                throw BridgeError(.configuration, "responses: when has no path", remedy: "write the path to look at")
            }
            path = try JSONPath(text, option: "responses.when.path")
            equals = when.string("equals")
            isMissing = when.bool("missing") ?? false
            guard equals == nil || !isMissing else {
                throw BridgeError(
                    .configuration, "responses: when has equals and missing",
                    remedy: "what is missing equals nothing: remove one")
            }
        }
        guard !statuses.isEmpty || path != nil else {
            throw BridgeError(
                .configuration, "responses: a rule for every reply", remedy: "write a status, or when with a path")
        }
    }

    /// Whether the rule may speak of this status; its body decides the rest.
    func covers(_ status: Int) -> Bool {
        statuses.isEmpty ? (200..<300).contains(status) : statuses.contains { $0.contains(status) }
    }
}
