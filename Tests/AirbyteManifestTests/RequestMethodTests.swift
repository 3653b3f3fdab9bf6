import Testing

@testable import AirbyteManifest

/// The method of requests that have a body only because another component puts something into it.
@Suite
struct RequestMethodTests {
    private static let key =
        "        authenticator: {type: ApiKeyAuthenticator, inject_into: {type: RequestOption, inject_into: body_json, field_path: [key]}, api_token: \"{{ config['api_key'] }}\"}"

    @Test func `a key in the body leaves the method as it is`() throws {
        try Translated(requester: Self.key).expect("body: {key: '{api_key}'}", "method: GET")
        try Translated(requester: Self.key + "\n        http_method: POST").expect("method: POST")
    }

    @Test(arguments: ["GET", "POST"])
    func `a page's number and a time in the body leave the method as it is`(method: String) throws {
        let paged = try Translated(
            retriever: """
                      paginator:
                        type: DefaultPaginator
                        page_token_option: {type: RequestOption, inject_into: body_json, field_path: [page]}
                        pagination_strategy: {type: PageIncrement, page_size: 10}
                """, requester: "        http_method: \(method)")
        paged.expect("method: \(method)", "in: body")
        let timed = try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: updated_at
                      datetime_format: "%s"
                      start_datetime: "2024-01-01T00:00:00Z"
                      start_time_option: {type: RequestOption, inject_into: body_json, field_path: [from]}
                """, requester: "        http_method: \(method)")
        timed.expect("method: \(method)", "body: {from: '{since}'}")
    }

    @Test func `a request without a body has no method`() throws {
        #expect(try !Translated().text.contains("method:"))
    }
}
