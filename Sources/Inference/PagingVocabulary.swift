/// The words of paging, each once and in order of precedence.
package enum PagingVocabulary {
    /// The objects of a reply that may contain paging information, the root first.
    package static let homes = [
        "$", "$.meta", "$.pagination", "$.paging", "$.page", "$.pageInfo", "$.page_info", "$.links", "$._links",
        "$.info", "$.metadata", "$._meta", "$._metadata", "$.response_metadata", "$.meta.pagination", "$.meta.page",
        "$.meta.cursor", "$.meta.links", "$.pagination.links", "$.meta.pagination.links", "$.cursors", "$.cursor",
        "$.paging.cursors", "$.paging.next", "$.pages",
        "$.response", "$.result", "$.result._links", "$['hydra:view']", "$.view", "$.d", "$.data",
        "$.additional_data.pagination", "$.additional_data", "$.hits",
    ]

    // MARK: Numbers

    /// The number of a page.
    package static let page = [
        PagingTerm("page", [.member, .counted, .asked, .variable, .documented]),
        PagingTerm("_page", .asked),
        PagingTerm("p", [.counted, .asked, .documented, .last]),
        PagingTerm("current_page"),
        PagingTerm("currentPage", [.member, .counted, .documented]),
        PagingTerm("page-number", [.member, .counted, .asked, .variable, .documented]),
        PagingTerm("page[number]", [.counted, .asked, .documented]),
        PagingTerm("number"),
        PagingTerm("page_no"),
        PagingTerm("pageNo", [.member, .counted, .variable, .documented]),
        PagingTerm("current"),
        PagingTerm("pageIndex", [.member, .counted, .asked, .variable, .documented]),
        PagingTerm("page_index"),
        PagingTerm("pagenum", [.member, .documented]),
        PagingTerm("paged pg", [.documented, .last]),
    ]
    /// The number of all pages.
    package static let pages = [
        PagingTerm("total_pages", [.member, .clear], in: "$ meta pagination meta.pagination"),
        PagingTerm("totalPages", [.member, .clear], in: "$ meta pagination page"),
        PagingTerm("pages", in: "$ pagination info paging"),
        PagingTerm("last_page", [.member, .clear], in: "$ meta"),
        PagingTerm("lastPage page-count", [.member, .clear], in: "$"),
        PagingTerm("num_pages", [.member, .clear], in: "$"),
        PagingTerm("numPages", [.member, .clear]),
        PagingTerm("total_page"),
        PagingTerm("nb-pages", [.member, .clear]),
        PagingTerm("pagesCount pages_count"),
        PagingTerm("last-page-number total-page-count page-total max-page", [.member, .clear]),
    ]
    /// The number of the last page, in an object that is named after pages; elsewhere it may be the last record of this
    /// page.
    package static let lastPage = [PagingTerm("last")]
    /// The number of the first record of a page.
    package static let offset = [
        PagingTerm("offset skip start", [.member, .clear, .asked, .variable, .documented]),
        PagingTerm("startAt", [.member, .clear, .asked, .documented]),
        PagingTerm("startIndex start_index", [.member, .clear, .asked, .variable, .documented]),
        PagingTerm("from", [.member, .asked, .documented, .last]),
        PagingTerm("first position", [.member, .asked]),
        PagingTerm("_start", .asked),
        PagingTerm("$skip page[offset]", [.asked, .documented]),
        PagingTerm("startFrom firstResult", [.documented, .last]),
    ]
    /// The size of a page.
    ///
    /// Where it isn't clear, the number may be that of the records on this page.
    package static let size = [
        PagingTerm("per-page page-size", [.member, .clear, .limit, .documented]),
        PagingTerm("page[size]", .documented),
        PagingTerm("limit", [.member, .clear, .limit, .documented]),
        PagingTerm("size", [.member, .limit, .documented]),
        PagingTerm("count", [.limit, .documented]),
        PagingTerm("itemsPerPage items_per_page max-results", [.member, .clear, .limit, .documented]),
        PagingTerm("max", [.limit, .documented]),
        PagingTerm("pagelen", .documented),
        PagingTerm("hitsPerPage", [.member, .clear, .limit, .documented]),
        PagingTerm("rows top take", [.member, .limit, .documented]),
        PagingTerm("$top", .documented),
        PagingTerm("pagesize", [.member, .clear]),
        PagingTerm("page_limit", [.member, .clear, .limit, .documented]),
        PagingTerm("resultsPerPage recordsPerPage", [.limit, .documented]),
        PagingTerm("page[limit]", .documented),
        PagingTerm("first num", [.limit, .documented]),
        PagingTerm("maxRecords maxItems sysparm_limit", .limit),
    ]
    /// The number of all records.
    ///
    /// Where it isn't clear, the number may be the sum of an order or the number of its items.
    package static let total = [
        PagingTerm("total", in: "$ meta pagination paging meta.pagination"),
        PagingTerm("total-count", [.member, .clear], in: "$ meta pagination"),
        PagingTerm("total-results total_items", [.member, .clear], in: "$"),
        PagingTerm("totalItems", [.member, .clear], in: "$ meta"),
        PagingTerm("count", [.member, .last], in: "$ info"),
        PagingTerm("total-records", [.member, .clear], in: "$"),
        PagingTerm("totalElements", [.member, .clear], in: "$ page"),
        PagingTerm("numFound", [.member, .clear], in: "$"),
        // DataTables also counts the records that the filter of the request leaves out, as recordsTotal and iTotalRecords.
        PagingTerm("recordsFiltered iTotalDisplayRecords", [.member, .clear]),
        PagingTerm("total_entries recordsTotal total_rows totalHits total_hits total_size", [.member, .clear]),
        PagingTerm("totalSize", [.member, .clear], in: "$"),
        PagingTerm("hydra:totalItems", [.member, .clear]),
        PagingTerm("@odata.count", [.member, .clear], in: "$"),
        PagingTerm("nbHits", [.member, .clear]),
        PagingTerm("matches"),
        PagingTerm("numberMatched", [.member, .clear]),
        PagingTerm("hits"),
        PagingTerm("found", [.member, .last]),
        PagingTerm("totalRows", [], in: "$"),
        PagingTerm("num_results", .last, in: "$"),
        PagingTerm("num-results total-rows row-count result-count total-record-count number-of-results", .promise),
        PagingTerm("total-num all-count iTotalRecords", .promise),
    ]
    /// Header fields with the number of all records.
    package static let totalHeaders = ["X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count"]
    /// The number of records that follow.
    package static let remaining = [
        PagingTerm("remaining remainingCount remainingItems remainingItemCount remainingRecords", .promise),
        PagingTerm("results-remaining records-remaining items-remaining", .promise),
    ]

    // MARK: Flags

    /// A flag that is true on all pages except the last one.
    package static let more = [
        PagingTerm("has-more has-next has-next-page more more_data moreResults", [.member, .promise]),
        PagingTerm("is-truncated more_items_in_collection has_more_items", [.member, .promise]),
        PagingTerm("moreAvailable truncated incompleteResults exceededTransferLimit", .promise),
        PagingTerm("have-more have-more-results has-more-results more-results-available more-records", .promise),
    ]
    /// A flag that is true only on the last page.
    ///
    /// Where it isn't clear, it counts if nothing else marks the end.
    package static let done = [
        PagingTerm("end-of-stream", [.member, .clear, .promise]),
        PagingTerm("end-of-records is-end eof", .promise),
        PagingTerm("isLastPage is_last_page", [.member, .clear, .promise]),
        PagingTerm("isLast is_last last-page last done", [.member, .promise]),
    ]

    // MARK: Links and Cursors

    /// A link to the next page, or an object with a link among ``linkParts``.
    package static let nextLink = [
        PagingTerm(
            "next", in: "$ links _links paging pagination meta info pageInfo pagination.links meta.pagination.links"),
        PagingTerm("next_url", in: "$ pagination"),
        PagingTerm("nextUrl next-page-url", in: "$"),
        PagingTerm("next_link"),
        PagingTerm("nextLink", in: "$"),
        PagingTerm("next_href"),
        PagingTerm("next-page", in: "$"),
        PagingTerm("nextRecordsUrl"),
        PagingTerm("@odata.nextLink odata.nextLink @nextLink", in: "$"),
        PagingTerm("__next hydra:next next_uri next_page_uri after_url"),
    ]
    /// The member of an object that is a link, and the last word of a name for a link.
    package static let linkParts = [
        PagingTerm("href", in: "links.next _links.next next"),
        PagingTerm("url"),
        PagingTerm("link", in: "paging.next"),
        PagingTerm("uri"),
    ]
    /// Words that follow `next` in the name of a member that promises more records.
    package static let nextWords = [
        "page", "url", "uri", "link", "href", "cursor", "token", "marker", "key", "offset", "start", "records",
        "continuation", "after", "batch", "recordkey", "skip",
    ]
    /// A cursor in a reply, with the parameter that takes it.
    package static let cursor = [
        PagingTerm("next_cursor", for: "cursor", in: "$ meta response_metadata pagination page"),
        PagingTerm("nextCursor", for: "cursor", in: "$ meta pagination"),
        PagingTerm("cursor_next", for: "cursor"),
        PagingTerm("next_page_token", for: "page_token", in: "$"),
        PagingTerm("nextPageToken", for: "pageToken", in: "$"),
        PagingTerm("NextPageToken", for: "PageToken"),
        PagingTerm("next_token", for: "next_token", in: "$ meta"),
        PagingTerm("nextToken", for: "nextToken", in: "$"),
        PagingTerm("NextToken", for: "NextToken", in: "$"),
        PagingTerm("continuation_token", for: "continuation_token", in: "$"),
        PagingTerm("continuationToken", [.member, .promise], for: "continuationToken", in: "$"),
        PagingTerm("continuation", [.member, .promise], for: "continuation"),
        PagingTerm("next_page_id", for: "page_id"),
        PagingTerm("end_cursor", for: "after", in: "page_info"),
        PagingTerm("endCursor", for: "after", in: "pageInfo"),
        PagingTerm("next-page", [.member, .last], for: "page", in: "$"),
        PagingTerm("next", [], for: "cursor", in: "cursor pagination meta.cursor"),
        PagingTerm("next", [.member, .last], for: "cursor", in: "$"),
        PagingTerm("after", for: "after", in: "paging.cursors paging.next meta.page $"),
        PagingTerm("next_id", for: "cursor"),
        PagingTerm("nextMarker", for: "marker"),
        PagingTerm("NextMarker", [.member, .last], for: "marker", in: "$"),
        PagingTerm("marker", for: "marker", in: "$"),
        PagingTerm("next_marker", [], in: "$"),
        PagingTerm("bookmark", for: "bookmark", in: "$"),
        PagingTerm("scroll_id", [.member, .promise], for: "scroll_id", in: "$"),
        PagingTerm("offset", for: "offset"),
        PagingTerm("cursor", for: "cursor", in: "pagination $"),
        PagingTerm("next-offset", for: "offset"),
        PagingTerm("next_start nextPageStart", for: "start"),
        PagingTerm("next_batch", for: "from"),
        PagingTerm("nextCursorMark", for: "cursorMark"),
        PagingTerm("PaginationToken", [.member, .promise], for: "PaginationToken"),
        PagingTerm("paginationToken", for: "paginationToken"),
        PagingTerm("NextContinuationToken", for: "ContinuationToken"),
        PagingTerm("nextContinuationToken", for: "continuationToken"),
        PagingTerm("LastEvaluatedTableName", for: "ExclusiveStartTableName"),
        PagingTerm("continue", .promise, in: "metadata"),
        PagingTerm("lastEvaluatedKey resumeToken resumptionToken skip-token query-locator", .promise),
    ]
    /// A parameter that takes a cursor, in the order in which to try them.
    package static let cursorParameter = [
        PagingTerm("cursor", [.tried, .begins, .documented]),
        PagingTerm("from", [.tried, .begins, .counts]),
        PagingTerm("next_token", [.tried, .documented]),
        PagingTerm("page-token", [.tried, .begins, .documented]),
        PagingTerm("after", [.tried, .counts, .documented]),
        PagingTerm("start", [.tried, .begins, .counts]),
        // In an API's document, this is more often a credential.
        PagingTerm("token", [.tried, .begins, .documented, .last]),
        PagingTerm("offset", [.tried, .begins, .counts]),
        PagingTerm("marker", [.tried, .begins, .documented]),
        PagingTerm("continuation_token", [.tried, .documented]),
        PagingTerm("since", [.tried, .counts]),
        PagingTerm("continuation nextCursor pageCursor page[after] page[cursor] bookmark next", .documented),
        PagingTerm("startCursor scrollId nextPageToken afterCursor lastEvaluatedKey continue", .documented),
    ]
}
