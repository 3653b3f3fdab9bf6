import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Listings of well-known shapes over real HTTP, of which the config says the path alone, or little more.
@Suite struct ZooTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo"])
    }

    private func scan(_ section: Literal, cursor: String? = nil, token: String? = nil) throws -> Scan {
        try Scan(
            bridge.fetch(FetchRequest(entity: "User", section: section.options, cursor: cursor, token: token)))
    }

    private func token(of scan: Scan) throws -> String { try #require(scan.last?.token) }

    @Test(arguments: [
        ("github", "{style: link_header}"),
        ("django", "{style: next_url, path: $.next}"),
        ("laravel", "{style: next_url, path: $.links.next}"),
        ("slack", "{style: cursor, path: $.response_metadata.next_cursor, parameter: cursor}"),
        ("stripe", "{style: keyset, field: id, parameter: starting_after, has_more: $.has_more}"),
        ("odata", "{style: next_url, path: $['@odata.nextLink']}"),
        ("hal", "{style: next_url, path: $._links.next.href}"),
        ("spring", "{style: page, page_parameter: page, start: 0, pages: $.totalPages}"),
        ("jira", "{style: offset, offset_parameter: startAt, start: 0, total: $.total}"),
        ("gitlab", "{style: cursor, header: X-Next-Page, parameter: page}"),
        ("google", "{style: cursor, path: $.nextPageToken, parameter: pageToken}"),
        ("dummyjson", "{style: offset, offset_parameter: skip, start: 0, total: $.total}"),
        ("fhir", "{style: next_url, path: $.link[?@.relation=='next'].url}"),
        ("stac", "{style: next_url, path: $.links[?@.rel=='next'].href}"),
        ("wordpress", "{style: page, page_parameter: page, pages: X-WP-TotalPages}"),
        ("rickandmorty", "{style: next_url, path: $.info.next}"),
        ("postgrest", "{style: offset, offset_parameter: offset, total: Content-Range}"),
        ("hydra", "{style: next_url, path: $['hydra:view']['hydra:next']}"),
        ("hubspot", "{style: next_url, path: $.paging.next.link}"),
        ("airtable", "{style: cursor, path: $.offset, parameter: offset}"),
        ("scim", "{style: offset, offset_parameter: startIndex, start: 1, total: $.totalResults}"),
        ("salesforce", "{style: next_url, path: $.nextRecordsUrl}"),
        ("strapi", "{style: page, page_parameter: pagination[page], start: 1, pages: $.meta.pagination.pageCount}"),
        ("roundup", "{style: next_url, path: $.data['@links'].next[?@.rel=='next'].uri}"),
        ("smorest", "{style: page, page_parameter: page, start: 1, pages: X-Pagination.total_pages}"),
        ("aspnet", "{style: next_url, path: Paging-Headers.NextPageLink}"),
        ("has-more", "{style: page, page_parameter: page, start: 1, has_more: $.has_more}"),
    ])
    func `a path is enough: records and paging are found in the first reply`(name: String, paging: String) throws {
        let scan = try scan(["path": .text(name)])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages.count == 3)
        #expect(scan.pages.first?.metadata["paging"] == paging)
        #expect(scan.warnings.isEmpty)
        // A scan that was stopped goes on with what was found, without finding it again.
        let cursor: String = try #require(scan.pages[1].cursor)
        let rest = try self.scan(["path": .text(name)], cursor: cursor)
        #expect(rest.ids == Array(21...25))
        #expect(rest.last?.isEnd == true)
    }

    @Test func `a bookmark in a POST body ends with a page without records`() throws {
        let scan = try scan(["path": "mango", "body": ["selector": ["type": "user"]]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test(
        arguments: [
            ("prefect", ["limit": 10, "offset": 0], "offset"),
            ("nested", ["paging": ["limit": 10, "offset": 0]], "paging.offset"),
        ] as [(String, Literal, String)])
    func `an offset that the JSON body has is counted on`(path: String, body: Literal, parameter: String) throws {
        let scan = try scan(["path": .text(path), "body": body])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(
            scan.pages.first?.metadata["paging"] == "{style: offset, offset_parameter: \(parameter), in: body}")
    }

    @Test func `a full page by the limit in a JSON body may not be all`() throws {
        let scan = try scan(["path": "prefect", "body": ["limit": 10]])
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings.first?.hasPrefix("just the 10 records arrived that limit=10 requests") == true)
    }

    @Test func `an offset is tried where records have keys by other names than id`() throws {
        let scan = try scan(["path": "buildbot?limit=10"])
        #expect(scan.records.count == 25)
        #expect(Set(scan.records).count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(
            scan.pages.first?.metadata["paging"]
                == "{style: offset, offset_parameter: offset, total: $.meta.total}")
    }

    @Test func `a cursor goes into the JSON body that the request has`() throws {
        let scan = try scan(["path": "notion", "body": ["page_size": 10]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test(
        arguments: [
            ["style": "cursor", "path": "$.next", "parameter": "after"],
            ["style": "keyset", "field": "id", "parameter": "after"],
        ] as [Literal])
    func `a cursor or a key that is a number stays one in a body`(paging: Literal) throws {
        func section(_ paging: Literal) -> Literal {
            ["path": "counted-cursor", "body": ["sort": "id"], "records": "$.items", "paging": paging]
        }
        let first = try scan(section(paging))
        #expect(first.ids == Array(1...25))
        #expect(first.last?.isComplete == true)
        #expect(first.pages[0].cursor == "p2 json:10")
        let text = try bridgeError { _ = try scan(section(paging.adding(["template": "{value}"]))) }
        #expect(text.remote == #"{"error": "after must be a number"}"#)
    }

    @Test func `an offset goes to its place in the body`() throws {
        let scan = try scan([
            "path": "search", "records": "$.hits", "body": ["query": ["all": true]],
            "paging": [
                "style": "offset", "offset_parameter": "paging.offset", "limit_parameter": "paging.limit", "size": 10,
                "total": "$.sum",
            ],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a cursor goes from a header to a header`() throws {
        let scan = try scan([
            "path": "header-cursor",
            "paging": ["style": "cursor", "header": "X-Go-On", "parameter": "X-Cursor", "in": "header"],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a max_id that is part of the next page gives each record once more and ends`() throws {
        let scan = try scan(["path": "max-id", "paging": ["style": "max_id"]])
        #expect(Set(scan.ids) == Set(1...25))
        #expect(scan.last?.isComplete == true)
        let exact = try self.scan(["path": "max-id", "paging": ["style": "max_id", "add": -1]])
        #expect(exact.ids == Array((1...25).reversed()))
        #expect(exact.last?.isComplete == true)
    }

    @Test func `a since_id ends with an empty page`() throws {
        let scan = try scan(["path": "since-id", "paging": ["style": "since_id"]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.count == 4)
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: ["only-total", "only-total?clock=1", "only-total?refuse=1", "only-total?overlap=1"])
    func `a total without a next page is not a complete listing, and is reported`(path: String) throws {
        let scan = try scan(["path": .text(path)])
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings == ["the reply says 25 records and holds 10: set paging to read them all"])
    }

    @Test func `a page in the query of the config is counted up`() throws {
        let scan = try scan(["path": "query-page", "query": ["page": 1]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: [
        "query($after: String) { users(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }",
        "query($after: String) { users(after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }",
        "query($after: Int) { users(after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }",
    ])
    func `a GraphQL connection is read by its query alone`(query: String) throws {
        let scan = try scan(["path": "graphql", "graphql": ["query": .text(query)]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `offset and limit may be variables of a GraphQL query`() throws {
        let scan = try scan([
            "path": "graphql-offset", "graphql": ["query": "query($offset: Int, $limit: Int) { users { id } }"],
            "paging": ["style": "offset", "size": 10],
        ])
        #expect(scan.ids == Array(1...25))
    }

    @Test(arguments: [
        (
            "query($page: Int) { users(page: $page) { id } }",
            "{style: page, start: 1, page_parameter: variables.page, in: body}"
        ),
        (
            "query($skip: Int = 0, $take: Int) { users(skip: $skip, take: $take) { id } }",
            "{style: offset, offset_parameter: variables.skip, in: body}"
        ),
    ])
    func `a page or an offset that a GraphQL query declares is counted up`(query: String, paging: String) throws {
        let scan = try scan(["path": "graphql-page", "graphql": ["query": .text(query)]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages.first?.metadata["paging"] == paging)
    }

    @Test func `a list inside a record that continues elsewhere is reported`() throws {
        let query: Literal = ["query": "query($after: String) { users(after: $after) { nodes { id } } }"]
        let scan = try scan(["path": "graphql-nested", "graphql": query])
        #expect(scan.ids.last == 25)
        #expect(scan.warnings.count == 1)
        #expect(
            scan.warnings.first?.contains("connections inside the records have more than the reply contains") == true)
        #expect(try self.scan(["path": "graphql", "graphql": query]).warnings.isEmpty)
    }

    @Test func `a page may be a part of a parameter's value`() throws {
        let scan = try scan([
            "path": "rison",
            "paging": [
                "style": "page", "page_parameter": "q", "template": "(page:{value},page_size:10)", "start": 0,
                "size": 10,
                "total": "$.count",
            ],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.count == 3)
        #expect(scan.last?.isComplete == true)
    }

    @Test func `errors in a GraphQL reply with status 200 are a failure`() throws {
        let error = try bridgeError { _ = try scan(["path": "graphql", "graphql": ["query": "{ fail }"]]) }
        #expect(error.code == .remote)
        #expect(error.remote == "no field `fail`")
        #expect(error.message == "page 1 of User: the GraphQL reply holds errors (GRAPHQL_VALIDATION_FAILED)")
    }

    @Test func `errors beside data may be accepted, and such a listing is not complete`() throws {
        let graphQL: Literal = ["query": "query($after: String) { users(after: $after) { nodes { id } } partial }"]
        let error = try bridgeError { _ = try self.scan(["path": "graphql", "graphql": graphQL]) }
        #expect(error.code == .permission)
        let accepted: Literal = [
            ["when": ["path": "$.errors[0].extensions.code", "equals": "FORBIDDEN"], "action": "accept"]
        ]
        let scan = try self.scan(["path": "graphql", "graphql": graphQL, "responses": accepted])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == false && scan.last?.token == nil)
        // Whoever went on from the second page would not know what the first one lacked.
        #expect(scan.pages.nonEmptyAllSatisfy { $0.cursor == nil })
        #expect(
            scan.warnings == [
                "page 1 of User: the GraphQL reply holds errors (FORBIDDEN): user 99 is not yours; responses accepts it, and "
                    + "nothing counts as deleted"
            ], "\(scan.warnings)")
    }

    @Test func `what is included stands at each place, but never in itself`() throws {
        let scan = try scan(["path": "compound", "preset": "json_api"])
        #expect(
            scan.records[0]
                == #"{"type":"articles","id":"0","title":"x","author":{"type":"people","id":"0","name":"Person 0","groups":["#
                + [0, 1].map(Self.wholeGroup).joined(separator: ",") + "]}}")
        #expect(scan.warnings.isEmpty)
    }

    private static func wholeGroup(_ id: Int) -> String {
        #"{"type":"groups","id":"\#(id)","name":"Group \#(id)","members":[{"type":"people","id":"0"},"#
            + [1, 2].map(member).joined(separator: ",") + "]}"
    }

    private static func member(_ id: Int) -> String {
        #"{"type":"people","id":"\#(id)","name":"Person \#(id)","#
            + #""groups":[{"type":"groups","id":"0"},{"type":"groups","id":"1"}]}"#
    }

    @Test func `a small page whose resources stand in one another makes no large one`() throws {
        let scan = try scan(["path": "compound?people=100&groups=20", "preset": "json_api"])
        #expect(scan.records.count == 100)
        #expect(scan.records.reduce(0) { $0 + $1.utf8.count } < 20 << 20)
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.count == 1)
        #expect(scan.warnings.first?.contains("appear as type and id only") == true)
        // Each author is there whole, and each group was.
        for (number, record) in scan.records.enumerated() {
            let author = #""author":{"type":"people","id":"\#(number)","name":"Person \#(number)""#
            #expect(record.hasPrefix(#"{"type":"articles","id":"\#(number)","title":"x",\#(author)"#))
        }
        #expect(scan.records[0].utf8.count > 1 << 20)
        #expect(scan.records[99].hasSuffix(#"{"type":"groups","id":"19"}]}}"#))
    }

    @Test func `what a reply leaves out is false or empty, where the config says so`() throws {
        let paging: Literal = [
            "style": "keyset", "field": "mod_revision", "add": 1, "parameter": "min_mod_revision", "has_more": "$.more",
        ]
        let scan = try scan(["path": "etcd", "body": ["limit": 10], "paging": paging, "records": "$.kvs"])
        #expect(scan.records.count == 25)
        #expect(scan.last?.isComplete == true && scan.pages.count == 3)

        let section: Literal.Members = [
            ("path", "etcd"), ("body", ["empty": true]), ("paging", paging), ("records", "$.kvs"),
        ]
        let error = try bridgeError { _ = try self.scan(.object(section)) }
        #expect(error.message == "page 1 of User: the reply has nothing at $.kvs")
        let rule: Literal = ["when": ["path": "$.kvs", "missing": true], "action": "empty"]
        let empty = try self.scan(.object(section + [("responses", [rule])]))
        #expect(empty.records.isEmpty && empty.last?.isComplete == true)
        // The rule does not speak of a reply that has it.
        let full = try self.scan(
            ["path": "etcd", "body": ["limit": 10], "paging": paging, "records": "$.kvs", "responses": [rule]])
        #expect(full.records.count == 25)
    }

    @Test func `a record per line, and a broken line goes to quarantine alone`() throws {
        #expect(try scan(["path": "ndjson"]).ids == Array(1...25))
        let scan = try scan(["path": "ndjson?broken=1"])
        #expect(scan.ids == Array(1...25).filter { $0 != 4 && $0 != 6 })
        #expect(scan.rejected.map(\.index) == [3, 5])
        #expect(scan.rejected[0].representation == #"{"id": 4, "name""#)
        #expect(scan.last?.isComplete == true)
    }

    private static let lineListings: [(String, Literal)] = [
        ("ndjson-cursor", ["style": "cursor", "header": "X-Next-Cursor"]), ("ndjson-cursor", "auto"),
        ("ndjson-url", ["style": "next_url", "header": "X-Next-URL"]),
        ("ndjson-offset", ["style": "offset", "total": "X-Full-Count"]),
        ("ndjson-offset", ["style": "offset", "has_more": "X-Has-More"]),
    ]

    @Test(arguments: lineListings)
    func `a listing of lines goes on as its header fields say`(path: String, paging: Literal) throws {
        let scan = try scan(["path": .text(path), "paging": paging, "metadata": ["kind": "Content-Type"]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.isEmpty)
        #expect(scan.last?.metadata["kind"] == "application/x-ndjson")
    }

    @Test(arguments: ["tagged", "dated"])
    func `a listing that did not move is not sent again`(name: String) throws {
        let first = try scan(["path": .text(name)])
        #expect(first.ids == Array(1...25))
        let token = try #require(first.last?.token)
        let second = try scan(["path": .text(name)], token: token)
        #expect(second.records.isEmpty)
        #expect(second.last?.isUnchanged == true)
        #expect(second.last?.isComplete == false)
        #expect(second.last?.token == token)
        // Validators are those of one URL.
        #expect(try scan(["path": .text(name), "query": ["q": 1]], token: token).ids == Array(1...25))
    }

    @Test func `a sync token brings what moved and what is gone`() throws {
        let section: Literal = [
            "path": "changes", "records": "$.users",
            "incremental": ["token": "$.sync_token", "parameter": "sync_token", "deleted": "$.deleted"],
        ]
        let first = try scan(section)
        #expect(first.ids == Array(1...25))
        #expect(first.last?.isComplete == true)
        let second = try scan(section, token: try token(of: first))
        #expect(second.ids == [2])
        #expect(second.last?.deleted.map { $0.integer("id") } == [9])
        #expect(second.last?.isComplete == false)
        #expect(second.last?.token == #"{"delta":"t2"}"#)
        // What an incomplete scan left out would not come with the next token.
        let cut = try scan([
            "path": "changes", "records": "$.users",
            "incremental": ["token": "$.sync_token", "parameter": "sync_token"],
            "paging": ["style": "next_url", "path": "$.nowhere"],
        ])
        #expect(cut.ids == Array(1...25))
        #expect(cut.last?.isComplete == false)
        #expect(cut.last?.token == nil)
    }

    @Test func `an OData delta link brings what moved and what is gone`() throws {
        let first = try scan(["path": "odata", "preset": "odata"])
        #expect(first.ids == Array(1...25))
        let second = try scan(["path": "odata", "preset": "odata"], token: try token(of: first))
        #expect(second.ids == [26])
        #expect(second.last?.deleted.map { $0.integer("id") } == [3])
        #expect(second.last?.isComplete == false)
    }

    @Test(arguments: ["next-from", "next-from?strict=1"])
    func `the parameter that takes a cursor is found by trying`(path: String) throws {
        let scan = try scan(["path": .text(path)])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages.count == 3)
        // The first page's place would lead nowhere yet.
        #expect(scan.pages.map { $0.cursor == nil } == [true, false, true])
        #expect(scan.pages[0].metadata["found"] == nil)
        #expect(
            scan.pages[1].metadata["found"]
                == "records: $.items, paging: {style: cursor, path: $.next_token, parameter: from}")
        let cursor: String = try #require(scan.pages[1].cursor)
        let rest = try self.scan(["path": .text(path)], cursor: cursor)
        #expect(rest.ids == Array(21...25))
    }

    @Test(arguments: ["next-nowhere", "next-nowhere?empty=1", "next-number"])
    func `a cursor that no parameter takes is an error, and no listing without the rest`(path: String) throws {
        let error = try bridgeError { _ = try scan(["path": .text(path)]) }
        #expect(error.message.contains("paging loops"), "\(error)")
        #expect(error.remedy?.contains("say under paging how the API continues") == true)
    }

    @Test func `a cursor that is a number is taken by its member's own name`() throws {
        let scan = try scan(["path": "next-number?own=1"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a request that begins at zero names the parameter of the cursor`() throws {
        let scan = try scan(["path": "next-from?strict=1", "query": ["from": 0]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.first?.metadata["paging"] == "{style: cursor, path: $.next_token, parameter: from}")
    }

    @Test func `cursors of Matrix, Cognito, Solr and CouchDB, and totals of objects that have a name alone`() throws {
        #expect(try scan(["path": "matrix"]).ids == Array(1...25))
        #expect(try scan(["path": "cognito", "body": ["Limit": 10]]).ids == Array(1...25))
        #expect(try scan(["path": "solr", "query": ["cursorMark": "*"]]).ids == Array(1...25))
        let changes = try scan(["path": "couch-changes"])
        #expect(changes.ids == Array(1...25) && changes.pages.count == 3 && changes.last?.isComplete == true)
        let pools = try scan(["path": "only-total-named"])
        #expect(pools.records.count == 25 && pools.last?.isComplete == true)
    }

    @Test func `the bridge's own Content-Type is more than what follows from the body`() throws {
        let own = try RESTBridgeTests.bridge([
            "url": "\(server.url)/zoo", "headers": ["Content-Type": "application/x-amz-json-1.1"],
        ])
        func kind(_ bridge: RESTBridge, _ headers: Literal) throws -> String? {
            let section: Literal = ["path": "media-type", "body": ["a": 1], "headers": headers]
            return try Scan(bridge.fetch(FetchRequest(entity: "User", section: section.options))).records.first
        }
        #expect(try kind(bridge, [:]) == #"{"id":1,"kind":"application/json"}"#)
        #expect(try kind(own, [:]) == #"{"id":1,"kind":"application/x-amz-json-1.1"}"#)
        #expect(try kind(own, ["Content-Type": "application/json-seq"]) == #"{"id":1,"kind":"application/json-seq"}"#)
    }

    @Test func `rules say what a reply means`() throws {
        func rule(_ action: String, _ path: String = "soft-error") -> Literal {
            [
                "path": .text(path), "records": "$.items",
                "responses": [
                    ["when": ["path": "$.ok", "equals": false], "action": .text(action), "message": "it is busy"]
                ],
            ]
        }
        let busy = try bridgeError { _ = try scan(rule("retry")) }
        #expect(busy.isRetryable)
        #expect(busy.message == "page 1 of User: it is busy")
        #expect(try bridgeError { _ = try scan(rule("fail")) }.isRetryable == false)
        let none = try scan(rule("empty"))
        #expect(none.records.isEmpty && none.last?.isComplete == true)
        let gone: Literal = ["path": "/nowhere", "responses": [["status": "404", "action": "empty"]]]
        #expect(try scan(gone).last?.isComplete == true)
    }

    @Test func `metadata and header fields come from the reply`() throws {
        let scan = try scan([
            "path": "tagged", "metadata": ["version": "ETag"], "header_fields": ["@etag": "ETag"],
        ])
        #expect(scan.last?.metadata["version"] == "\"v1\"")
        #expect(scan.records[0] == #"{"@etag":"\"v1\"","id":1,"name":"User 1"}"#)
        // Records of lines get them too.
        let lines = try self.scan([
            "path": "ndjson", "header_fields": ["kind": "Content-Type"], "parameters": ["day": "today"],
            "request_fields": ["day": "{day}"],
        ])
        #expect(lines.records.count == 25)
        #expect(lines.records[0] == #"{"kind":"application/x-ndjson","day":"today","id":1,"name":"User 1"}"#)
    }
}
