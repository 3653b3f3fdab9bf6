extension PagingVocabulary {
    /// The words of paging in the elements of messages that a schema describes.
    ///
    /// Names of elements are compared by ``NameWords/plain(_:)``, in order of precedence. A schema has types and no values,
    /// so this list is stricter than that of replies in places, and more generous in others.
    package enum Elements {
        /// The number of the first record, in a request.
        package static let offsets = [
            "offset", "start", "startindex", "startat", "skip", "first", "firstresult", "startposition", "from",
            "begin",
        ]
        /// The size of a page, in a request.
        package static let sizes = [
            "limit", "count", "maxresults", "pagesize", "max", "size", "top", "numberofrecords", "maxrecords", "rows",
            "length", "itemsperpage", "recordsperpage", "maxcount",
        ]
        /// The number of a page, in a request.
        package static let pages = ["page", "pagenumber", "pageindex", "pageno", "pagenum", "currentpage"]
        /// A cursor, in a request or a reply.
        package static let tokens = [
            "cursor", "token", "nexttoken", "pagetoken", "continuationtoken", "marker", "locator", "querylocator",
            "searchid", "startreference", "pagingtoken", "resumptiontoken", "continuation", "bookmark", "scrollid",
            "pagecookie", "startkey", "exclusivestartkey",
        ]
        /// The cursor of the next page, in a reply.
        package static let nextTokens = ["next", "nextcursor"] + tokens.map { "next" + $0 } + tokens
        /// The number of all records, in a reply.
        package static let totals = [
            "total", "totalcount", "totalrecords", "totalresults", "totalsize", "numberofresults", "recordcount",
            "count", "size", "totalhits", "matches", "totalitems", "totalrows", "totalelements", "totalrecordcount",
            "totalitemsinview", "totalnumberofrecords", "totalnumberofresults", "totalnumberofitems", "numfound",
        ]
        /// A flag that is true on all pages except the last one.
        package static let more = [
            "hasmore", "more", "hasnext", "moreresults", "moreitems", "morerecords", "moreavailable", "hasnextpage",
            "hasmoreresults", "hasmoreitems", "hasmorerecords", "istruncated", "truncated",
            "morehitsavailableindicator",
        ]
        /// The number of records that follow.
        package static let remaining = [
            "remaining", "remainingcount", "remainingitems", "remainingitemcount", "remainingrecords",
            "remainingresults", "resultsremaining", "recordsremaining", "itemsremaining",
        ]
        /// A flag that is true only on the last page.
        package static let done = ["done", "islast", "lastpage", "complete", "islastpage", "includeslastiteminrange"]
    }
}
