internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import Inference

/// The rule of page numbers and offsets in the body.
extension PagingDetector {
    typealias Number = (name: String, path: String, value: Int)

    /// The numbers in one object of a reply.
    private struct Numbers {
        let home: String
        let page: Number?
        let pages: Number?
        let offset: Number?
        let size: Number?
        /// The size of a full page: without a sign of the end, a page with fewer records is the last one.
        let full: Number?
        /// The total, even if it only counts the records of this page.
        let told: Number?
        /// Whether it does.
        let isOwn: Bool
        /// The flag for more records, anywhere in the reply.
        let more: (path: String, value: Bool)?
        /// The flag for the last page, in the form of Jira and Spring.
        let last: (path: String, value: Bool)?

        var total: Number? { isOwn ? nil : told }
        var goesOn: Bool { last?.value == false }
        var names: [String?] { [page?.name, pages?.name, offset?.name, size?.name, total?.name] }
    }

    func numbers() -> DetectedPaging? {
        guard survey != nil else { return nil }
        let more = hasMore
        for home in homes {
            guard let numbers = numbers(in: home, more) else { continue }
            if let detected = offsetPaging(numbers) ?? pagePaging(numbers) { return detected }
        }
        return nil
    }

    private func numbers(in home: String, _ more: (path: String, value: Bool)?) -> Numbers? {
        func find(_ terms: [PagingTerm], _ use: PagingTerm.Uses = .member) -> Number? {
            number(terms.names(use), in: home)
        }
        let page = find(PagingVocabulary.page)
        let pages = find(PagingVocabulary.pages) ?? lastPage(in: home, page)
        let offset = find(PagingVocabulary.offset).flatMap { isWindow($0) ? nil : $0 }
        guard page != nil || pages != nil || offset != nil else { return nil }
        let told = find(PagingVocabulary.total).flatMap { isEstimate($0, in: home) ? nil : $0 }
        let size = find(PagingVocabulary.size)
        return Numbers(
            home: home, page: page, pages: pages, offset: offset, size: size,
            full: isListed ? find(PagingVocabulary.size, .clear) : nil, told: told,
            isOwn: more == nil && told.map { isOfPage($0, limit: size?.value ?? maxPerPage) } ?? false, more: more,
            last: flag(PagingVocabulary.done.names(.member), in: [home]))
    }

    /// Returns the number of the last page, if it stands beside the number of this page.
    private func lastPage(in home: String, _ page: Number?) -> Number? {
        guard let page, Self.isOfPages(home), let last = number(PagingVocabulary.lastPage.names(.member), in: home),
            last.value >= page.value
        else { return nil }
        return last
    }

    /// Whether a number is the start of a time window, which the reply repeats from the request.
    private func isWindow(_ offset: Number) -> Bool {
        guard ["start", "from"].contains(offset.name) else { return false }
        return offset.value >= 946_684_800 || !given.isDisjoint(with: ["end", "stop", "until", "to"])
    }

    private func offsetPaging(_ numbers: Numbers) -> DetectedPaging? {
        guard let offset = numbers.offset,
            numbers.told != nil || numbers.more != nil || numbers.goesOn
                || numbers.full != nil && PagingVocabulary.offset.names(.clear).contains(offset.name),
            offset.value == 0 || given.contains(offset.name) || numbers.size != nil
        else { return nil }
        let vendor = vendor(of: "offset_parameter", in: numbers.home, names: numbers.names)
        // OpenSearch and SCIM count from 1.
        let start = offset.value == 1 && !given.contains(offset.name) ? 1 : 0
        let end = ending(numbers.total.map { ("total", $0.path) }, numbers) { full in
            [("limit_parameter", known(full.name)), ("size", String(max(1, full.value)))]
        }
        return DetectedPaging(
            members: [
                ("style", "offset"), ("offset_parameter", vendor?.member.value ?? known(offset.name)),
                ("start", String(start)),
            ] + end, first: .offset(offset.value), isEndUnknown: numbers.isOwn && numbers.last == nil,
            source: vendor?.name)
    }

    private func pagePaging(_ numbers: Numbers) -> DetectedPaging? {
        let (page, pages) = (numbers.page, numbers.pages)
        let isCounted =
            numbers.told != nil && (numbers.size != nil || page?.name.lowercased().contains("page") ?? false)
        guard page != nil || pages != nil,
            pages != nil || isCounted || numbers.more != nil || numbers.goesOn || numbers.full != nil
        else { return nil }
        let number = page?.value ?? 1
        let asked = PagingVocabulary.page.names(.counted).first { given.contains($0) }
        let vendor = asked == nil ? vendor(of: "page_parameter", in: numbers.home, names: numbers.names) : nil
        let end = ending(pages.map { ("pages", $0.path) } ?? numbers.total.map { ("total", $0.path) }, numbers) {
            [("size", String(max(1, $0.value)))]
        }
        return DetectedPaging(
            members: [
                ("style", "page"), ("page_parameter", asked ?? vendor?.member.value ?? "page"),
                // Page objects of Spring count from 0, whatever the parameter's name.
                ("start", number == 0 ? "0" : "1"),
            ] + end, first: .page(number),
            isEndUnknown: numbers.isOwn && pages == nil && numbers.last == nil, source: vendor?.name)
    }

