/// The table of signatures, in order of precedence.
extension PagingSignature {
    static let table =
        [PagingSignature("Link header", .rule(.linkHeader))] + nextLinks + continuations + cursors + products + numbers
        + headers + requests

    static let nextLinks = [
        PagingSignature("next link", .rule(.linkMember)),
        PagingSignature(
            "links by rel", [.value("$.links[?@.rel=='next'].href")],
            ["style": "next_url", "path": "$.links[?@.rel=='next'].href"]),
        PagingSignature(
            "FHIR", [.value("$.link[?@.relation=='next'].url")],
            ["style": "next_url", "path": "$.link[?@.relation=='next'].url"]),
        PagingSignature(
            "link by rel", [.value("$.link[?@.rel=='next'].href")],
            ["style": "next_url", "path": "$.link[?@.rel=='next'].href"]),
        PagingSignature("Roundup", .rule(.linkRelation)),
        PagingSignature("Discourse", .rule(.linkName)),
        PagingSignature("next link of null", .rule(.noLink)),
    ]

    static let continuations = [
        PagingSignature(
            "MediaWiki", [.object("$.continue"), .value("$.continue.continue")],
            ["style": "continue", "path": "$.continue"])
    ]

    static let cursors = [
        PagingSignature(
            "Kubernetes", [.text("$.metadata.continue")],
            ["style": "cursor", "path": "$.metadata.continue", "parameter": "continue"]),
        // Intercom also counts pages, which cannot be requested by number.
        PagingSignature(
            "Intercom", [.value("$.pages.next.starting_after")],
            ["style": "cursor", "path": "$.pages.next.starting_after", "parameter": "starting_after"]),
        PagingSignature("cursor", .rule(.cursorMember)),
        // OpenAI and Anthropic return the last object's id, and the next page begins after it.
        PagingSignature(
            "OpenAI", [.value("$.last_id"), .equals("$.object", .text("list")), .more],
            ["style": "cursor", "path": "$.last_id", "parameter": "after", "has_more": "flag"]),
        PagingSignature(
            "Anthropic", [.value("$.last_id"), .more],
            ["style": "cursor", "path": "$.last_id", "parameter": "after_id", "has_more": "flag"]),
        // The next page begins after the last object's id.
        PagingSignature(
            "Stripe", [.equals("$.object", .text("list")), .more],
            ["style": "keyset", "field": "id", "parameter": "starting_after", "has_more": "flag"]),
    ]

    static let products = [
        // Also services built on DynamoDB.
        PagingSignature(
            "DynamoDB", [.jsonRequest, .object("$.LastEvaluatedKey")],
            ["style": "cursor", "path": "$.LastEvaluatedKey", "parameter": "ExclusiveStartKey"]),
        // The changes feed counts the remaining changes.
        PagingSignature(
            "CouchDB changes", [.value("$.last_seq"), .integer("$.pending")],
            ["style": "cursor", "path": "$.last_seq", "parameter": "since", "has_more": "$.pending"]),
        // A page contains its start and its end.
        PagingSignature(
            "Matrix", [.array("$.chunk"), .value("$.start"), .value("$.end")],
            ["style": "cursor", "path": "$.end", "parameter": "from"]),
        // The flag is left out on the last page.
        PagingSignature(
            "ArcGIS", [.equals("$.exceededTransferLimit", .bool(true))],
            ["style": "offset", "offset_parameter": "resultOffset", "has_more": "$.exceededTransferLimit"], first: .zero
        ),
        PagingSignature(
            "ArcGIS GeoJSON", [.equals("$.properties.exceededTransferLimit", .bool(true))],
            ["style": "offset", "offset_parameter": "resultOffset", "has_more": "$.properties.exceededTransferLimit"],
            first: .zero),
        // Also OpenSearch. A count limited to a bound ("gte") is not a total.
        PagingSignature(
            "Elasticsearch",
            [
                .array("$.hits.hits"), .missing("$._scroll_id"), .integer("$.hits.total.value"),
                .differs("$.hits.total.relation", .text("gte")),
            ], ["style": "offset", "offset_parameter": "from", "total": "$.hits.total.value"], first: .asked),
        PagingSignature(
            "Elasticsearch, bounded",
            [.array("$.hits.hits"), .missing("$._scroll_id"), .integer("$.hits.total.value")],
            ["style": "offset", "offset_parameter": "from"], first: .asked),
        PagingSignature(
            "Elasticsearch 6", [.array("$.hits.hits"), .missing("$._scroll_id"), .integer("$.hits.total")],
            ["style": "offset", "offset_parameter": "from", "total": "$.hits.total"], first: .asked),
    ]

