import Model
import Testing

@testable import AirbyteManifest

/// What dlt's `rest_api` configurations become.
@Suite struct DLTTests {
    private static func translate(_ resources: String, client: String = "", defaults: String = "{}") throws -> (
        text: String, report: ConnectorReport
    ) {
        let config = """
            {"client": {"base_url": "https://api.example/v1/"\(client)}, "resource_defaults": \(defaults),
             "resources": [\(resources)]}
            """
        let translation = try DLTConfiguration.translate(
            config, file: "shop.json", name: "shop", database: "shop.sqlite", command: "bmo introspect dlt shop.json")
        return (translation.text, translation.report)
    }

    private static func expect(
        _ resources: String, client: String = "", defaults: String = "{}",
        _ verdict: ConnectorReport.Verdict = .carried,
        lines: [String], sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let (text, report) = try translate(resources, client: client, defaults: defaults)
        #expect(report.streams.last?.verdict == verdict, "\(report.text)", sourceLocation: sourceLocation)
        for line in lines { #expect(text.contains(line), "no \(line) in\n\(text)", sourceLocation: sourceLocation) }
    }

    @Test func `a name alone is a resource and its path`() throws {
        try Self.expect(
            #""posts""#, client: #", "auth": {"token": "sekrit"}, "paginator": "header_link""#,
            lines: [
                "url: https://api.example/v1\n", "auth: {type: bearer, token: {env: SHOP_TOKEN}}",
                "unique: none  # the resource names no primary_key", "path: /posts", "paging: {style: link_header}",
            ])
        #expect(try !Self.translate(#""posts""#, client: #", "auth": {"token": "sekrit"}"#).text.contains("sekrit"))
    }

    @Test(arguments: [
        (#""bearer""#, "auth: {type: bearer, token: {env: SHOP_TOKEN}}"),
        (#"{"type": "http_basic", "username": "ann", "password": "x"}"#, "user: ann, password: {env: SHOP_PASSWORD}"),
        (
            #"{"type": "api_key", "name": "X-Key", "api_key": "x", "location": "header"}"#,
            "auth: {type: api_key, value: {env: SHOP_API_KEY}, header: X-Key}"
        ),
        (#"{"type": "api_key", "name": "key", "api_key": "x", "location": "query"}"#, "query: key"),
        (
            #"{"type": "oauth2_client_credentials", "access_token_url": "https://id.example/token", "client_id": "a", "client_secret": "b", "access_token_request_data": {"scope": "read", "audience": "shop"}}"#,
            "token_url: \"https://id.example/token\""
        ),
    ])
    func `authentication becomes that of the bridge`(_ auth: String, _ line: String) throws {
        let text = try Self.translate(#""a""#, client: ", \"auth\": \(auth)").text
        #expect(text.contains(line) || text.contains(line.replacing("\"", with: "")), "no \(line) in\n\(text)")
    }

    @Test(arguments: [
        (#""single_page""#, "paging: none"),
        (#"{"type": "json_link", "next_url_path": "paging.next"}"#, "paging: {style: next_url, path: $.paging.next}"),
        (
            #"{"type": "offset", "limit": 50, "total_path": "meta.total", "maximum_offset": 120}"#,
            "size: 50\n        total: $.meta.total\n        max_pages: 3"
        ),
        (
            #"{"type": "page_number", "base_page": 1, "page_param": "p", "total_path": "pages"}"#,
            "paging: {style: page, page_parameter: p, start: 1, pages: $.pages}"
        ),
        (
            #"{"type": "cursor", "cursor_path": "meta.next", "cursor_body_path": "paging.after", "has_more_path": "more"}"#,
            "paging: {style: cursor, path: $.meta.next, parameter: paging.after, in: body, has_more: $.more}"
        ),
        (
            #"{"type": "header_cursor", "cursor_key": "X-Next"}"#,
            "paging: {style: cursor, header: X-Next, parameter: cursor}"
        ),
    ])
    func `a paginator becomes paging`(_ paginator: String, _ line: String) throws {
        try Self.expect(
            #"{"name": "a", "primary_key": "id", "endpoint": {"paginator": \#(paginator)}}"#, lines: [line])
    }

    @Test func `defaults are merged as dlt merges them`() throws {
        try Self.expect(
            #"{"name": "a", "endpoint": {"params": {"page": "x"}, "headers": {"X-B": "2"}}}"#,
            defaults:
                #"{"primary_key": ["org", "id"], "endpoint": {"params": {"size": 9}, "headers": {"X-A": "1"}}}"#,
            lines: ["key: [org, id]", "query: {size: 9, page: x}", "headers: {X-B: '2'}"])
    }

    @Test func `a child is scanned by its parent, and keeps the fields that it includes`() throws {
        for path in ["posts/{resources.posts.id}/comments", "posts/{post}/comments"] {
            let params =
                path.contains("{post}") ? #""post": {"type": "resolve", "resource": "posts", "field": "id"}, "# : ""
            try Self.expect(
                """
                "posts", {"name": "comments", "primary_key": "id", "include_from_parent": ["title"],
                 "endpoint": {"path": "\(path)", "params": {\(params)"sort": "up"}}}
                """,
                lines: [
                    "parent: of_posts", "of_posts: {to: posts}", "path: '/posts/{parent.id}/comments'",
                    "query: {sort: up}", "request_fields: {_posts_title: '{parent.title}'}",
                    "key: id  # a guess: its children refer to it by this",
                ])
        }
    }

    @Test func `an incremental parameter becomes since`() throws {
        try Self.expect(
            """
            {"name": "a", "primary_key": "id", "write_disposition": "merge", "endpoint": {"params": {
             "since": {"type": "incremental", "cursor_path": "updated_at", "initial_value": "2024-01-01T00:00:00Z"}}}}
            """,
            lines: [
                "incremental: {field: updated_at}", "updated_at: timestamp", "query: {since: '{since}'}",
                "start: '2024-01-01T00:00:00Z'", "deletes: ignore  # as dlt",
            ])
        try Self.expect(
            """
            {"name": "a", "primary_key": "id", "endpoint": {"params": {"from": "{incremental.start_value}", "to": "{incremental.end_value}"},
             "incremental": {"cursor_path": "at", "initial_value": 1704067200, "lag": 60}}}
            """,
            lines: [
                "incremental: {field: at, lookback: 60}", "query: {from: '{since}', to: '{until}'}",
                "since: {start: '1704067200', format: '%s'}",
            ])
    }

    @Test(arguments: [
        (#"{"name": "a", "processing_steps": [{"map": "<function f at 0x7f>"}]}"#, "its processing step map is Python"),
        (#"{"name": "a", "merge_key": "day"}"#, "merge_key day is not carried"),
        (#"{"name": "a", "schema_contract": "freeze"}"#, "schema_contract is not carried"),
        (
            #"{"name": "a", "endpoint": {"response_actions": [{"content": "gone", "action": "ignore"}]}}"#,
            "with the text gone"
        ),
        (#"{"name": "a", "write_disposition": "replace"}"#, "dlt replaces the table"),
    ])
    func `what may differ is a doubt`(_ resource: String, _ reason: String) throws {
        let (text, report) = try Self.translate(resource)
        #expect(report.streams.map(\.verdict) == [.doubtful], "\(report.text)")
        #expect(text.contains("# doubt: ") && text.contains(reason), "\(text)")
    }

    @Test(arguments: [
        (#"{"name": "a", "endpoint": {"paginator": "MyPaginator"}}"#, "its paginator MyPaginator is custom Python"),
        (#"{"name": "a", "endpoint": {"path": "x/{id}"}}"#, "its path needs {id}"),
        (#"{"name": "a", "endpoint": {"path": "x/{resources.b.id}"}}"#, "its parent b is not among the resources"),
        (#"{"name": "a", "endpoint": {"path": "x/{resources.a.id}"}}"#, "its parent a is not among the resources"),
        (#"{"name": "a", "endpoint": {"data_selector": "$..items"}}"#, "bmo cannot read the data_selector"),
        (#"{"name": "a", "endpoint": {"method": "PUT"}}"#, "bmo has no listing by PUT"),
        (#""<dlt.extract.resource.DltResource object at 0x7f>""#, "it is a resource written in Python"),
        (#"{"endpoint": "x"}"#, "it has no name"),
    ])
    func `what cannot be carried is a comment with the reason`(_ resource: String, _ reason: String) throws {
        let (text, report) = try Self.translate(resource)
        #expect(report.streams.map(\.verdict) == [.notCarried], "\(report.text)")
        #expect(text.contains(reason) && text.contains("entities: {}"), "\(text)")
    }

    @Test(arguments: ["", #""access_token_url": null, "#, #""access_token_url": "TODO", "#])
    func `a client without the address of its tokens is not carried`(_ address: String) throws {
        let auth = #"{"type": "oauth2_client_credentials", \#(address)"client_id": "a", "client_secret": "b"}"#
        let (text, report) = try Self.translate(
            #""a", {"name": "b", "primary_key": "id"}"#, client: ", \"auth\": \(auth)")
        #expect(report.streams.map(\.verdict) == [.notCarried, .notCarried], "\(report.text)")
        #expect(text.contains("entities: {}") && !text.contains(" auth:"), "\(text)")
        #expect(!text.contains("TODO") && text.contains("# its authentication has no access_token_url"), "\(text)")
    }

    @Test func `a header that looks like a credential is not copied`() throws {
        let (text, _) = try Self.translate(
            #""a""#, client: #", "headers": {"X-Api-Key": "sekrit", "Accept-Language": "de"}, "session": "x""#)
        #expect(text.contains("X_Api_Key: {env: SHOP_X_API_KEY}") && !text.contains("sekrit"), "\(text)")
        #expect(text.contains("Accept-Language: de") && text.contains("# client.session is not carried"), "\(text)")
    }

    @Test(arguments: [
        (#""path": "q?access_token=sekrit&page=1""#, #"/q?access_token={access_token}&page=1"#),
        (#""params": {"api_key": "sekrit", "limit": 5, "code": "DE"}"#, "api_key: '{api_key}'"),
        (#""params": {"code": "DE", "max_tokens": 5}"#, "code: DE"),
        (#""method": "POST", "json": {"auth": {"password": "sekrit"}, "max_tokens": 7}"#, "max_tokens: 7"),
        (#""method": "POST", "json": {"pin": 1, "password": 5387}"#, "password: '{password}'"),
        (#""method": "POST", "data": {"client_secret": "sekrit"}"#, "client_secret: '{client_secret}'"),
        (#""headers": {"X-Auth": "sekrit", "Cookie": "sekrit"}"#, "X-Auth: '{X_Auth}'"),
        (#""path": "https://ann:sekrit@other.example/v2/a""#, "user: {env: SHOP_USERNAME}"),
    ])
    func `no credential of a request is copied`(_ endpoint: String, _ line: String) throws {
        let (text, report) = try Self.translate(#"{"name": "a", "endpoint": {\#(endpoint)}}"#)
        #expect(!text.contains("sekrit") && !text.contains("5387"), "\(text)")
        #expect(text.contains(line), "no \(line) in\n\(text)")
        #expect(report.streams.map(\.verdict) == [.carried], "\(report.text)")
    }

    @Test func `credentials of one name have a variable each, and equal ones share it`() throws {
        let (text, _) = try Self.translate(
            ["a", "b", "c"].map {
                #"{"name": "\#($0)", "endpoint": {"params": {"api_key": "k\#($0 == "c" ? 2 : 1)"}}}"#
            }
            .joined(separator: ", "))
        #expect(text.ranges(of: "api_key: '{api_key}'").count == 2, "\(text)")
        #expect(text.contains("request_c_api_key: {env: SHOP_REQUEST_C_API_KEY}"), "\(text)")
    }

    @Test func `each user of a url has a password`() throws {
        let (text, _) = try Self.translate(
            [("a", "ann:1@one"), ("b", "bob:2@two")].map {
                #"{"name": "\#($0.0)", "endpoint": {"path": "https://\#($0.1).example/x"}}"#
            }.joined(separator: ", "))
        #expect(text.contains("password: {env: SHOP_PASSWORD}"), "\(text)")
        #expect(text.contains("password: {env: SHOP_URL_PASSWORD_2}") && !text.contains("@"), "\(text)")
        #expect(text.contains("user: {env: SHOP_USERNAME}"), "\(text)")
        #expect(text.contains("user: {env: SHOP_URL_USERNAME_2}"), "\(text)")
    }

    @Test func `a start that is a date reads records with a time`() throws {
        let cursor = #"{"type": "incremental", "cursor_path": "updated_at", "initial_value": "2024-01-01"}"#
        try Self.expect(
            #"{"name": "a", "endpoint": {"params": {"since": \#(cursor)}}}"#,
            lines: ["updated_at: timestamp", "format: '%Y-%m-%d'"])
    }

    @Test(arguments: ["{}", "[]", #"{"client": {}, "resources": []}"#, "{"])
    func `another file is refused with what to do`(text: String) {
        #expect(throws: ManifestFault.self) {
            try DLTConfiguration.translate(text, file: "a.json", name: "a", database: "a", command: "c")
        }
    }
}
