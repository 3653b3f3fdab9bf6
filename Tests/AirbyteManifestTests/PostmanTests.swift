import Testing

@testable import AirbyteManifest

/// What Postman collections with saved examples become.
@Suite struct PostmanTests {
    /// A request in a collection, with an example if `reply` is given.
    private static func item(
        _ name: String, _ url: String, method: String = "GET", reply: String? = nil, more: String = ""
    ) -> String {
        let body = reply?.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let examples = body.map { #"{"code": 200, "body": "\#($0)"}"# } ?? ""
        return """
            {"name": "\(name)", "request": {"method": "\(method)", "url": {"raw": "\(url)"}\(more)}, "response": [\(examples)]}
            """
    }

    private static func translate(
        _ items: [String], auth: String = "null", variables: String = "[]"
    ) throws -> Connector.Translation {
        let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
        let collection = """
            {"info": {"name": "Shop", "schema": "\(schema)"}, "item": [\(items.joined(separator: ", "))],
             "auth": \(auth), "variable": \(variables)}
            """
        return try PostmanCollection.translate(
            collection, file: "shop.json", name: "shop", database: "shop.sqlite",
            command: "bmo introspect postman shop.json")
    }

    private static func expect(
        _ translation: Connector.Translation, _ lines: String...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        for line in lines {
            #expect(
                translation.text.contains(line), "no \(line) in\n\(translation.text)", sourceLocation: sourceLocation)
        }
    }

    private static let users =
        #"{"data": [{"id": 1, "name": "Ann", "joined": "2024-01-02T03:04:05Z", "size": 1}, {"id": 2, "name": null, "size": 1.5, "tags": []}]}"#

    @Test func `an example gives records, attributes and a key`() throws {
        let translation = try Self.translate(
            [Self.item("All users", "{{baseUrl}}/users?limit=50", reply: Self.users)],
            auth: #"{"type": "bearer", "bearer": [{"key": "token", "value": "sekrit"}]}"#,
            variables: #"[{"key": "baseUrl", "value": "https://api.example/v1"}]"#)
        #expect(
            translation.report.text == "1 requests: 1 carried, 0 carried with doubts, 0 not carried\ncarried: All users"
        )
        Self.expect(
            translation, "url: https://api.example\n", "auth: {type: bearer, token: {env: SHOP_TOKEN}}", "users:",
            "key: id  # a guess: unique in the example", "id: integer", "name: text", "joined: timestamp", "size: real",
            "tags: json", "path: /v1/users", "query: {limit: '50'}", "records: $.data")
        #expect(!translation.text.contains("sekrit"))
    }

