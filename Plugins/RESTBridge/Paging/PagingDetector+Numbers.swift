internal import BridgeHTTP
internal import BridgeKit

/// Page numbers and offsets that a reply tells.
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
        "totalHits", "hydra:totalItems", "@odata.count", "nbHits", "matches", "numberMatched",
    ]
    private static let sizeNames = [
        "per_page", "perPage", "page_size", "pageSize", "limit", "size", "itemsPerPage", "items_per_page", "maxResults",
        "max_results", "hitsPerPage", "rows", "top", "take", "pagesize", "page_limit",
    ]
    static let offsetNames = [
        "offset", "skip", "start", "startAt", "startIndex", "start_index", "from", "first", "position",
    ]

    /// Names of what a page holds at most, and not of what this one holds.
    private static let pageSizeNames = sizeNames.filter { !["size", "rows", "top", "take"].contains($0) }
    private static let plainOffsetNames: Set<String> = [
        "offset", "skip", "start", "startAt", "startIndex", "start_index",
    ]

    /// Whether the records stand in the reply, and the reply itself is none.
    var isListed: Bool { survey?.isArray == false && !recordsNames.isEmpty }

    func byNumber() -> Detected? {
        guard let survey else { return nil }
        let more = hasMore
        for home in homes {
            func find(_ names: [String]) -> (name: String, path: String, value: Int)? {
                for name in names {
                    let path = Self.member(home, name)
                    if let value = survey[path].integer, value >= 0 { return (name, path, value) }
                }
                return nil
            }
            let total = find(Self.totalNames)
            let size = find(Self.sizeNames)
            // Jira and Spring, which say whether this is the last page; an empty one ends the walk.
            let last = flag(Self.doneNames, in: [home])
            let goesOn = last?.value == false
            // Where nothing tells the end, a page that is not full does.
            let full = isListed ? find(Self.pageSizeNames) : nil
            if let offset = find(Self.offsetNames),
                total != nil || more != nil || goesOn
                    || full != nil && Self.plainOffsetNames.contains(offset.name),
                offset.value == 0 || given.contains(offset.name) || size != nil
            {
                // OpenSearch and SCIM count from 1.
                let start = offset.value == 1 && !given.contains(offset.name) ? 1 : 0
                // CouchDB says where a page begins by another name than it takes.
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
                return Detected(members: members, first: .offset(offset.value))
            }
            let page = find(Self.pageNames)
            let pages = find(Self.pagesNames)
            let isCounted = total != nil && (size != nil || page?.name.lowercased().contains("page") ?? false)
            guard page != nil || pages != nil, pages != nil || isCounted || more != nil || goesOn || full != nil
            else { continue }
            if pages == nil, page == nil { continue }
            let number = page?.value ?? 1
            // A page object of Spring counts from 0, whatever its parameter's name is.
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
            return Detected(members: members, first: .page(number))
        }
        return nil
    }
}

/// Numbers in header fields.
enum HeaderNumber {
    /// A number as it stands, or the total of a Content-Range (RFC 9110, section 14.4).
    static func total(_ text: String) -> Int? {
        (Int(text.filter { $0 != " " }) ?? text.split(separator: "/").last.flatMap { Int($0) })?.countable
    }
}
