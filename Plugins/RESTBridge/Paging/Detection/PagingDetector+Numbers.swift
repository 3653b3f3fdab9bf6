internal import BridgeHTTP
internal import BridgeKit

/// Detection of page numbers and offsets in a reply.
extension PagingDetector {
    private static let pageNames = [
        "page", "current_page", "currentPage", "page_number", "pageNumber", "number", "page_no", "pageNo", "current",
        "pageIndex", "page_index", "pagenum",
    ]
    private static let pagesNames = [
        "total_pages", "totalPages", "pages", "last_page", "lastPage", "page_count", "pageCount", "num_pages",
        "numPages",
        "total_page", "nb_pages", "nbPages", "pagesCount", "pages_count",
    ]
    static let totalNames = [
        "total", "total_count", "totalCount", "total_results", "totalResults", "total_items", "totalItems", "count",
        "total_records", "totalRecords", "totalElements", "numFound", "total_entries", "recordsTotal", "total_rows",
        "totalHits", "total_size", "totalSize", "hydra:totalItems", "@odata.count", "nbHits", "matches",
        "numberMatched",
    ]
    /// Names that always mean a total of records; the others may be the sum of an order or the number of its items.
    static let plainTotalNames = totalNames.filter { !["total", "count", "matches"].contains($0) }

    /// Whether a reply counts zero records.
    static func saysZero(_ survey: ReplySurvey, in names: [String] = totalNames) -> Bool {
        homes.contains { home in names.contains { survey[member(home, $0)].integer == 0 } }
    }

    private static let sizeNames = [
        "per_page", "perPage", "page_size", "pageSize", "limit", "size", "itemsPerPage", "items_per_page", "maxResults",
        "max_results", "hitsPerPage", "rows", "top", "take", "pagesize", "page_limit",
    ]
    static let offsetNames = [
        "offset", "skip", "start", "startAt", "startIndex", "start_index", "from", "first", "position",
    ]

    private func isWindow(_ offset: (name: String, path: String, value: Int)) -> Bool {
        guard ["start", "from"].contains(offset.name) else { return false }
        return offset.value >= 946_684_800 || !given.isDisjoint(with: ["end", "stop", "until", "to"])
    }

    /// Names of the maximum size of a page, excluding names that may be the size of this page.
    private static let pageSizeNames = sizeNames.filter { !["size", "rows", "top", "take"].contains($0) }
    private static let plainOffsetNames: Set<String> = [
        "offset", "skip", "start", "startAt", "startIndex", "start_index",
    ]

    /// Whether the records are inside the reply, instead of being the reply itself.
    var isListed: Bool { survey?.isArray == false && !recordsNames.isEmpty }

    /// Whether a total only counts the records of this page, as `count` does in some APIs.
    ///
    /// A page that is not full is the last one in either case.
    ///
    /// - Parameter limit: The maximum number of records per page, if known. Otherwise only `count` is in doubt.
    func isOfPage(_ total: (name: String, path: String, value: Int), limit: Int?) -> Bool {
        guard total.value > 0, limit.map({ total.value >= $0 }) ?? (total.name == "count") else { return false }
        return count() == total.value
    }

    /// The first total in the body.
    var totalInBody: (name: String, path: String, value: Int)? {
        homes.lazy.compactMap { number(Self.totalNames, in: $0, least: .min) }.first
    }

    /// The maximum number of records per page, from the body.
    var limitInBody: (name: String, count: Int)? {
        homes.lazy.compactMap { number(Self.pageSizeNames, in: $0, least: 1) }.first.map { ($0.name, $0.value) }
    }

    private func number(
        _ names: [String], in home: String, least: Int = 0
    ) -> (name: String, path: String, value: Int)? {
        for name in names {
            let path = Self.member(home, name)
            if let value = survey?[path].integer, value >= least { return (name, path, value) }
        }
        return nil
    }

    /// Returns an offset to try if only a total above the page's count is known: Mailchimp and others take an
    /// undocumented one.
    func byOffset(_ detected: Detected) -> Detected? {
        guard detected.members.contains(where: { $0 == ("style", "none") }), !sendsJSON,
            given.isDisjoint(with: Self.offsetNames), let total = total(detected), let count = count(), total > count,
            let place = detected.members.first(where: { $0.name == "total" })?.value
        else { return nil }
        return Detected(
            members: [("style", "offset"), ("offset_parameter", "offset"), ("total", place)], first: .offset(0))
    }

