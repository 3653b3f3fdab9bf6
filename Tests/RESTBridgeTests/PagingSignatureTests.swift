@testable import BridgeHTTP
import BridgeJSON
import Testing
import TestSupport

@testable import RESTBridge

/// The table of signatures: each row and each vendor has a small reply that is recognized as its own.
@Suite struct PagingSignatureTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        var body = #"{"items":[{"id":1}]}"#
        var header: (name: String, value: String)?
        /// The request's query.
        var query = ""
        var sendsJSON = false
        var openVariables: [String] = []
        var records = "$.items"
        /// The paging as a person would write it.
        let paging: String

        var testDescription: String { name }

        func detect() throws -> DetectedPaging? {
            let url = try #require(HTTPURL("https://example.org/items" + (query.isEmpty ? "" : "?" + query)))
            let response = HTTPResponse(
                status: 200, headers: header.map { [$0] } ?? [], url: url.text, lostCredentials: false,
                sessionHeader: nil, redactor: HTTPRedactor(secrets: []))
            var detector = PagingDetector(
                survey: ReplySurvey(HTTPExchange.PaddedBody(body.utf8)), response: response, url: url, count: { 1 },
                given: Set(url.queryNames).union(openVariables), records: try JSONPath(records, option: "records"))
            detector.sendsJSON = sendsJSON
            detector.openVariables = openVariables
            return detector.detect()
        }
    }

    @Test func `each signature and each vendor has a sample`() {
        let names = PagingSignature.table.map(\.name) + PagingVendor.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Self.samples.map(\.name).sorted() == names.sorted())
    }

    @Test(arguments: samples)
    func `a sample is recognized by its own signature`(_ sample: Sample) throws {
        let detected = try #require(try sample.detect())
        #expect(detected.source == sample.name)
        #expect(detected.description == "{\(sample.paging)}")
    }

    @Test func `a reply without a sign is not recognized`() throws {
        #expect(try Sample(name: "", paging: "").detect() == nil)
    }

    @Test(arguments: [
        (
            #"{"items":[{"id":1}],"meta":{"pagination":{"current":1,"last":3}}}"#, "$.items",
            "{style: page, page_parameter: page, start: 1, pages: $.meta.pagination.last}"
        ),
        (
            #"{"items":[{"id":1}],"pagination":{"page":1,"pageTotal":3}}"#, "$.items",
            "{style: page, page_parameter: page, start: 1, pages: $.pagination.pageTotal}"
        ),
        (
            #"{"items":[{"id":1}],"hits":3,"offset":0,"limit":1}"#, "$.items",
            "{style: offset, offset_parameter: offset, start: 0, total: $.hits}"
        ),
        (
            #"{"response":{"docs":[{"id":1}],"meta":{"hits":3,"offset":0}}}"#, "$.response.docs",
            "{style: offset, offset_parameter: offset, start: 0, total: $.response.meta.hits}"
        ),
        (#"{"items":[{"id":1}],"hits":{"total":3}}"#, "$.items", "{style: none, total: $.hits.total}"),
        (#"{"hits":[{"id":1}],"page":1,"last":30}"#, "$.hits", nil),
    ])
    func `counts are recognized under other names, and only as what they are`(
        body: String, records: String, paging: String?
    ) throws {
        #expect(try Sample(name: "", body: body, records: records, paging: "").detect()?.description == paging)
    }

    @Test func `the end cursor of a connection may be a number`() throws {
        let body = #"{"data":{"people":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true,"endCursor":2}}}}"#
        let detected = try Sample(name: "", body: body, records: "$.data.people.nodes", paging: "").detect()
        #expect(detected?["style"] == "cursor" && detected?["path"] == "$.data.people.pageInfo.endCursor")
    }

    private static let samples = links + cursors + products + numbers + headers + requests

    private static let links = [
        Sample(name: "Link header", header: ("Link", #"</2>; rel="next""#), paging: "style: link_header"),
        Sample(
            name: "next link", body: #"{"items":[{"id":1}],"next":"/2"}"#, paging: "style: next_url, path: $.next"),
        Sample(
            name: "Confluence", body: #"{"items":[{"id":1}],"_links":{"next":"/2","base":"https://a.b/wiki"}}"#,
            paging: "style: next_url, path: $._links.next, base: $._links.base"),
        Sample(
            name: "links by rel", body: #"{"items":[{"id":1}],"links":[{"rel":"next","href":"/2"}]}"#,
            paging: "style: next_url, path: $.links[?@.rel=='next'].href"),
        Sample(
            name: "FHIR", body: #"{"items":[{"id":1}],"link":[{"relation":"next","url":"/2"}]}"#,
            paging: "style: next_url, path: $.link[?@.relation=='next'].url"),
        Sample(
            name: "link by rel", body: #"{"items":[{"id":1}],"link":[{"rel":"next","href":"/2"}]}"#,
            paging: "style: next_url, path: $.link[?@.rel=='next'].href"),
        Sample(
            name: "Roundup", body: #"{"items":[{"id":1}],"@links":{"next":[{"rel":"next","uri":"/2"}]}}"#,
            paging: "style: next_url, path: $['@links'].next[?@.rel=='next'].uri"),
        Sample(
            name: "Discourse", body: #"{"items":[{"id":1}],"more_topics_url":"/2"}"#,
            paging: "style: next_url, path: $.more_topics_url"),
        Sample(
            name: "next link of null", body: #"{"items":[{"id":1}],"next":null}"#,
            paging: "style: next_url, path: $.next"),
        Sample(
            name: "MediaWiki", body: #"{"items":[{"id":1}],"continue":{"continue":"-","from":"B"}}"#,
            paging: "style: continue, path: $.continue"),
    ]

    private static let cursors = [
        Sample(
            name: "Kubernetes", body: #"{"items":[{"id":1}],"metadata":{"continue":"x"}}"#,
            paging: "style: cursor, path: $.metadata.continue, parameter: continue"),
        Sample(
            name: "Intercom", body: #"{"items":[{"id":1}],"pages":{"next":{"starting_after":"x"},"total_pages":3}}"#,
            paging: "style: cursor, path: $.pages.next.starting_after, parameter: starting_after"),
        Sample(
            name: "cursor", body: #"{"items":[{"id":1}],"next_cursor":"x"}"#,
            paging: "style: cursor, path: $.next_cursor, parameter: cursor"),
        Sample(
            name: "Twitch", body: #"{"items":[{"id":1}],"pagination":{"cursor":"x"}}"#,
            paging: "style: cursor, path: $.pagination.cursor, parameter: after"),
        Sample(
            name: "Jira", body: #"{"items":[{"id":1}],"nextPageToken":"x","isLast":false}"#,
            paging: "style: cursor, path: $.nextPageToken, parameter: nextPageToken"),
        Sample(
            name: "Notion", body: #"{"items":[{"id":1}],"object":"list","next_cursor":"x"}"#,
            paging: "style: cursor, path: $.next_cursor, parameter: start_cursor"),
        Sample(
            name: "Zoom", body: #"{"items":[{"id":1}],"page_size":1,"next_page_token":"x"}"#,
            paging: "style: cursor, path: $.next_page_token, parameter: next_page_token"),
        Sample(
            name: "OpenAI", body: #"{"items":[{"id":1}],"object":"list","last_id":"x","has_more":true}"#,
            paging: "style: cursor, path: $.last_id, parameter: after, has_more: $.has_more"),
        Sample(
            name: "Anthropic", body: #"{"items":[{"id":1}],"last_id":"x","has_more":true}"#,
            paging: "style: cursor, path: $.last_id, parameter: after_id, has_more: $.has_more"),
        Sample(
            name: "Stripe", body: #"{"items":[{"id":1}],"object":"list","has_more":true}"#,
            paging: "style: keyset, field: id, parameter: starting_after, has_more: $.has_more"),
    ]

    private static let products = [
        Sample(
            name: "DynamoDB", body: #"{"items":[{"id":1}],"LastEvaluatedKey":{"id":{"S":"1"}}}"#, sendsJSON: true,
            paging: "style: cursor, path: $.LastEvaluatedKey, parameter: ExclusiveStartKey"),
        Sample(
            name: "CouchDB changes", body: #"{"items":[{"id":1}],"last_seq":"1-x","pending":3}"#,
            paging: "style: cursor, path: $.last_seq, parameter: since, has_more: $.pending"),
        Sample(
            name: "Matrix", body: #"{"chunk":[{"id":1}],"start":"a","end":"b"}"#, records: "$.chunk",
            paging: "style: cursor, path: $.end, parameter: from"),
        Sample(
            name: "ArcGIS", body: #"{"items":[{"id":1}],"exceededTransferLimit":true}"#,
            paging: "style: offset, offset_parameter: resultOffset, has_more: $.exceededTransferLimit"),
        Sample(
            name: "ArcGIS GeoJSON", body: #"{"items":[{"id":1}],"properties":{"exceededTransferLimit":true}}"#,
            paging: "style: offset, offset_parameter: resultOffset, has_more: $.properties.exceededTransferLimit"),
        Sample(
            name: "Elasticsearch", body: #"{"hits":{"hits":[{"_id":1}],"total":{"value":30,"relation":"eq"}}}"#,
            records: "$.hits.hits", paging: "style: offset, offset_parameter: from, total: $.hits.total.value"),
        Sample(
            name: "Elasticsearch, bounded",
            body: #"{"hits":{"hits":[{"_id":1}],"total":{"value":30,"relation":"gte"}}}"#, records: "$.hits.hits",
            paging: "style: offset, offset_parameter: from"),
        Sample(
            name: "Elasticsearch 6", body: #"{"hits":{"hits":[{"_id":1}],"total":30}}"#, records: "$.hits.hits",
            paging: "style: offset, offset_parameter: from, total: $.hits.total"),
    ]

    private static let numbers = [
        Sample(
            name: "numbers", body: #"{"items":[{"id":1}],"page":1,"total_pages":3}"#,
            paging: "style: page, page_parameter: page, start: 1, pages: $.total_pages"),
        Sample(
            name: "CouchDB", body: #"{"items":[{"id":1}],"offset":0,"total_rows":3}"#,
            paging: "style: offset, offset_parameter: skip, start: 0, total: $.total_rows"),
        Sample(
            name: "Strapi", body: #"{"items":[{"id":1}],"meta":{"pagination":{"start":0,"limit":1,"total":3}}}"#,
            paging: "style: offset, offset_parameter: pagination[start], start: 0, total: $.meta.pagination.total"),
        Sample(
            name: "Strapi, by page",
            body: #"{"items":[{"id":1}],"meta":{"pagination":{"page":1,"pageSize":1,"pageCount":3}}}"#,
            paging: "style: page, page_parameter: pagination[page], start: 1, pages: $.meta.pagination.pageCount"),
    ]

    private static let headers = [
        Sample(
            name: "object in a header field", header: ("X-Pagination", #"{"Page":1,"TotalPages":3}"#),
            paging: "style: page, page_parameter: page, start: 1, pages: X-Pagination.TotalPages"),
        Sample(
            name: "X-Next-Page", header: ("Next-Page", "2"),
            paging: "style: cursor, header: Next-Page, parameter: page"),
        Sample(
            name: "X-Next-Cursor", header: ("X-Next-Cursor", "/2"), paging: "style: next_url, header: X-Next-Cursor"),
        Sample(
            name: "X-Next-Page-Token", header: ("X-Next-Page-Token", "x"),
            paging: "style: cursor, header: X-Next-Page-Token, parameter: page_token"),
        Sample(
            name: "X-Continuation-Token", header: ("X-MS-Continuation", "x"),
            paging: "style: cursor, header: X-MS-Continuation, parameter: continuation_token"),
        Sample(
            name: "X-Next-Token", header: ("X-Nomad-NextToken", "x"),
            paging: "style: cursor, header: X-Nomad-NextToken, parameter: next_token"),
        Sample(
            name: "X-MS-ContinuationToken", header: ("X-MS-ContinuationToken", "x"),
            paging: "style: cursor, header: X-MS-ContinuationToken, parameter: continuationToken"),
        Sample(
            name: "X-Total-Pages", header: ("X-WP-TotalPages", "3"),
            paging: "style: page, page_parameter: page, pages: X-WP-TotalPages"),
        Sample(
            name: "PostgREST", header: ("Content-Range", "0-0/*"), paging: "style: offset, offset_parameter: offset"),
        Sample(
            name: "Content-Range", header: ("Content-Range", "0-0/3"),
            paging: "style: offset, offset_parameter: offset, total: Content-Range"),
    ]

    private static let requests = [
        Sample(
            name: "GraphQL variable", openVariables: ["offset"], paging: "style: offset, offset_parameter: offset"),
        Sample(name: "page in the request", query: "p=0", paging: "style: page, page_parameter: p, start: 0"),
        Sample(name: "offset in the request", query: "_start=0", paging: "style: offset, offset_parameter: _start"),
        Sample(
            name: "flag for more", body: #"{"items":[{"id":1}],"has_more":true}"#,
            paging: "style: page, page_parameter: page, start: 1, has_more: $.has_more"),
        Sample(name: "total", body: #"{"items":[{"id":1}],"total":3}"#, paging: "style: none, total: $.total"),
    ]
}
