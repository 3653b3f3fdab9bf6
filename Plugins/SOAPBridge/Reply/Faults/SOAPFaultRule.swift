internal import BridgeKit

/// A configured reaction to faults; the first matching rule applies.
struct SOAPFaultRule: Sendable, Equatable {
    enum Action: String, Sendable, CaseIterable {
        /// The listing is empty: the service reports the absence of records as a fault.
        case empty
        /// The listing ends here and may be incomplete.
        case ignore
        case retry, fail
        case notFound = "not_found"
        case permission, authentication, conflict, timeout
        case rateLimited = "rate_limited"
    }

    /// An element of the fault's detail.
    struct Detail: Sendable, Equatable {
        let name: String
        /// The element's text; nil for any.
        let text: String?

        /// Parses `NAME` or `NAME=TEXT`; returns nil for a text without a name.
        init?(_ option: String) {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first?.trimmingWhiteSpace, !name.isEmpty else { return nil }
            let text = parts.dropFirst().first?.trimmingWhiteSpace ?? ""
            self.name = name
            self.text = text.isEmpty ? nil : text
        }

        func fits(_ leaf: SOAPFault.Leaf) -> Bool {
            guard let text else { return leaf.path.contains(name) }
            return leaf.path.last == name && leaf.text == text
        }
    }

    var code: String?
    var reason: String?
    var detail: Detail?
    var status: Int?
    var action: Action
    /// The delay before another attempt, in seconds.
    var wait: Int?

    static let schema = #"""
        {
          "type": "array",
          "description": "What to do about faults; the first rule that matches applies.",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["action"],
            "properties": {
              "code": {"type": "string", "description": "The code with its subcodes, or one of them, without prefixes: Server, Sender.NotFound, NotFound."},
              "reason": {"type": "string", "description": "A text that the reason contains, ignoring case."},
              "detail": {"type": "string", "description": "NAME for an element that the detail has, or NAME=TEXT for its content."},
              "status": {"type": "integer", "description": "The HTTP status."},
              "action": {"type": "string", "enum": ["empty", "ignore", "retry", "fail", "not_found", "permission", "authentication", "conflict", "timeout", "rate_limited"], "description": "empty: there are no records; ignore: the listing ends here; retry; the others name the error."},
              "wait": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "With retry and rate_limited: seconds to wait."}
            }
          }
        }
        """#

    /// Parses the rules of `faults`.
    ///
    /// - Throws: ``BridgeError`` configuration for an unknown action, a detail without a name, or a rule that matches
    ///   every fault.
    static func rules(_ options: BridgeOptions) throws(BridgeError) -> [SOAPFaultRule] {
        var rules: [SOAPFaultRule] = []
        for rule in options.objects("faults") {
            let name = rule.string("action") ?? ""
            guard let action = Action(rawValue: name) else {
                throw BridgeError(
                    .configuration, "a rule of faults has the action \"\(name)\"",
                    remedy: "its actions: \(NearestName.list(Action.allCases.map(\.rawValue), to: name))")
            }
            let text = rule.string("detail")
            let detail = text.flatMap(Detail.init)
            guard text == nil || detail != nil else {
                throw BridgeError(
                    .configuration,
                    "a rule of faults (\(name)) has the detail \"\(text ?? "")\", which names no element",
                    remedy: "write NAME, or NAME=TEXT")
            }
            let read = SOAPFaultRule(
                code: rule.string("code"), reason: rule.string("reason"), detail: detail,
                status: rule.integer("status"), action: action, wait: rule.integer("wait"))
            guard read.code != nil || read.reason != nil || read.detail != nil || read.status != nil else {
                throw BridgeError(
                    .configuration, "a rule of faults (\(name)) matches every fault",
                    remedy: "say which by code, reason, detail or status")
            }
            rules.append(read)
        }
        return rules
    }

    /// Returns whether the rule matches this fault.
    func fits(_ fault: SOAPFault, status: Int) -> Bool {
        if let wanted = self.status, wanted != status { return false }
        if let code, fault.code != code, !fault.codes.contains(code) { return false }
        if let reason, !fault.reason.lowercased().contains(reason.lowercased()) { return false }
        guard let detail else { return true }
        return fault.leaves.contains { detail.fits($0) }
    }

    /// Returns the error as this rule changes it.
    func applied(to error: BridgeError) -> BridgeError {
        var error = error
        error.isRetryable = false
        switch action {
        case .empty, .ignore, .fail: break
        case .retry: error.isRetryable = true
        case .notFound: error.code = .notFound
        case .permission: error.code = .permission
        case .authentication: error.code = .authentication
        case .conflict: error.code = .conflict
        case .timeout:
            error.code = .timeout
            error.isRetryable = true
        case .rateLimited:
            error.code = .rateLimited
            error.isRetryable = true
        }
        if error.isRetryable, let wait { error.retryAfterMilliseconds = Int64(wait) * 1000 }
        return error
    }
}