    static let numbers = [PagingSignature("numbers", .rule(.numbers))]

    static let headers = [
        PagingSignature("object in a header field", .rule(.headerObject)),
        PagingSignature("X-Next-Page", .nextHeader(["X-Next-Page", "Next-Page"], "page")),
        PagingSignature("X-Next-Cursor", .nextHeader(["X-Next-Cursor", "Next-Cursor", "X-Cursor-Next"], "cursor")),
        PagingSignature("X-Next-Page-Token", .nextHeader(["X-Next-Page-Token", "Next-Page-Token"], "page_token")),
        PagingSignature(
            "X-Continuation-Token",
            .nextHeader(["X-Continuation-Token", "Continuation-Token", "X-MS-Continuation"], "continuation_token")),
        PagingSignature("X-Next-Token", .nextHeader(["X-Next-Token", "X-Nomad-NextToken"], "next_token")),
        PagingSignature("X-MS-ContinuationToken", .nextHeader(["X-MS-ContinuationToken"], "continuationToken")),
        PagingSignature(
            "X-Total-Pages",
            .pagesHeader([
                "X-Total-Pages", "X-WP-TotalPages", "X-Page-Count", "X-Pagination-Page-Count", "X-Pages", "Total-Pages",
            ])),
        // Without a requested count, only a page without records marks the end.
        PagingSignature("PostgREST", .rule(.openRange)),
        PagingSignature("Content-Range", .rule(.countedRange)),
    ]

    static let requests = [
        PagingSignature("GraphQL variable", .rule(.variable)),
        PagingSignature("page in the request", .rule(.askedPage)),
        PagingSignature("offset in the request", .rule(.askedOffset)),
        PagingSignature("flag for more", .rule(.bareFlag)),
        PagingSignature("total", .rule(.bareTotal)),
    ]
}

extension PagingVendor {
    /// The vendors whose replies look like those of others.
    static let all = [
        // The next links are relative to a base URL instead of the host.
        PagingVendor(
            name: "Confluence", home: "$._links", evidence: [.origin("$._links.base")],
            member: ("base", "$._links.base")),
        // The cursor comes without any flag.
        PagingVendor(
            name: "Twitch", home: "$.pagination", names: ["cursor"], evidence: [.alone("$.pagination")],
            member: ("parameter", "after")),
        PagingVendor(
            name: "Jira", names: ["nextPageToken"], evidence: [.present("$.isLast")],
            member: ("parameter", "nextPageToken")),
        PagingVendor(
            name: "Notion", names: ["next_cursor"], evidence: [.equals("$.object", .text("list"))],
            member: ("parameter", "start_cursor")),
        PagingVendor(
            name: "Zoom", names: ["next_page_token"], evidence: [.beside("page_size")],
            member: ("parameter", "next_page_token")),
        // The reply states the page's start under another name than the parameter.
        PagingVendor(name: "CouchDB", names: ["total_rows"], member: ("offset_parameter", "skip")),
        PagingVendor(
            name: "Strapi", home: "$.meta.pagination", names: ["start"],
            member: ("offset_parameter", "pagination[start]")),
        PagingVendor(
            name: "Strapi, by page", home: "$.meta.pagination", names: ["pageCount", "pageSize"],
            member: ("page_parameter", "pagination[page]")),
    ]
}
