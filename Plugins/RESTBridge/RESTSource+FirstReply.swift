internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// The detection of facts that the section leaves open: the place of the records, the paging, and the cursor's
/// parameter.
extension RESTSource {
    func prepare(
        _ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, isAccepted: Bool
    ) throws {
        var isAutomatic = false
        if case .automatic = section.paging.style { isAutomatic = true }
        let isSingle = section.paging.isSingle && !section.paging.isWhole && detection == nil
        guard section.records == nil || isAutomatic || isSingle else { return }
        let isPage = RemoteMessage.isPage(Array(body.bytes.prefix(min(body.count, 512))), mediaType: response.mediaType)
        var survey = isPage ? nil : ReplySurvey(body)
        var found: String?
        if section.records == nil, !isAccepted, let survey, !survey.isArray,
            let failure = DisguisedFailure(survey, isSingleObject: true), !section.validates(failure.path),
            try RecordsFinder.isSingle(
                survey, asked: asked, location: response.location, key: section.objectKey)
        {
            throw failure.error(asked: asked, response: response, body: body)
        }
        if section.records == nil, let survey {
            let isEmpty = !isAccepted && EmptyListing.isObject(body) && EmptyListing.isAll(survey)
            let path =
                isEmpty
                ? EmptyListing.records
                : try RecordsFinder.path(
                    survey, asked: asked, location: response.location, hasColumns: section.columns != nil,
                    key: section.objectKey)
            section.records = try JSONPath(path, option: "records")
            if !isEmpty { found = path }
        }
        // What describes the listing stands beside the records, however deep that is.
        if let records = section.records, records.segments.count > 2, survey?.isArray == false {
            survey = ReplySurvey(body, along: records)
        }
        let head = survey?.isArray == true ? ListHead.survey(body, before: section.records) : nil
        if isAutomatic { try detect(head ?? survey, response, body, records: found, isHead: head != nil) }
        try section.checkPaths()
        if isSingle { lookForMore(head ?? survey, response, isHead: head != nil) }
        guard found.map({ $0 != "$" }) ?? false || note != nil else { return }
        let parts = [found.flatMap { $0 == "$" ? nil : "records: \($0)" }, note.map { "paging: \($0)" }].compactMap(
            \.self)
        self.found = parts.joined(separator: ", ")
        log.log(.info, "\(section.entity): found in the first reply: \(parts.joined(separator: ", "))")
    }

    /// Checks whether a reply that the section declares the only one has signs of more records.
    func lookForMore(_ survey: ReplySurvey?, _ response: HTTPResponse, isHead: Bool = false) {
        // A sign and a total do not depend on the parameters of the request.
        let detector = PagingDetector(
            survey: survey, response: response, url: requestURL ?? section.url, count: { nil }, given: [],
            records: isHead ? ListHead.records : section.records)
        func inReply(_ path: String) -> String { isHead ? ListHead.inReply(path) : path }
        pager.noteContradiction(
            sign: detector.signOfMore().map(inReply),
            total: detector.plainTotal().map { (inReply($0.place), $0.count) })
    }

    /// - Parameter isHead: Whether the survey is of the ``ListHead``.
    func detect(
        _ survey: ReplySurvey?, _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?, records: String? = nil,
        isHead: Bool = false
    ) throws {
        var detector = PagingDetector(
            survey: survey, response: response, url: requestURL ?? section.url,
            count: { [records = section.records] in
                guard let body, let records else { return nil }
                return try? PageReader.records(at: records, in: body)?.count
            },
            given: section.givenParameters.union(section.openVariables),
            records: isHead ? ListHead.records : section.records)
        detector.sendsJSON = section.body?.format == .json
        detector.bodyNumbers = section.bodyNumbers
        detector.openVariables = section.openVariables
        func inReply(_ path: String) -> String { isHead ? ListHead.inReply(path) : path }
        guard var detected = detector.detect() else {
            section.paging = PagingRule()
            pager = Pager(
                detected: section.paging, first: position,
                promise: detector.promise().map(inReply) ?? detector.unreadLink(),
                limit: detector.limit(), isUntold: survey != nil && section.preset == nil)
            return
        }
        if let name = section.cursorVariable {
            detected.members = detected.members.map { $0 == ("parameter", "after") ? ("parameter", name) : $0 }
        }
        if let bodyPrefix = RESTSection.bodyPrefix(section.body, section.preset),
            detected.members.contains(where: { $0.name.hasSuffix("parameter") })
        {
            // The detection is stored with the cursor, so it must include where the parameters go.
            let moved = detected.members.filter { $0.name.hasSuffix("parameter") }
            detected.members.removeAll { $0.name.hasSuffix("parameter") }
            detected.members += moved.map { ($0.name, (bodyPrefix + [$0.value]).joined(separator: ".")) }
            detected.members.append(("in", "body"))
        }
        if detected.isStartUnknown, let body, try countsFromZero(detected, body) {
            detected.members = detected.members.map { $0.name == "start" ? ("start", "0") : $0 }
            detected.first = .page(0)
        }
        if let body, let guess = detector.byOffset(detected), takes(guess, body) { detected = guess }
        let (unused, counted) = (detector.unusedTotal(detected), detector.countedTotal(detected))
        detected.members = detected.members.map { ($0.name, inReply($0.value)) }
        func place(_ path: String) throws -> ReplyPlace { try ReplyPlace(inReply(path), option: "total") }
        section.paging = try PagingRule(detected.options, pageSize: nil, bodyPrefix: nil)
        section.statedTotal = try unused.map(place)
        section.countedTotal = try counted.map(place)
        if let first = detected.first { position = first }
        pager = Pager(
            detected: section.paging, first: detected.first,
            promise: section.isUnpaged ? detector.promise().map(inReply) : nil, isEndUnknown: detected.isEndUnknown)
        detection = Detection(paging: detected, records: records)
        note = detected.description
        if let body, let records = section.records, section.preset != .graphQL {
            trial = CursorTrial(
                detected, given: section.givenParameters, records: records, body: body, cursor: cursor(response, body))
        }
    }

