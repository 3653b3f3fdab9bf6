internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// The section's `responses`, applied to the reply to a write.
extension RESTObjectWriter {
    /// Whether a rule declares the reply a success, regardless of its content.
    ///
    /// Only rules for a value in a successful reply apply to writes. A status or a missing value has another meaning in
    /// a listing.
    ///
    /// - Throws: ``BridgeError`` if a rule declares it a failure.
    func isAccepted(_ reply: [UInt8], _ response: HTTPResponse) throws -> Bool {
        let body = HTTPExchange.PaddedBody(reply)
        for rule in try responseRules() where rule.covers(response.status) && !rule.isMissing {
            guard !reply.isEmpty, let path = rule.path, let value = JSONScalar.read([path], in: body)?.first,
                rule.fits(value)
            else { continue }
            switch rule.action {
            case .accept, .ignore, .empty: return true
            case .fail, .retry, .refresh: throw failure(rule, path, reply, response)
            }
        }
        return false
    }

    /// Whether a rule of the section says what a value of the reply means, so that it is not a sign of failure by itself.
    func hasRule(for path: String) throws -> Bool {
        try responseRules().contains { $0.path?.description == path && $0.contains == nil }
    }

    private func responseRules() throws -> [ResponseRule] {
        try request.section.objects("responses").map(ResponseRule.init)
    }

    private func failure(
        _ rule: ResponseRule, _ path: JSONPath, _ reply: [UInt8], _ response: HTTPResponse
    ) -> BridgeError {
        let words = rule.message ?? "the reply with \(path)\(rule.condition) means a failure"
        var error = BridgeError(
            rule.action == .refresh ? .authentication : .remote, "\(asked): \(words)",
            remedy: rule.message == nil ? "as the section's responses say" : nil, location: response.location,
            remote: excerpt(of: reply, response))
        error.isRetryable = rule.action != .fail
        // The remote received the object: a second request could create another one.
        return rule.action == .retry && request.operation == .create ? unknown(error) : error
    }
}
