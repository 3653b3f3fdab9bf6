import Testing

@testable import AirbyteManifest

@Suite
struct PagingTests {
    private static func paginator(_ strategy: String, token: String = "parameter", size: String? = "limit") -> String {
        let option =
            token == "path"
            ? "{type: RequestPath}" : "{type: RequestOption, inject_into: request_parameter, field_name: \(token)}"
        let sizes = size.map {
            "        page_size_option: {type: RequestOption, inject_into: request_parameter, field_name: \($0)}"
        }
        return """
                  paginator:
                    type: DefaultPaginator
                    page_token_option: \(option)
            \(sizes ?? "")
                    pagination_strategy: \(strategy)
            """
    }

    @Test(arguments: [
        (
            "{type: PageIncrement, page_size: 50, start_from_page: 1}", "page",
            "{style: page, page_parameter: page, start: 1, size_parameter: limit, size: 50}"
        ),
        (
            "{type: OffsetIncrement, page_size: 50}", "skip",
            "{style: offset, offset_parameter: skip, limit_parameter: limit, size: 50}"
        ),
        (
            "{type: CursorPagination, page_size: 50, cursor_value: \"{{ response.meta.next }}\", stop_condition: \"{{ not response.meta.next }}\"}",
            "cursor", "{style: cursor, path: $.meta.next, parameter: cursor, size_parameter: limit, size: 50}"
        ),
        (
            "{type: CursorPagination, cursor_value: \"{{ response.next | tojson }}\", stop_condition: \"{{ not response.next }}\"}",
            "cursor", "{style: cursor, path: $.next, parameter: cursor}"
        ),
        (
            "{type: CursorPagination, cursor_value: \"{{ response['data'][-1]['id'] }}\", stop_condition: \"{{ not response.has_more }}\"}",
            "after", "{style: keyset, field: id, parameter: after, has_more: $.has_more}"
        ),
        (
            "{type: CursorPagination, page_size: 50, cursor_value: \"{{ last_record['id'] }}\", stop_condition: \"{{ last_page_size < 50 }}\"}",
            "after", "{style: keyset, field: id, parameter: after, size_parameter: limit, size: 50}"
        ),
        (
            "{type: CursorPagination, cursor_value: \"{{ response.get('links', {}).get('next') }}\", stop_condition: \"{{ not response.get('links', {}).get('next') }}\"}",
            "path", "{style: next_url, path: $.links.next}"
        ),
        (
            "{type: CursorPagination, cursor_value: \"{{ headers['link']['next']['url'] }}\", stop_condition: \"{{ 'next' not in headers['link'] }}\"}",
            "path", "{style: link_header}"
        ),
        (
            "{type: CursorPagination, page_size: 50, cursor_value: \"{{ response.start + response.max }}\", stop_condition: \"{{ response.start + response.max >= response.total }}\"}",
            "start", "{style: offset, offset_parameter: start, limit_parameter: limit, size: 50, total: $.total}"
        ),
    ])
    func `each strategy has its style`(strategy: String, token: String, expected: String) throws {
        let translated = try Translated(retriever: Self.paginator(strategy, token: token))
        // Long objects have a line for each member.
        let flat = translated.text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        let members = expected.dropFirst().dropLast().split(separator: ", ")
        for member in members { #expect(flat.contains(member), "no \(member) in\n\(translated.text)") }
        #expect(translated.verdict == .carried, "\(translated.report.text)")
    }

    @Test(arguments: [
        ("page + 1", "response.page >= response.pages", "pages: $.pages"),
        ("page + 1", "response.pages <= response.get('page', 0)", "pages: $.pages"),
        ("page + 1 if response.page < response.pages else none", "false", "pages: $.pages"),
        ("page + 1", "response.total >= response.limit", nil), ("page + 1", "response.count <= 0", nil),
        ("page + 1", "response.offset + response.limit >= response.total", nil),
        ("offset + response.limit", "response.offset + response.count >= response.total", "total: $.total"),
        ("offset + response.limit", "response.count >= response.limit", nil),
    ])
    func `only a comparison of the position with its limit is the end`(
        cursor: String, stop: String, expected: String?
    ) throws {
        let strategy =
            "{type: CursorPagination, page_size: 50, cursor_value: \"{{ response.\(cursor) }}\", stop_condition: \"{{ \(stop) }}\"}"
        let translated = try Translated(retriever: Self.paginator(strategy, token: "at"))
        translated.expect(expected ?? "stop_condition {{ \(stop) }} is not carried")
        #expect((translated.text.contains("pages: $") || translated.text.contains("total: $")) == (expected != nil))
    }

    @Test func `the size of a page counts for offsets, even where no parameter sends it`() throws {
        try Translated(
            retriever: """
                      paginator:
                        type: DefaultPaginator
                        pagination_strategy: {type: OffsetIncrement, page_size: 50}
                        page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: skip}
                """
        ).expect("paging: {style: offset, offset_parameter: skip, limit_parameter: '', size: 50}")
    }

    @Test func `without a paginator one reply is all`() throws { try Translated().expect("paging: none") }

    @Test func `a second test of the end is carried, or a doubt`() throws {
        func translated(_ condition: String, value: String = "response.next") throws -> Translated {
            try Translated(
                retriever: Self.paginator(
                    "{type: CursorPagination, cursor_value: \"{{ \(value) }}\", stop_condition: \"{{ \(condition) }}\"}",
                    token: "after", size: nil))
        }
        let both = try translated("not (response.has_more and response.next)")
        both.expect("has_more: $.has_more")
        #expect(both.verdict == .carried)
        try translated("not response.next", value: "response.next if response.more else none").expect(
            "path: $.next", "has_more: $.more")
        #expect(try translated("not response.more or not response.again").verdict == .doubtful)
    }

    @Test(arguments: [
        ("last_page_size == 0", 1), ("not last_page_size", 1), ("last_page_size < 100", 100),
        ("not response.data.items", 1), ("response.data.items | length < 3 or not response.next", 3),
        ("last_page_size <= 4 or last_page_size == 0", 5), ("response.meta.count == 0", 1),
        ("response['totalResults'] < 1", 1),
    ])
    func `a number of records ends a listing by cursors or links`(condition: String, count: Int) throws {
        let strategy =
            "{type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ \(condition) }}\"}"
        for (token, style) in [("after", "style: cursor"), ("path", "style: next_url")] {
            let translated = try Translated(retriever: Self.paginator(strategy, token: token, size: nil))
            translated.expect(style, "end_below: \(count)}")
            #expect(translated.verdict == .carried, "\(translated.report.text)")
        }
    }

    @Test(arguments: [
        "response.meta.remaining == 0", "response.other | length == 0", "response.page >= response.pages",
        "'more' not in response", "last_page_size == 7",
    ])
    func `another end of a listing by cursors is a doubt`(condition: String) throws {
        let strategy =
            "{type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ \(condition) }}\"}"
        for token in ["after", "path"] {
            let translated = try Translated(retriever: Self.paginator(strategy, token: token, size: nil))
            translated.expect("is not carried; a page that names no next one ends the scan")
            #expect(translated.verdict == .doubtful)
        }
    }

    @Test func `the number of records after a filter is a doubt`() throws {
        let strategy =
            "{type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ last_page_size == 0 }}\"}"
        let selector =
            "      record_selector: {extractor: {field_path: [data]}, record_filter: {condition: \"{{ record.a == 'b' }}\"}}\n"
        let translated = try Translated(retriever: selector + Self.paginator(strategy, token: "path", size: nil))
        #expect(translated.verdict == .doubtful && !translated.text.contains("end_below"))
    }

    @Test func `a filter is not applied where the number of records ends the listing`() throws {
        let strategy =
            "{type: CursorPagination, cursor_value: \"{{ response.next }}\", stop_condition: \"{{ response.count == 0 }}\"}"
        let selector =
            "      record_selector: {extractor: {field_path: [data]}, record_filter: {condition: \"{{ record.a == 'b' }}\"}}\n"
        let translated = try Translated(retriever: selector + Self.paginator(strategy, token: "path", size: nil))
        translated.expect("end_below: 1", "records: $.data\n")
        #expect(translated.verdict == .doubtful)
    }

    @Test func `the parameters of the request go with each link, too`() throws {
        let link = "{type: CursorPagination, cursor_value: \"{{ response.next }}\"}"
        let open = "        request_parameters: {state: open}"
        let translated = try Translated(
            retriever: Self.paginator(link, token: "path", size: nil), requester: open)
        translated.expect("paging: {style: next_url, path: $.next, keep_query: true}", "query: {state: open}")
        #expect(translated.verdict == .carried)
        let header = "{type: CursorPagination, cursor_value: \"{{ headers['link']['next']['url'] }}\"}"
        try Translated(retriever: Self.paginator(header, token: "path", size: nil), requester: open).expect(
            "paging: {style: link_header, keep_query: true}")
        let bare = try Translated(retriever: Self.paginator(link, token: "path", size: nil))
        #expect(!bare.text.contains("keep_query"))
        let cursor = try Translated(retriever: Self.paginator(link, token: "after", size: nil), requester: open)
        #expect(!cursor.text.contains("keep_query"))
    }

    @Test func `the parameters of a cursor go with the first page only, if the manifest says so`() throws {
        func translated(token: String, requester: String = "") throws -> Translated {
            try Translated(
                stream: """
                        incremental_sync:
                          type: DatetimeBasedCursor
                          cursor_field: updated_at
                          datetime_format: "%s"
                          start_datetime: "2024-01-01T00:00:00Z"
                          start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
                    """,
                retriever: """
                          ignore_stream_slicer_parameters_on_paginated_requests: true
                    \(Self.paginator("{type: CursorPagination, cursor_value: \"{{ response.next }}\"}", token: token, size: nil))
                    """, requester: requester)
        }
        let link = try translated(token: "path")
        #expect(link.verdict == .carried && !link.text.contains("keep_query"))
        #expect(try translated(token: "after").verdict == .doubtful)
        #expect(
            try translated(token: "path", requester: "        request_parameters: {state: open}").verdict == .doubtful)
    }

    @Test func `a custom strategy is not carried`() throws {
        let translated = try Translated(
            retriever: Self.paginator("{type: CustomPaginationStrategy, class_name: a.B}"))
        #expect(translated.verdict == .notCarried)
        translated.expect("its paging: a.B is custom Python")
    }
}