    @Test func `a variable of the path is a parent's key`() throws {
        let translation = try Self.translate([
            Self.item("Orders", "https://api.example/users/:userId/orders", reply: #"[{"id": 7, "total": 1}]"#),
            Self.item("Users", "https://api.example/users", reply: Self.users),
            Self.item("One user", "https://api.example/users/:userId", reply: #"{"id": 1}"#),
            Self.item("New user", "https://api.example/users", method: "POST", reply: #"{"id": 1}"#),
            Self.item("Gone", "https://api.example/users/:id", method: "DELETE"),
        ])
        #expect(translation.report.count(.carried) == 2 && translation.report.count(.notCarried) == 3)
        Self.expect(
            translation, "parent: of_users  # guessed from the path", "of_users: {to: users}",
            "path: '/users/{parent.id}/orders'", "POST /users is not a listing", "DELETE /users/:id is not a listing",
            "# One user: it reads one object, whose key it needs")
    }

    @Test(arguments: [
        (nil, "it has no saved example of a successful reply with JSON"),
        (#"{"a": [{"x": 1}], "b": [{"y": 1}]}"#, "its example has several lists: $.a, $.b"),
        (#"[]"#, "the list in its example is empty"), (#"[1]"#, "has values that are not objects"),
    ])
    func `a request without a usable example is not carried`(_ reply: String?, _ reason: String) throws {
        let translation = try Self.translate([Self.item("X", "https://api.example/x", reply: reply)])
        #expect(translation.report.streams.map(\.verdict) == [.notCarried])
        #expect(translation.text.contains("# X: \(reason)") || translation.text.contains(reason), "\(translation.text)")
    }

    @Test func `a path without its parent is commented out with the reason`() throws {
        let translation = try Self.translate([
            Self.item("Orders", "https://api.example/users/{{userId}}/orders", reply: #"[{"id": 7}]"#)
        ])
        #expect(translation.report.streams.map(\.verdict) == [.notCarried])
        Self.expect(translation, "its path needs :userId, and no request lists /users", "entities: {}")
    }

    @Test(arguments: [
        (
            "{{host}}/b",
            #", "body": {"mode": "raw", "raw": "{\"password\":\"sekrit\",\"q\":\"{{word}}\",\"n\":1}"}"#,
            "password: '{password}'"
        ),
        (
            "{{host}}/b", #", "body": {"mode": "raw", "raw": "{\"q\":\"{{word}}\",\"n\":1}"}"#,
            "q: '{word}'"
        ),
        (
            "{{host}}/b",
            #", "body": {"mode": "graphql", "graphql": {"query": "{ a { id } }", "variables": "{\"token\":\"sekrit\"}"}}"#,
            "token: '{token}'"
        ),
        (
            "{{host}}/b",
            #", "header": [{"key": "Cookie", "value": "sid=sekrit"}, {"key": "X-Auth", "value": "sekrit"}]"#,
            "Cookie: '{Cookie}'"
        ),
        ("https://ann:sekrit@api.example/b", "", "user: {env: SHOP_USERNAME}"),
    ])
    func `no credential of a request is copied`(_ url: String, _ more: String, _ line: String) throws {
        let method = more.contains("body") ? "POST" : "GET"
        let translation = try Self.translate(
            [Self.item("Users", url, method: method, reply: Self.users, more: more)],
            variables: #"[{"key": "host", "value": "https://api.example"}]"#)
        #expect(!translation.text.contains("sekrit"), "\(translation.text)")
        #expect(translation.report.streams.map(\.verdict) == [.carried], "\(translation.report.text)")
        Self.expect(translation, line)
    }

    @Test(arguments: [
        ("{{host}}/a?dup=1&other=x&dup=2", "dup: ['1', '2']"),
        ("{{host}}/a?f=%7Ba%7D+b", "f: '{a} b'"),
        ("{{host}}/list/{{x}}c(1)", #"path: '/list/{x}c\(1\)'"#),
        ("{{host}}/a/trail/", "path: /a/trail/\n"),
    ])
    func `a request asks for what Postman asks for`(_ url: String, _ line: String) throws {
        let translation = try Self.translate(
            [Self.item("Users", url, reply: Self.users)],
            variables: #"[{"key": "host", "value": "https://api.example"}]"#)
        Self.expect(translation, line)
    }

    @Test func `credentials in the query and in headers are not copied`() throws {
        let url =
            #"https://api.example/users"}, "header": [{"key": "X-Api-Key", "value": "sekrit"}, {"key": "X-Old", "value": "1", "disabled": true}], "x": {"y": "z"#
        let translation = try Self.translate([Self.item("Users", url, reply: Self.users)])
        Self.expect(
            translation, "headers: {X-Api-Key: '{X_Api_Key}'}", "X_Api_Key: {env: SHOP_X_API_KEY}",
            "the header field X-Old is disabled in the collection")
        #expect(!translation.text.contains("sekrit"))
    }

    @Test func `a guessed key other than an id is a doubt, and so is none`() throws {
        let translation = try Self.translate([
            Self.item("Tags", "https://api.example/tags", reply: #"[{"slug": "a"}, {"slug": "b"}]"#),
            Self.item("Log", "https://api.example/log", reply: #"[{"text": "a"}]"#),
        ])
        #expect(translation.report.streams.map(\.verdict) == [.doubtful, .doubtful])
        Self.expect(translation, "doubt: its key slug is a guess", "unique: none  # no key is known")
    }

    @Test func `a search by POST keeps its body`() throws {
        let more = #", "body": {"mode": "raw", "raw": "{\"kind\": \"user\"}"}"#
        let translation = try Self.translate([
            Self.item("Search", "https://api.example/search", method: "POST", reply: Self.users, more: more)
        ])
        Self.expect(translation, "method: POST", "body: {kind: user}", "records: $.data")
    }

    @Test(arguments: ["{}", "[]", #"{"info": {"schema": "v1"}, "requests": []}"#])
    func `another file is refused`(text: String) {
        #expect(throws: ManifestFault.self) {
            try PostmanCollection.translate(text, file: "a.json", name: "a", database: "a", command: "c")
        }
    }
}
