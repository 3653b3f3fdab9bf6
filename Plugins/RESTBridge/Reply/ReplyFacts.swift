internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Facts beside the records of a reply, from its body or from header fields alone.
struct ReplyFacts {
    let section: RESTSection
    let response: HTTPResponse?
    /// Returns the value at a place of the body; always missing for a reply with one record per line.
    let body: (ReplyPlace) -> JSONScalar

    init(
        _ section: RESTSection, _ response: HTTPResponse?,
        body: @escaping (ReplyPlace) -> JSONScalar = { _ in .missing }
    ) {
        self.section = section
        self.response = response
        self.body = body
    }

    /// Returns the value at a place.
    func value(_ place: ReplyPlace) -> JSONScalar {
        switch place {
        case .header(let name): response?.header(name).map(JSONScalar.text) ?? .missing
        case .headerMember(let name, let path):
            response?.header(name).flatMap { JSONScalar.read([path], in: $0)?.first } ?? .missing
        case .body: body(place)
        }
    }

    /// Returns the facts that paging needs; the caller counts the records.
    func paging() -> PageFacts {
        let rule = section.paging
        var facts = PageFacts()
        facts.total = isBound(rule.total) ? nil : rule.total.flatMap(integer)
        if let place = section.statedTotal, let count = integer(place) { facts.stated = (place.description, count) }
        facts.counted = section.countedTotal.flatMap(integer)
        facts.pages = rule.pages.flatMap(integer)
        facts.hasMore = rule.hasMore.flatMap(saysMore) ?? rule.done.flatMap { value($0).bool.map { !$0 } }
        if let next = rule.next { facts.next = self.next(next) }
        facts.hasToken = delta() != nil
        if let base = rule.base, base.path != nil, let text = value(base).plain { facts.next = facts.next.below(text) }
        if case .linkHeader = rule.style { facts.next = linked() }
        return facts
    }

    /// Returns the next page of the Link header.
    private func linked() -> PageFacts.NextValue {
        guard let response else { return .missing }
        let links = response.all("link")
        if let url = LinkHeader.next(links) { return .value(url) }
        return LinkHeader.unreadable(links).map { .unusable(response.excerpt(of: $0)) } ?? .missing
    }

    /// Returns the place where Elasticsearch says whether the total at a place is exact.
    static func relation(of total: ReplyPlace?) -> ReplyPlace? {
        guard let text = total?.path?.description, text.hasSuffix(".value") else { return nil }
        return try? ReplyPlace(text.dropLast(5) + "relation", option: "total")
    }

    /// Whether a total is only a lower bound.
    private func isBound(_ total: ReplyPlace?) -> Bool {
        Self.relation(of: total).map { value($0) == .text("gte") } ?? false
    }

    /// Returns the metadata that the config asks for.
    func metadata() -> [String: String] {
        var metadata: [String: String] = [:]
        for (name, place) in section.metadata { metadata[name] = value(place).plain }
        return metadata
    }

    /// Returns the remote's token for a later scan.
    func delta() -> String? { section.incremental.flatMap { value($0.token).plain } }

    /// Whether there are more pages.
    ///
    /// Accepts a next URL or cursor in place of a flag: null and an empty text mean no.
    private func saysMore(_ place: ReplyPlace) -> Bool? {
        let value = value(place)
        switch value {
        case .null: return false
        case .text(let text) where text.isEmpty: return false
        // The number of remaining records or pages.
        case .number: return value.integer.map { $0 > 0 }
        case .bool, .text, .array, .object, .missing: return value.bool
        }
    }

    private func integer(_ place: ReplyPlace) -> Int? {
        let value = value(place)
        let number =
            value.integer ?? { if case .header = place { HeaderNumber.total(value.plain ?? "") } else { nil } }()
        return number.map { max($0, 0) }
    }

    private func next(_ place: ReplyPlace) -> PageFacts.NextValue {
        switch value(place) {
        case .missing: if case .body = place { .missing } else { .none }
        case .null, .bool(false): .none
        case .text(let text): text.isEmpty ? .none : .value(text)
        case .number(let text): section.paging.keepsNumbers ? .json(text) : .value(text)
        case .bool(true): .unusable("true")
        case .array: .unusable("an array")
        case .object: .unusable("an object")
        }
    }
}

extension HTTPResponse {
    /// Returns the beginning of a header field's value for a message, without secrets.
    func excerpt(of value: String) -> String { String(redactor.clean(url: value).prefix(200)) }
}