    /// Returns the signs of the end: the total and the flag for more records, or else the flag for the last page, or
    /// else the size of a full page.
    private func ending(
        _ total: DetectedPaging.Member?, _ numbers: Numbers, size: (Number) -> [DetectedPaging.Member]
    ) -> [DetectedPaging.Member] {
        let counted = Self.ending(total, numbers.more)
        if !counted.isEmpty { return counted }
        return numbers.last.map { [("done", $0.path)] } ?? numbers.full.map(size) ?? []
    }

    static func ending(
        _ total: DetectedPaging.Member?, _ more: (path: String, value: Bool)?
    ) -> [DetectedPaging.Member] {
        (total.map { [$0] } ?? []) + (more.map { [("has_more", $0.path)] } ?? [])
    }

    func number(_ names: [String], in home: String, least: Int = 0) -> Number? {
        for name in names {
            let path = ReplySurvey.member(home, name)
            if let value = survey?[path].integer, value >= least { return (name, path, value) }
        }
        return nil
    }

    /// The paths of the numbers of a page itself, which a page without records has, too: its own number, its offset and its
    /// size.
    var ownNumbers: [String] {
        guard isListed, let survey else { return [] }
        let names = [PagingVocabulary.page, PagingVocabulary.offset, PagingVocabulary.size].flatMap {
            $0.names(.member)
        }
        return homes.flatMap { home in names.map { ReplySurvey.member(home, $0) } }.filter { survey[$0].integer != nil }
    }

    // MARK: Totals

    /// The first total in the body.
    var totalInBody: Number? {
        let names = PagingVocabulary.total.names(.member)
        return homes.lazy.compactMap { number(names, in: $0, least: .min) }.first ?? totalInOtherSpelling
    }

    /// The letters and digits of totals that are known in any spelling, in order of precedence.
    private static let spelledTotals =
        (PagingVocabulary.total.names(.clear) + PagingVocabulary.total.names(.promise) + ["total"]).map(
            PagingTerm.plain)

    /// The total whose name is known in another spelling, such as `TotalCount` or `total-results`.
    private var totalInOtherSpelling: Number? {
        guard isListed, let survey else { return nil }
        let near = Set(homes)
        let totals = survey.findings.compactMap { path, value -> (rank: Int, number: Number)? in
            guard let number = value.integer, let (_, name) = place(of: path, in: near),
                let rank = Self.spelledTotals.firstIndex(of: PagingTerm.plain(name))
            else { return nil }
            return (rank, (name, path, number))
        }
        return totals.min { $0.rank < $1.rank }?.number
    }

    /// The maximum number of records per page, from the body.
    var limitInBody: (name: String, count: Int)? {
        let names = PagingVocabulary.size.names(.clear)
        return homes.lazy.compactMap { number(names, in: $0, least: 1) }.first.map { ($0.name, $0.value) }
    }

    /// Names of numbers that may only count the records of this page, such as iTunes' `resultCount`.
    private static let pageCounts: Set<String> = ["count", "resultcount", "rowcount", "numresults", "numberofresults"]

    /// Whether a total only counts the records of this page, as `count` does in some APIs.
    ///
    /// A page that is not full is the last one in either case.
    ///
    /// - Parameter limit: The maximum number of records per page, if known. Otherwise only `count` and the like are in doubt.
    func isOfPage(_ total: Number, limit: Int?) -> Bool {
        guard total.value > 0,
            limit.map({ total.value >= $0 }) ?? Self.pageCounts.contains(PagingTerm.plain(total.name))
        else { return false }
        return count() == total.value
    }

    /// Whether a reply counts zero records.
    ///
    /// - Parameter use: The names of totals that count.
    static func saysZero(_ survey: ReplySurvey, _ use: PagingTerm.Uses = .member) -> Bool {
        let names = PagingVocabulary.total.names(use)
        return PagingVocabulary.homes.contains { home in
            names.contains { survey[ReplySurvey.member(home, $0)].integer == 0 }
        }
    }

    /// Returns the total that the reply states at the detected place.
    func total(_ detected: DetectedPaging) -> Int? {
        guard let place = detected["total"] else { return nil }
        switch try? ReplyPlace(place, option: "total") {
        case .body: return survey?[place].integer
        case .header(let name): return response.header(name).flatMap(HeaderNumber.total)
        case .headerMember(let name, let path):
            return response.header(name).flatMap { JSONScalar.read([path], in: $0)?.first?.integer }
        case nil: return nil
        }
    }

    /// Returns an offset to try if only a total above the page's count is known: Mailchimp and others take an
    /// undocumented one.
    func byOffset(_ detected: DetectedPaging) -> DetectedPaging? {
        guard detected["style"] == "none", !sendsJSON,
            given.isDisjoint(with: PagingVocabulary.offset.names(.member)), let total = total(detected),
            let count = count(), total > count, let place = detected["total"]
        else { return nil }
        return DetectedPaging(
            members: [("style", "offset"), ("offset_parameter", "offset"), ("total", place)], first: .offset(0))
    }
}