    // MARK: A Cursor without a Parameter Name

    /// Returns the cursor of the first reply, with the name of its member or header field.
    private func cursor(
        _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody
    ) -> (value: JSONScalar, member: String?) {
        guard let place = section.paging.next else { return (.missing, nil) }
        let facts = ReplyFacts(section, response) { place in
            place.path.flatMap { JSONScalar.read([$0], in: body)?.first } ?? .missing
        }
        var member: String?
        switch place {
        case .body(let path), .headerMember(_, let path):
            if case .name(let name) = path.segments.last { member = name }
        case .header(let name): member = name
        }
        return (facts.value(place), member)
    }

    /// Returns the body that confirms or refutes the guess, or nil if there is nothing to confirm or the reply means
    /// something else.
    func proof(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> HTTPExchange.PaddedBody? {
        guard trial != nil, pageNumber == 2 else { return nil }
        if [400, 404, 422].contains(response.status), section.responses.isEmpty { return .empty }
        guard (200..<300).contains(response.status), response.status != 204 else { return nil }
        return try exchange.paddedBody()
    }

    func tryNext(_ validated: CursorTrial) throws {
        var next = validated
        trial = next.advance() ? next : nil
        guard var found = detection?.paging else { return }
        found.members = found.members.map { $0.name == "parameter" ? ($0.name, next.name) : $0 }
        section.paging = try PagingRule(found.options, pageSize: nil, bodyPrefix: nil)
        detection?.paging = found
        if let note { self.found = self.found?.replacing(note, with: found.description) }
        note = found.description
        running.drop()
        guard trial != nil else { return }
        log.log(
            .info, "\(section.entity): its cursor is not accepted under that name; trying paging: \(found.description)")
    }

    /// Whether page 1 differs from the unnumbered page, which then was page 0.
    ///
    /// Costs one request. A wrong guess would silently skip a whole page.
    private func countsFromZero(_ detected: DetectedPaging, _ body: HTTPExchange.PaddedBody) throws -> Bool {
        guard let records = section.records, let mine = try PageReader.records(at: records, in: body), mine.count > 0
        else { return false }
        guard let theirs = try probe(.page(1), detected), theirs.count > 0 else { return true }
        return withExtendedLifetime((mine, theirs)) { mine[0].json != theirs[0].json }
    }

    /// Whether the server accepts an undocumented offset, shown by records with other ids.
    ///
    /// Costs one request. A different page does not suffice, since it may contain the time beside the same records.
    private func takes(_ guess: DetectedPaging, _ body: HTTPExchange.PaddedBody) -> Bool {
        guard section.method == "GET", let records = section.records,
            let mine = try? PageReader.records(at: records, in: body), let known = RecordIdentities(mine),
            let theirs = try? probe(.offset(mine.count), guess), let others = RecordIdentities(theirs, by: known.name)
        else { return false }
        return known.values.isDisjoint(with: others.values)
    }

    /// Returns the records of a page requested only for detection, or nil if the page does not exist.
    private func probe(_ position: PagePosition, _ detected: DetectedPaging) throws -> RecordBatch? {
        guard let records = section.records else { return nil }
        let saved = (section, requestURL)
        section.paging = try PagingRule(detected.options, pageSize: nil, bodyPrefix: nil)
        defer { (section, requestURL) = saved }
        let exchange = try start(position)
        try running.attach(exchange)
        defer { running.detach() }
        guard (200..<300).contains(try exchange.response().status) else { return nil }
        return try PageReader.records(at: records, in: exchange.paddedBody())
    }
}
