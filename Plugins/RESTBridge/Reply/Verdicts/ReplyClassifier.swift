internal import BridgeHTTP
internal import BridgeKit

/// Decides how to treat a reply, by its status and the section's `responses`.
struct ReplyClassifier {
    let section: RESTSection
    /// The request, for messages.
    let asked: String
    /// Whether the request only confirms that no further page exists.
    let isConfirming: Bool

    enum Verdict {
        /// A success, with the body if it was read already.
        ///
        /// `isAccepted` if a rule declares it a success; `mayLack` if that rule has found something in the body, so that the
        /// reply may be one without a place for records.
        case good(HTTPExchange.PaddedBody?, isAccepted: Bool, mayLack: Bool)
        /// A page without records, with the body if it was read already; `byBody` if the rule has found something in it.
        case ignored(HTTPExchange.PaddedBody?, byBody: Bool)
        /// A page without records that ends the scan.
        case empty
        /// The page requested to confirm the end does not exist.
        case end
        /// The credentials were renewed: repeat the request.
        case renewed
    }

    /// - Parameter renew: Renews the credentials, and returns false if they cannot be renewed, or were already.
    /// - Throws: ``BridgeError`` if the reply is a failure, and what `renew` throws.
    func verdict(
        _ exchange: HTTPExchange, _ response: HTTPResponse, renew: () throws -> Bool
    ) throws -> Verdict {
        var body: HTTPExchange.PaddedBody?
        for rule in section.responses where rule.covers(response.status) {
            if let path = rule.path {
                // A table may be too large to be held, and no path leads into it.
                if body == nil, section.table?.isForeign == true, !JSONStart.isLikely(try exchange.bodyStart()) {
                    continue
                }
                let whole = try body ?? exchange.paddedBody()
                body = whole
                guard let value = JSONScalar.read([path], in: whole)?.first, rule.fits(value) else { continue }
            }
            let isFound = rule.path != nil && !rule.isMissing
            if rule.action == .accept { return .good(body, isAccepted: true, mayLack: isFound) }
            defer { exchange.cancel() }
            switch rule.action {
            case .accept, .ignore: return .ignored(body, byBody: isFound)
            case .empty: return .empty
            case .refresh:
                if try renew() { return .renewed }
                throw failure(response, body, rule, .authentication)
            case .retry:
                var error = failure(response, body, rule, response.status == 429 ? .rateLimited : .remote)
                error.isRetryable = true
                error.retryAfterMilliseconds = HTTPStatusError.retryAfter(response)
                throw error
            case .fail: throw failure(response, body, rule, nil)
            }
        }
        if (200..<300).contains(response.status) { return .good(body, isAccepted: false, mayLack: false) }
        if isConfirming, [400, 404, 416, 422].contains(response.status) {
            exchange.cancel()
            return .end
        }
        guard let body else { throw try exchange.statusError(asked: asked) }
        throw HTTPStatusError.make(response, bodyPrefix: prefix(of: body), asked: asked)
    }

    private func prefix(of body: HTTPExchange.PaddedBody) -> [UInt8] {
        Array(body.bytes.prefix(min(body.count, 16_384)))
    }

    private func failure(
        _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?, _ rule: ResponseRule, _ code: BridgeError.Code?
    ) -> BridgeError {
        var error = HTTPStatusError.make(response, bodyPrefix: body.map(prefix) ?? [], asked: asked)
        let condition =
            rule.path.map { path in
                " \(rule.isMissing ? "without" : "with") \(path)" + rule.condition
            } ?? ""
        error.message = "\(asked): \(rule.message ?? "the reply \(response.status)\(condition) means a failure")"
        error.remedy = rule.message == nil ? "as the section's responses say" : nil
        error.isRetryable = false
        if let code { error.code = code } else if response.status < 400 { error.code = .remote }
        return error
    }
}
