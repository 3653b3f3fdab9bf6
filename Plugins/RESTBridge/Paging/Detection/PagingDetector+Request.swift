internal import BridgePaging
internal import BridgeHTTP
internal import BridgeKit
internal import Inference

/// The rules of parameters and variables in the request, with the reply's total.
extension PagingDetector {
    /// Detects a GraphQL query that takes an offset or a page number.
    ///
    /// For example `query($offset: Int) { users(offset: $offset) { ... } }`.
    func variable() -> DetectedPaging? {
        let offsets = PagingVocabulary.offset.names(.variable)
        let pages = PagingVocabulary.page.names(.variable)
        guard let name = openVariables.first(where: { offsets.contains($0) || pages.contains($0) }) else { return nil }
        let more = hasMore
        let total = totalInBody.flatMap { more != nil || !isOfPage($0, limit: nil) ? ("total", $0.path) : nil }
        let end = Self.ending(total, more)
        return offsets.contains(name)
            ? DetectedPaging(members: [("style", "offset"), ("offset_parameter", name)] + end, first: .offset(0))
            : DetectedPaging(
                members: [("style", "page"), ("page_parameter", name), ("start", "1")] + end, first: .page(1),
                isStartUnknown: true)
    }

    func askedPage() -> DetectedPaging? {
        guard let (parameter, first) = asked(PagingVocabulary.page) else { return nil }
        return counted(
            [("style", "page"), ("page_parameter", parameter), ("start", String(min(first, 1)))], first: .page(first))
    }

    func askedOffset() -> DetectedPaging? {
        guard let (parameter, first) = asked(PagingVocabulary.offset) else { return nil }
        return counted([("style", "offset"), ("offset_parameter", parameter)], first: .offset(first))
    }

    /// Returns the paging with the reply's total and its flag for more records.
    private func counted(_ members: [DetectedPaging.Member], first: PagePosition) -> DetectedPaging {
        let total = statedTotal
        return DetectedPaging(
            members: members + Self.ending(total.place.map { ("total", $0) }, hasMore), first: first,
            isEndUnknown: total.isOwn)
    }

    /// Numbered pages are most common, and a server that ignores the parameter is detected.
    func bareFlag() -> DetectedPaging? {
        let more = hasMore
        let last =
            isListed ? flag(PagingVocabulary.done.names(.member).filter(Self.mentionsPages), in: homes) : nil
        guard more?.value ?? last.map({ !$0.value }) ?? false, survey?["$._scroll_id"] == .missing else { return nil }
        return DetectedPaging(
            members: [("style", "page"), ("page_parameter", known("page")), ("start", "1")]
                + Self.ending(statedTotal.place.map { ("total", $0) }, more)
                + (more == nil ? last.map { [("done", $0.path)] } ?? [] : []), first: .page(1), isStartUnknown: true)
    }

    /// Whether a flag's name implies numbered pages.
    private static func mentionsPages(_ name: String) -> Bool { name.lowercased().contains("page") }

    /// The pager reports that there is more, but no known way to request it.
    ///
    /// A count of just the records that came, as many as pages often have, says nothing of others.
    func bareTotal() -> DetectedPaging? {
        let stated = statedTotal
        if stated.isOwn, let told = totalInBody, PageSize.isUsual(told.value) { return nil }
        return (stated.place ?? (limit() == nil ? totalInBody?.path : nil)).map {
            DetectedPaging(members: [("style", "none"), ("total", $0)])
        }
    }

    /// The place of the reply's total, and whether the total only counts the records of this page.
    private var statedTotal: (place: String?, isOwn: Bool) {
        if let header = PagingVocabulary.totalHeaders.first(where: { response.header($0).flatMap { Int($0) } != nil }) {
            return (header, false)
        }
        let told = totalInBody
        let isOwn = hasMore == nil && told.map { isOfPage($0, limit: maxPerPage) } ?? false
        return (isOwn ? nil : told?.path, isOwn)
    }

    /// Returns the first number that the request has, in its query or else its body, with the parameter that sets it.
    private func asked(_ terms: [PagingTerm]) -> (parameter: String, value: Int)? {
        terms.names(.asked).lazy.compactMap { name in
            number(name).map { (name, $0) }
                ?? bodyNumbers.first { $0.name == name || $0.name.hasSuffix("." + name) }.map { ($0.name, $0.value) }
        }.first
    }
}
