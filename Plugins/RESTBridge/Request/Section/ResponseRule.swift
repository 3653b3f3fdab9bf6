internal import BridgeJSON
internal import BridgeKit
internal import TextFormats

/// The treatment of replies with a certain status or body, from the section's `responses`.
struct ResponseRule: Sendable {
    enum Action: String, CaseIterable, Sendable {
        /// Takes the page as one without records; the scan continues as its paging says.
        case ignore
        /// Ends the scan as complete.
        case empty
        /// Makes the host retry later.
        case retry
        /// Renews the credentials and repeats the request once.
        case refresh
        /// Reports an error.
        case fail
        /// Takes the reply as a success, whatever its status.
        case accept
    }

    /// The inclusive ranges of statuses, or empty for any success.
    var statuses: [ClosedRange<Int>]
    var action: Action
    var path: JSONPath?
    var equals: String?
    /// A part of the text at the path.
    var contains: String?
    /// Whether the path must lead nowhere.
    var isMissing = false
    var message: String?

    init(_ options: BridgeOptions) throws {
        statuses = try options.strings("status").map { text in
            if let status = Int(text), (100...599).contains(status) { return status...status }
            // A class of statuses, such as 4xx.
            if text.count == 3, text.lowercased().hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
                (1...5).contains(hundreds)
            {
                return hundreds * 100...hundreds * 100 + 99
            }
            throw BridgeError(
                .configuration, "responses: \"\(text)\" is not a status", remedy: "write a number such as 404, or 5xx")
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
            // The null of `equals: null` has the text of a null in a reply.
            equals = when.string("equals") ?? (when.withValue("equals") { $0?.tag == .null } ? "null" : nil)
            isMissing = when.bool("missing") ?? false
            contains = when.string("contains")
            guard contains != "" else {
                throw BridgeError(
                    .configuration, "responses: contains is an empty text, which each text contains",
                    remedy: "write a part of the text, or remove it")
            }
            guard contains == nil || equals == nil && !isMissing else {
                throw BridgeError(
                    .configuration, "responses: when has contains and \(isMissing ? "missing" : "equals")",
                    remedy: "remove one: contains tests a part of the text at the path")
            }
            guard equals == nil || !isMissing else {
                throw BridgeError(
                    .configuration, "responses: when has equals and missing",
                    remedy: "a missing value equals nothing: remove one")
            }
        }
        guard !statuses.isEmpty || path != nil else {
            throw BridgeError(
                .configuration, "responses: a rule matches every reply", remedy: "add a status, or when with a path")
        }
    }

    /// Whether the body has at the path what the rule looks for.
    func fits(_ value: JSONScalar) -> Bool {
        guard (value == .missing) == isMissing else { return false }
        if let contains {
            guard case .text(let text) = value else { return false }
            return text.contains(contains)
        }
        guard let equals else { return true }
        if case .number(let number) = value, Self.isSameNumber(equals, number) { return true }
        return equals == value.plain ?? (value == .null ? "null" : nil)
    }

    /// Whether two texts are one number in two notations, such as `1.10` and `1.1`.
    private static func isSameNumber(_ one: String, _ other: String) -> Bool {
        // A double holds fifteen digits of any decimal.
        let areExact = [one, other].allSatisfy { text in
            let bytes = Array(text.utf8)
            let digits = bytes.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return digits <= 15 && bytes.withUnsafeBytes { NumberGrammar.matches($0) }
        }
        return areExact && Double(one) == Double(other)
    }

    /// What the rule looks for at the path, in words.
    var condition: String {
        (equals.map { " = \($0)" } ?? "") + (contains.map { " that contains \"\($0)\"" } ?? "")
    }

    /// Whether the rule may apply to this status; the body decides the rest.
    func covers(_ status: Int) -> Bool {
        statuses.isEmpty ? (200..<300).contains(status) : statuses.contains { $0.contains(status) }
    }
}
