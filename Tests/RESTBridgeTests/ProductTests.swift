import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Listings in the style of well-known products, each with something that makes it hard to scan.
@Suite struct ProductTests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("products.py") }

    init() throws { server = try Self.shared.get() }

    private func scanned(_ section: Literal, cursor: String? = nil) throws -> Scan {
        try Scan(source(RESTBridgeTests.bridge(["url": .text(server.url)]), section, cursor: cursor))
    }

    @Test(arguments: [
        (
            "/wiki/rest/api/content", "{style: next_url, path: $._links.next, base: $._links.base}"
        ),
        ("/wiki/api/v2/pages", "{style: next_url, path: $._links.next, base: $._links.base}"),
        (
            "/bitbucket/rest/api/1.0/projects",
            "{style: cursor, path: $.nextPageStart, parameter: start, done: $.isLastPage}"
        ),
        ("/api/v2/incremental/tickets.json", "{style: next_url, path: $.next_page, done: $.end_of_stream}"),
        ("/api/v2/incremental/tickets/cursor.json", "{style: next_url, path: $.after_url, done: $.end_of_stream}"),
        ("/2010-04-01/Accounts/AC1/Calls.json", "{style: next_url, path: $.next_page_uri}"),
        (
            "/v1/persons",
            "{style: cursor, path: $.additional_data.pagination.next_start, parameter: start, "
                + "has_more: $.additional_data.pagination.more_items_in_collection}"
        ),
        (
            "/api/articles",
            "{style: page, page_parameter: pagination[page], start: 1, pages: $.meta.pagination.pageCount}"
        ),
        ("/api/collections/posts/records", "{style: page, page_parameter: page, start: 1, size: 10}"),
        ("/rpc/films", "{style: offset, offset_parameter: offset}"),
        ("/api/v2/team/1/task", "{style: page, page_parameter: page, start: 0, done: $.last_page}"),
        ("/couch/_all_docs?limit=10", "{style: offset, offset_parameter: skip, start: 0, total: $.total_rows}"),
        (
            "/solr/films/select?q=*:*",
            "{style: offset, offset_parameter: start, start: 0, total: $.response.numFound}"
        ),
        ("/services/data/v58.0/query", "{style: next_url, path: $.nextRecordsUrl}"),
        ("/scim/v2/Users", "{style: offset, offset_parameter: startIndex, start: 1, total: $.totalResults}"),
        ("/api.xro/2.0/Invoices", "{style: page, page_parameter: page, start: 1, pages: $.pagination.pageCount}"),
        ("/v1/billing/plans", "{style: next_url, path: $.links[?@.rel=='next'].href}"),
        ("/v2/users", "{style: cursor, path: $.next_page_token, parameter: next_page_token}"),
        ("/api/now/table/incident", "{style: link_header}"),
        ("/framework/cursor/", "{style: next_url, path: $.next}"),
        ("/v1/files", "{style: cursor, path: $.last_id, parameter: after, has_more: $.has_more}"),
        ("/v1/messages/batches", "{style: cursor, path: $.last_id, parameter: after_id, has_more: $.has_more}"),
        ("/org/_apis/projects", "{style: cursor, header: X-MS-ContinuationToken, parameter: continuationToken}"),
        ("/ghost/api/content/posts/", "{style: cursor, path: $.meta.pagination.next, parameter: page}"),
        ("/json-server/posts?_page=1", "{style: cursor, path: $.next, parameter: _page}"),
    ])
    func `a path is enough`(path: String, paging: String) throws {
        let scan = try scanned(["path": .text(path)])
        #expect(scan.pages.first?.metadata["paging"] == paging)
        #expect(scan.records.count == 25)
        #expect(Set(scan.records).count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.isEmpty)
        let cursor = try #require(scan.pages[1].cursor)
        #expect(try scanned(["path": .text(path)], cursor: cursor).records == Array(scan.records.suffix(5)))
    }

    @Test func `an offset is tried where the reply has only a total, and a rule saves the request`() throws {
        let found = try scanned(["path": "/3.0/lists"])
        #expect(Set(found.records).count == 25)
        #expect(found.last?.isComplete == true)
        #expect(found.last?.isPositional == true)
        #expect(
            found.pages.first?.metadata["paging"] == "{style: offset, offset_parameter: offset, total: $.total_items}")
        let cursor = try #require(found.pages[0].cursor)
        #expect(try scanned(["path": "/3.0/lists"], cursor: cursor).records == Array(found.records.suffix(15)))
        let rule: Literal = ["style": "offset", "limit_parameter": "count", "size": 7, "total": "$.total_items"]
        let all = try scanned(["path": "/3.0/lists", "paging": rule])
        #expect(Set(all.records).count == 25)
        #expect(all.last?.isComplete == true)
        #expect(try scanned(["path": "/json-server/posts"]).records.count == 25)
    }

    @Test func `a cursor that is an object goes into the next body, found or said`() throws {
        let body: Literal = ["TableName": "Users"]
        let found = try scanned(["path": "/dynamo", "body": body])
        #expect(Set(found.records).count == 25)
        #expect(found.last?.isComplete == true)
        #expect(
            found.pages[0].metadata["paging"]
                == "{style: cursor, path: $.LastEvaluatedKey, parameter: ExclusiveStartKey, in: body}"
                || found.pages[0].metadata["paging"]
                    == "{style: cursor, path: $.LastEvaluatedKey, parameter: ExclusiveStartKey}"
        )
        let rule: Literal = ["style": "cursor", "path": "$.LastEvaluatedKey", "parameter": "ExclusiveStartKey"]
        let said = try scanned(["path": "/dynamo", "body": body, "records": "$.Items", "paging": rule])
        #expect(Set(said.records).count == 25)
        // A scan that goes on has the object in its cursor.
        let cursor = try #require(said.pages[0].cursor)
        #expect(cursor == #"p2 json:{"id":{"N":"10"}}"#)
        let rest = try scanned(
            ["path": "/dynamo", "body": body, "records": "$.Items", "paging": rule], cursor: cursor)
        #expect(rest.records == Array(said.records.suffix(15)))
    }

    @Test func `the id of a JSON-RPC reply is not a record's, and its error is not a record`() throws {
        func body(_ token: Literal) -> Literal {
            ["path": "/api_jsonrpc.php", "body": ["jsonrpc": "2.0", "id": 1, "params": ["auth": token]]]
        }
        #expect(try scanned(body("t")).records.count == 25)
        let error = try bridgeError { _ = try scanned(body("x")) }
        #expect(error.code == .remote)
        #expect(error.remote == "Invalid params.")
    }

    @Test func `a cursor goes into the variable that the query has for it`() throws {
        let query: Literal = "query($from: String) { books(first: 10, after: $from) { edges { node { id } } } }"
        let scan = try scanned(["path": "/relay", "graphql": ["query": query]])
        #expect(Set(scan.records).count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages[0].metadata["paging"]?.contains("parameter: variables.from") == true)
    }

    @Test func `search_after takes the last record's sort values`() throws {
        let section: Literal = [
            "path": "/elastic/_search", "body": ["sort": ["id"], "size": 10], "records": "$.hits.hits",
            "paging": ["style": "keyset", "field": "sort", "parameter": "search_after"],
        ]
        let scan = try scanned(section)
        #expect(Set(scan.records).count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages[0].cursor == #"p2 json:[10,"b10"]"#)
    }

    @Test func `a scroll and a folder go on at another path by their cursor alone`() throws {
        let scroll: Literal = [
            "path": "/elastic/_search?scroll=1m", "body": ["size": 10], "records": "$.hits.hits",
            "paging": [
                "style": "cursor", "path": "$._scroll_id", "parameter": "scroll_id",
                "next_path": "/elastic/_search/scroll", "next_body": ["scroll": "1m"],
            ],
        ]
        let found = try scanned(scroll)
        #expect(found.records.count == 25)
        #expect(found.last?.isComplete == true)
        let folder: Literal = [
            "path": "/2/files/list_folder", "body": ["path": ""],
            "paging": [
                "style": "cursor", "path": "$.cursor", "parameter": "cursor", "has_more": "$.has_more",
                "next_path": "/2/files/list_folder/continue",
            ],
        ]
        let files = try scanned(folder)
        #expect(Set(files.records).count == 25)
        #expect(files.last?.isComplete == true)
        let error = try bridgeError {
            _ = try scanned(["path": "/x", "paging": ["style": "cursor", "path": "$.c", "next_body": [:]]])
        }
        #expect(error.message == "User: paging.next_body without paging.next_path")
    }

    // MARK: writes

    private func write(
        _ operation: WriteRequest.Operation, _ section: Literal, key: Literal, values: Literal = [:],
        object: Literal = [:], before: Literal = [:]
    ) throws -> String? {
        let writer = RecordBatchWriter()
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: key.options, values: values.options,
            object: object.options)
        request.objectBefore = before.options
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    @Test func `a listing with a slash at its end has objects with one`() throws {
        let section: Literal = ["path": "/django/tasks/", "write": ["update": [:], "delete": [:]]]
        #expect(
            try write(.update, section, key: ["id": 7], values: ["title": "new"]) == #"{"id":7,"title":"new"}"#)
        // 404 would pass for a delete of what is gone.
        _ = try write(.delete, section, key: ["id": 7])
        #expect(try server.events().contains { $0.event == "begin" && $0.path == "/django/tasks/7/" })
    }

    @Test func `the path of an update has the values that the remote knows`() throws {
        let section: Literal = [
            "path": "/couch",
            "write": [
                "update": [
                    "method": "PUT", "format": "json", "path": "/couch/{object.name}",
                    "forced": ["_rev": "{object.rev}"],
                ]
            ],
        ]
        #expect(
            try write(
                .update, section, key: ["id": 1], values: ["name": "n2"], object: ["name": "n2", "rev": "1-a"],
                before: ["name": "n1"]) == #"{"ok":true,"id":"n1","rev":"2-b"}"#)
    }

    @Test func `a value that the remote does not have yet is not part of the path`() throws {
        let section: Literal = [
            "path": "/couch", "write": ["update": ["format": "json", "path": "/couch/{object.name}"]],
        ]
        let error = try bridgeError {
            _ = try write(
                .update, section, key: ["id": 1], values: ["name": "n1"], object: ["name": "n1"], before: ["name": nil])
        }
        #expect(error.message.contains("{object.name} of the path /couch/{object.name} has no value"), "\(error)")
    }

    @Test func `what a write needs of the object stands in its query, headers and forced values`() throws {
        let section: Literal = [
            "path": "/couch",
            "write": [
                "update": [
                    "method": "PUT", "format": "json", "forced": ["_rev": "{object.rev}", "n": "{object.none}"],
                ],
                "delete": ["query": ["rev": "{object.rev}", "batch": "{object.none}"]],
            ],
        ]
        let object: Literal = ["id": "n1", "rev": "1-a"]
        #expect(
            try write(.update, section, key: ["id": "n1"], values: ["text": "new"], object: object)
                == #"{"ok":true,"id":"n1","rev":"2-b"}"#)
        _ = try write(.delete, section, key: ["id": "n1"], object: object)
        #expect(try server.events().contains { $0.event == "begin" && $0.path == "/couch/n1?rev=1-a" })
        let error = try bridgeError {
            _ = try write(.delete, section, key: ["id": "n1"], object: ["id": "n1", "rev": "0-x"])
        }
        #expect(error.code == .conflict)
    }

    @Test func `a write that is refused with status 200 was not done`() throws {
        let rule: Literal = ["update": ["method": "POST", "path": "/slack/chat.update"]]
        let error = try bridgeError {
            _ = try write(.update, ["write": rule], key: ["ts": "1"], values: ["text": "new"])
        }
        #expect(error.code == .remote)
        #expect(!error.isRetryable)
        #expect(error.message == "the update of Note 1: the reply has status 200, but says $.ok is false")
        #expect(error.remote == "message_not_found")
        let accepted: Literal = [
            "write": rule, "responses": [["when": ["path": "$.ok"], "action": "accept"]],
        ]
        _ = try write(.update, accepted, key: ["ts": "1"], values: ["text": "new"])
    }

    @Test func `as many records as were asked for may not be all`() throws {
        let cut = try scanned(["path": "/json-server/posts", "query": ["_limit": 25]])
        #expect(cut.records.count == 25)
        #expect(cut.last?.isComplete == false)
        #expect(cut.warnings.first?.hasPrefix("just the 25 records arrived that _limit=25 requests") == true)
        #expect(try scanned(["path": "/json-server/posts?_limit=26"]).last?.isComplete == true)
        let said = try scanned(["path": "/json-server/posts", "query": ["_limit": 25], "paging": "none"])
        #expect(said.last?.isComplete == true)
    }
}
