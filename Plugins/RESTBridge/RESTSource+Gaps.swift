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

    /// Notes an ignored reply that may stand in the place of records.
    ///
    /// - Parameter byBody: Whether the rule has found something in the body.
    func noteIgnored(_ response: HTTPResponse, byBody: Bool) {
        let isFailure = response.status >= 400 && ![404, 410].contains(response.status)
        guard isFailure || byBody && response.status < 400 else { return }
        leftOut =
            leftOut
            ?? "\(asked): the reply \(response.status) is ignored, as responses says, so the listing is not complete, and "
            + "nothing counts as deleted" + (isFailure ? "" : ": if the listing ends there, write action: empty")
    }

    /// Notes a reply without a place for records that a rule of the section accepts for what it has instead.
    func noteLack(_ response: HTTPResponse) {
        leftOut =
            leftOut
            ?? "\(asked): the reply \(response.status) has nothing at records, and responses accepts it, so the listing is not complete, "
            + "and nothing counts as deleted: if the listing ends there, write action: empty"
    }

    /// Returns the facts of a reply 204, which has only header fields.
    func factsOfNoContent(_ response: HTTPResponse) throws -> PageFacts {
        if case .automatic = section.paging.style { try detect(nil, response, nil) }
        if section.paging.isSingle, !section.paging.isWhole { lookForMore(nil, response) }
        return ReplyFacts(section, response).paging()
    }

    /// Notes what makes it doubtful that a page has all its records.
    func noteSigns(_ reader: PageReader, _ facts: PageFacts) {
        if let sign = reader.failureSign() { return noteFailure(sign) }
        if reader.hasUnreadRecords { return noteUnreadRecords() }
        // After pages with records, null is their end; and a listing of changes deletes nothing that it lacks.
        guard !isDelta, !section.isPartial else { return }
        guard pageNumber == 1, leftOut == nil else { return }
        // A listing that goes on may have its records on the next pages.
        if let path = reader.lackedMember, !facts.next.isGiven, facts.hasMore != true { return noteLackedMember(path) }
        guard let path = reader.untoldNull else { return }
        leftOut =
            "\(asked): the reply has null where the records should be (\(path)), and nothing counts as deleted: if that means "
            + "that there are none, say so under responses: {when: {path: \"\(path)\", equals: \"null\"}, action: empty}"
    }

    /// Notes connections inside a list that have more records, which a scan does not request.
    private func noteUnreadRecords() {
        leftOut =
            leftOut
            ?? "\(asked): connections around the records have more of them than the reply contains (hasNextPage is true), so the "
            + "listing is not complete, and nothing counts as deleted: request more of each at once (first: 100), or list the "
            + "records by their parent"
    }

    /// Notes that no element of a list has what the path of the records names.
    private func noteLackedMember(_ path: JSONPath) {
        leftOut =
            "\(asked): no element of the list on the path \(path) has the rest of that path, so records may be missing and nothing "
            + "counts as deleted: correct records, or, if such elements have no records, say so under responses: "
            + "{when: {path: \"\(path)\", missing: true}, action: accept}"
    }

    /// Notes a status by which a reply may lack records, unless a rule of the section says what it means.
    func noteStatus(of response: HTTPResponse, _ facts: PageFacts, isEnd: Bool) {
        guard leftOut == nil, !section.readsOne else { return }
        if response.status == 206, isEnd { noteOnlyPart(response, facts) }
        guard response.status == 202 else { return }
        leftOut =
            "\(asked): the status 202 (Accepted) says that the remote has not finished the request, so the listing is not complete, "
            + "and nothing counts as deleted: sync again later, or, if the reply has all records, say so under responses: "
            + "{status: 202, action: accept}"
    }

    /// Notes a listing that ends at its first page although the status says that the reply is a part.
    ///
    /// Some APIs answer each page with this status, the last one, too. Then the paging decides.
    private func noteOnlyPart(_ response: HTTPResponse, _ facts: PageFacts) {
        guard pageNumber == 1, pager.isComplete, !section.paging.isWhole, facts.hasMore != false, facts.next != .none,
            facts.pages == nil
        else { return }
        // A count that the paging was guessed from may be that of the part.
        let isOwn = detection?.paging["total"]?.hasSuffix(".count") ?? false
        let total = response.header("content-range").flatMap(HeaderNumber.total) ?? (isOwn ? nil : facts.total)
        if let total, facts.count >= total { return }
        leftOut =
            "\(asked): the status 206 (Partial Content) says that the reply is a part, and nothing says how to request the rest, so "
            + "the listing is not complete, and nothing counts as deleted: set paging, or, if the reply has all records, say so "
            + "under responses: {status: 206, action: accept}"
    }

    /// Notes an empty page at the end of numbered pages that has none of the numbers of the pages before, as a reply about a
    /// failure has none.
    func noteNumbers(_ response: HTTPResponse, _ reader: PageReader?, _ facts: PageFacts) {
        // The first page with records has them, and an empty one after it may lack them: no other page is surveyed.
        guard section.paging.isNumbered, (pageNumbers == nil) == (facts.count > 0), let reader,
            let survey = ReplySurvey(reader.body)
        else { return }
        guard let numbers = pageNumbers else {
            let detector = PagingDetector(
                survey: survey, response: response, url: section.url, count: { nil }, given: [],
                records: section.records)
            pageNumbers = detector.ownNumbers
            return
        }
        guard let first = numbers.first, pager.isComplete, leftOut == nil, facts.hasMore == nil, facts.pages == nil,
            !numbers.contains(where: { survey[$0] != .missing || section.validates($0) })
        else { return }
        leftOut =
            "\(asked): the reply has no records and, unlike the pages before, no \(first), as a reply about a failure might, so the "
            + "listing is not complete, and nothing counts as deleted: if it does end this way, say so under responses: "
            + "{when: {path: \"\(first)\", missing: true}, action: empty}"
    }

    /// Notes a reply of lines that does not mark its end; a truncated JSON document would show that by itself.
    func noteEnd(of response: HTTPResponse) {
        guard !response.tellsEnd, openEnd == nil else { return }
        openEnd =
            "\(asked): the reply says neither how long it is nor where it ends, so a truncated one would look the "
            + "same: its records are imported, but missing ones do not count as deleted; have the server send Content-Length, "
            + "or compress (once, not twice), or set http_version: 1.1 if it then sends chunks"
    }

    /// Notes that a request for one object got no object, unless the reply says that the object does not exist.
    ///
    /// - Parameter reader: The reader of the reply's records; nil if the reply has no JSON.
    func noteNoObject(_ response: HTTPResponse, _ reader: PageReader?) {
        guard section.readsOne, pageNumber == 1, leftOut == nil else { return }
        // Only a list is the answer to a search, and an empty one then says that nothing was found.
        if section.searchesByKey, response.status != 202, reader?.isBare != true || reader?.saysZero == true { return }
        leftOut =
            "\(asked): the reply \(response.status) has no object, and does not say that the object does not exist: have the "
            + "remote answer 404 or 410, or, if this reply means that, say so under responses: {when: {path: ..., "
            + "missing: true}, action: empty}"
    }

    /// Notes a sign of failure beside the records of a page.
    func noteFailure(_ sign: String) {
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