    /// Returns the total that the reply states at the detected place.
    func total(_ detected: Detected) -> Int? {
        guard let place = detected.members.first(where: { $0.name == "total" })?.value else { return nil }
        switch try? ReplyPlace(place, option: "total") {
        case .body: return survey?[place].integer
        case .header(let name): return response.header(name).flatMap(HeaderNumber.total)
        case .headerMember(let name, let path):
            return response.header(name).flatMap { JSONScalar.read([path], in: $0)?.first?.integer }
        case nil: return nil
        }
    }

    func byNumber() -> Detected? {
        guard survey != nil else { return nil }
        let more = hasMore
        for home in homes {
            func find(_ names: [String]) -> (name: String, path: String, value: Int)? { self.number(names, in: home) }
            let told = find(Self.totalNames)
            let size = find(Self.sizeNames)
            // Jira and Spring have a flag for the last page. An empty page also ends the walk.
            let last = flag(Self.doneNames, in: [home])
            let goesOn = last?.value == false
            // Without a sign of the end, a page that is not full is the last one.
            let full = isListed ? find(Self.pageSizeNames) : nil
            let page = find(Self.pageNames)
            let pages = find(Self.pagesNames)
            // Here the reply repeats the start of a time window, which is not an offset into the listing.
            let offset = find(Self.offsetNames).flatMap { isWindow($0) ? nil : $0 }
            guard page != nil || pages != nil || offset != nil else { continue }
            let isOwn = more == nil && told.map { isOfPage($0, limit: size?.value ?? mostPerPage) } ?? false
            let total = isOwn ? nil : told
            if let offset,
                told != nil || more != nil || goesOn
                    || full != nil && Self.plainOffsetNames.contains(offset.name),
                offset.value == 0 || given.contains(offset.name) || size != nil
            {
                // OpenSearch and SCIM count from 1.
                let start = offset.value == 1 && !given.contains(offset.name) ? 1 : 0
                // CouchDB reports the page's start under another name than its parameter.
                let isCouch = total?.name == "total_rows"
                let isStrapi = home == "$.meta.pagination" && offset.name == "start"
                let parameter = isCouch ? "skip" : isStrapi ? "pagination[start]" : known(offset.name)
                var members = [("style", "offset"), ("offset_parameter", parameter), ("start", String(start))]
                if let total { members.append(("total", total.path)) }
                if let more { members.append(("has_more", more.path)) }
                if total == nil, more == nil {
                    if let last {
                        members.append(("done", last.path))
                    } else if let full {
                        members += [("limit_parameter", known(full.name)), ("size", String(max(1, full.value)))]
                    }
                }
                return Detected(members: members, first: .offset(offset.value), isEndUnknown: isOwn && last == nil)
            }
            let isCounted = told != nil && (size != nil || page?.name.lowercased().contains("page") ?? false)
            guard page != nil || pages != nil, pages != nil || isCounted || more != nil || goesOn || full != nil
            else { continue }
            let number = page?.value ?? 1
            // Page objects of Spring count from 0, whatever the parameter's name.
            let base = number == 0 ? 0 : 1
            let names = [
                "page", "page[number]", "p", "pageNumber", "page_number", "pageNo", "pageIndex", "currentPage",
            ]
            let isStrapi = home == "$.meta.pagination" && pages?.name == "pageCount" && size?.name == "pageSize"
            let parameter = names.first { given.contains($0) } ?? (isStrapi ? "pagination[page]" : "page")
            var members = [("style", "page"), ("page_parameter", parameter), ("start", String(base))]
            if let pages {
                members.append(("pages", pages.path))
            } else if let total {
                members.append(("total", total.path))
            }
            if let more { members.append(("has_more", more.path)) }
            if pages == nil, total == nil, more == nil {
                if let last {
                    members.append(("done", last.path))
                } else if let full {
                    members.append(("size", String(max(1, full.value))))
                }
            }
            return Detected(members: members, first: .page(number), isEndUnknown: isOwn && pages == nil && last == nil)
        }
        return nil
    }
}

/// Numbers in header fields.
enum HeaderNumber {
    /// Returns a plain number, or the total of a Content-Range (RFC 9110, section 14.4).
    static func total(_ text: String) -> Int? {
        (Int(text.filter { $0 != " " }) ?? text.split(separator: "/").last.flatMap { Int($0) })?.countable
    }
}
