internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Pages without records, and pages whose records may not be all.
extension RESTSource {
    /// Returns the facts of a reply that a rule of the section ignores, from its header fields and from its body if the
    /// rule read that.
    ///
    /// Notes that the listing is not complete if the reply does not say how to continue and the paging needs that.
    func factsOfIgnored(_ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?) throws -> PageFacts {
        var isUnknown = false
        if case .automatic = section.paging.style {
            if body == nil { try detect(nil, response, nil) }
            if detection == nil { isUnknown = true }
        }
        let facts = ReplyFacts(section, response) { place in
            guard let body, let path = place.path else { return .missing }
            return JSONScalar.read([path], in: body)?.first ?? .missing
        }.paging()
        // A listing that does not exist has no records.
        let isNumbered = section.paging.isNumbered
        let isAbsent = (pageNumber == 1 || isNumbered) && [404, 410].contains(response.status)
        // A numbered page without records would end the listing.
        let isEnd = isNumbered ? facts.hasMore == nil : section.paging.needsNext || isUnknown
        guard isEnd, !facts.next.isGiven, facts.hasMore != false, !isAbsent else { return facts }
        leftOut =
            leftOut
            ?? "\(asked): the reply \(response.status) is ignored, as responses says, and does not say how the listing continues, "
            + "so it is not complete, and nothing counts as deleted: if it ends there, write action: empty"
        return facts
    }

    /// Returns the facts of a reply 204, which has only header fields.
    func factsOfNoContent(_ response: HTTPResponse) throws -> PageFacts {
        if case .automatic = section.paging.style { try detect(nil, response, nil) }
        if section.paging.isSingle, !section.paging.isWhole { lookForMore(nil, response) }
        return ReplyFacts(section, response).paging()
    }

    /// Notes what makes it doubtful that a page has all its records.
    func noteSigns(_ reader: PageReader) {
        if let sign = reader.failureSign() { return noteFailure(sign) }
        // After pages with records, null is their end; and a listing of changes deletes nothing that it lacks.
        guard !isDelta, !section.isPartial else { return }
        guard pageNumber == 1, leftOut == nil, let path = reader.untoldNull else { return }
        leftOut =
            "\(asked): the reply has null where the records should be (\(path)), and nothing counts as deleted: if that means "
            + "that there are none, say so under responses: {when: {path: \"\(path)\", equals: \"null\"}, action: empty}"
    }

    /// Notes a sign of failure beside the records of a page.
    private func noteFailure(_ sign: String) {
        guard leftOut == nil else { return }
        leftOut =
            "\(asked): the reply has a sign of failure beside its records (\(sign)), so records may be missing and nothing counts "
            + "as deleted: if that is not a failure, say so under responses: {when: {path: ...}, action: accept}"
    }
}

extension PageFacts {
    /// Whether header fields say that there are records after all.
    var saysMore: Bool { next.isGiven || hasMore == true || (total ?? 0) > 0 || (pages ?? 0) > 1 }
}

extension PageFacts.NextValue {
    /// Whether the reply says where the next page is.
    fileprivate var isGiven: Bool {
        switch self {
        case .value, .json, .unusable: true
        case .missing, .none: false
        }
    }
}
